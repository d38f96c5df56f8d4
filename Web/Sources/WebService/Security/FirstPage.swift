import Foundation
package import SystemPackage

/// A page in a file that leads to the first address.
///
/// The address has the token, and other users of a machine see the arguments of each process: a browser gets the path of
/// this file instead, which only its owner can read.
package struct FirstPage: Sendable {
  /// The file, in a directory of its own.
  package let path: FilePath
  private var directory: FilePath { path.removingLastComponent() }

  /// Chooses a path; nothing is there yet.
  package init() {
    path = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending("tally-web-\(UUID().uuidString)").appending("open.html")
  }

  /// Writes the page.
  ///
  /// - Parameter address: the first address, which needs no escaping.
  /// - Throws: errors of the system.
  package func write(leadingTo address: String) throws {
    try FileManager.default.createDirectory(
      atPath: directory.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .exclusiveCreate], permissions: [.ownerRead, .ownerWrite])
    let page = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>Tally</title><meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=\(address)"></head>
      <body><p><a href="\(address)">Open Tally</a></p></body></html>

      """
    try file.closeAfter { _ = try file.writeAll(page.utf8) }
  }

  /// Deletes the page; a failure is ignored, since the token ends with the program.
  package func remove() { try? FileManager.default.removeItem(atPath: directory.string) }
}
