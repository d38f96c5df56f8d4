import Foundation
import LMDB
import SystemPackage

/// A directory in which a store's file is made, before it gets its place.
///
/// Its maker holds a lock on it. One that nobody holds was left behind by a crash, and whoever comes by removes it; what
/// is in the making is never touched.
final class Workshop {
  let path: FilePath
  private let lock: FileLock

  private static let mark = ".new-"
  private static let attempts = 3

  /// Makes the directory, closed to others, inside a directory that exists.
  init(in parent: FilePath, for name: String) throws {
    for _ in 1..<Self.attempts {
      if let made = try Self.make(in: parent, for: name) {
        (path, lock) = made
        return
      }
    }
    throw Errno.resourceBusy
  }

  deinit {
    // What has got its place is not here any more; the rest is nobody's.
    Self.remove(path)
  }

  /// The store's file in it.
  var dataFile: FilePath { path.appending(StoreOpening.dataFileName) }

  /// Whether a name is that of such a directory.
  static func isWorkshop(_ name: String) -> Bool {
    guard let range = name.range(of: mark, options: .backwards) else { return false }
    return UUID(uuidString: String(name[range.upperBound...])) != nil
  }

  /// Removes those that a crash has left in a directory; failing to is no failure of what is being done.
  static func sweep(_ parent: FilePath) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.string)) ?? []
    for path in names.filter(isWorkshop).map({ parent.appending($0) }) {
      guard (try? path.stat().type) == .directory, let lock = try? FileLock(opening: path),
        (try? lock.tryAcquire(.exclusive)) == true
      else { continue }
      remove(path)
    }
  }

  /// Gives `nil` where a sweep came between the making and the locking.
  private static func make(in parent: FilePath, for name: String) throws -> (FilePath, FileLock)? {
    let path = parent.appending(name + mark + UUID().uuidString.lowercased())
    try SystemCalls.createDirectory(path, permissions: .ownerReadWriteExecute)
    let lock = try FileLock(opening: path)
    guard try lock.tryAcquire(.exclusive), (try? path.stat().type) == .directory else { return nil }
    return (path, lock)
  }

  private static func remove(_ path: FilePath) {
    for name in StoreOpening.fileNames { try? SystemCalls.removeFile(path.appending(name)) }
    try? SystemCalls.removeDirectory(path)
  }
}
