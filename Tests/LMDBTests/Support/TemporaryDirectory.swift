import Foundation
import SystemPackage

/// A directory that is removed with its last reference.
final class TemporaryDirectory: Sendable {
  let path: FilePath

  init() throws {
    let name = FileManager.default.temporaryDirectory.appendingPathComponent("lmdb-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: name, withIntermediateDirectories: true)
    path = FilePath(name.path)
  }

  deinit {
    // Left-overs in the temporary directory harm nobody.
    try? FileManager.default.removeItem(atPath: path.string)
  }
}
