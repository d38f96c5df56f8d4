import Foundation
import SystemPackage
import Tally
import TallySystem

/// The key of a space in its folder, wrapped with a passphrase.
struct KeyFile {
  private let path: FilePath
  private static let mostBytes = 1 << 16

  init(in folder: FilePath, space: SpaceID) {
    path = folder.appending("tally-\(space)").appending("space.key")
  }

  func write(_ keys: SpaceKeys, passphrase: String) throws {
    let file = try AtomicFile(replacing: path)
    _ = try file.descriptor.writeAll(WrappedKey(wrapping: keys, passphrase: passphrase).bytes)
    try file.publish()
    // The others who share the folder read the file, too; only the passphrase opens it.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.string)
  }

  /// Deletes the file.
  ///
  /// - Returns: Whether there was one.
  func remove() throws -> Bool {
    guard FileManager.default.fileExists(atPath: path.string) else { return false }
    try SystemCalls.removeFile(path)
    return true
  }

  /// The keys of the space in a folder whose passphrase this is.
  ///
  /// - Throws: `TallyError` with `wrongPassphrase` or `syncUnreachable`.
  static func keys(in folder: FilePath, passphrase: String) throws -> SpaceKeys {
    let spaces = try FolderSpaces.find(in: folder)
    for space in spaces {
      // Anybody who shares the folder may have put this file there.
      guard let bytes = try? WholeFile.read(KeyFile(in: folder, space: space).path, atMost: mostBytes),
        let wrapped = try? WrappedKey(parsing: bytes)
      else { continue }
      guard let key = try? wrapped.key(passphrase: passphrase) else { continue }
      return SpaceKeys(space: space, epoch: wrapped.epoch, keys: [wrapped.epoch: key])
    }
    throw TallyError(
      .wrongPassphrase, "The passphrase opens no space in the folder", remedy: "Check it, or join with an invitation")
  }
}
