import Foundation
package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A page in a file that leads to the first address.
///
/// The address has the token, and other users of a machine see the arguments of each process: a browser gets the path of
/// this file instead, which only its owner can read.
package struct FirstPage: Sendable {
  /// The file, in a directory of its own.
  package let path: FilePath
  private var directory: FilePath { path.removingLastComponent() }

  private static let directoryStart = "tally-web-"
  private static let fileName = "open.html"

  /// Chooses a path for a page that does not exist yet.
  ///
  /// - Parameter parent: the directory for it; `nil` for the system's temporary one.
  package init(in parent: FilePath? = nil) {
    path = (parent ?? FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false)))
      .appending(Self.directoryStart + UUID().uuidString).appending(Self.fileName)
  }

  /// Removes the pages that killed programs have left in the same directory; a failure is ignored.
  ///
  /// A program holds a lock on the directory of its page until it ends, so that one without a lock is an orphan.
  private func removeOrphans() {
    let parent = directory.removingLastComponent()
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.string)) ?? [] {
      guard name.hasPrefix(Self.directoryStart),
        UUID(uuidString: String(name.dropFirst(Self.directoryStart.count))) != nil
      else { continue }
      let orphan = parent.appending(name)
      guard let lock = Self.lock(orphan) else { continue }
      let content = (try? FileManager.default.contentsOfDirectory(atPath: orphan.string)) ?? [""]
      if content.isEmpty || content == [Self.fileName] { try? FileManager.default.removeItem(atPath: orphan.string) }
      try? lock.close()
    }
  }

  /// A directory, open and locked; `nil` if another process holds the lock, or if there is no such directory.
  private static func lock(_ directory: FilePath) -> FileDescriptor? {
    let options: FileDescriptor.OpenOptions = [.directory, .noFollow, .closeOnExec]
    guard let descriptor = try? FileDescriptor.open(directory, .readOnly, options: options) else { return nil }
    if flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    try? descriptor.close()
    return nil
  }

  /// Writes the page, and removes those that killed programs have left.
  ///
  /// - Parameter address: the first address, which needs no escaping.
  /// - Throws: errors of the system.
  package func write(leadingTo address: String) throws {
    try FileManager.default.createDirectory(
      atPath: directory.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    // Held until the program ends: its descriptor is not closed.
    _ = Self.lock(directory)
    removeOrphans()
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
