import Foundation
import SystemPackage
import TallySystem

/// A directory in which a store's file is made, before it gets its place.
///
/// Its maker holds a lock on it. One that nobody holds was left behind by a crash, and whoever comes by removes it; what
/// is in the making is never touched. Nothing is put into it before it is locked, so an empty one that is new may be one
/// whose maker is about to lock it.
final class StagingDirectory {
  let path: FilePath
  private let lock: FileLock

  private static let mark = ".new-"
  /// How long its maker is given to lock it.
  private static let graceInSeconds = 60.0

  /// Makes the directory, closed to others, inside a directory that exists.
  init(in parent: FilePath, for name: String) throws {
    path = parent.appending(name + Self.mark + UUID().uuidString.lowercased())
    try SystemCalls.createDirectory(path, permissions: .ownerReadWriteExecute)
    lock = try FileLock(openingDirectory: path)
    try lock.acquire(.exclusive)
  }

  deinit {
    // What has got its place is not here any more; the rest is nobody's.
    Self.remove(path)
  }

  /// The store's file in it.
  var dataFile: FilePath { path.appending(StoreOpening.dataFileName) }

  /// Whether a name is that of such a directory.
  static func isStaging(_ name: String) -> Bool {
    guard let range = name.range(of: mark, options: .backwards) else { return false }
    return UUID(uuidString: String(name[range.upperBound...])) != nil
  }

  /// Removes those that a crash has left in a directory; failing to is no failure of what is being done.
  static func sweep(_ parent: FilePath) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.string)) ?? []
    for path in names.filter(isStaging).map({ parent.appending($0) }) {
      guard !isNewAndEmpty(path), let lock = try? FileLock(openingDirectory: path),
        (try? lock.tryAcquire(.exclusive)) == true
      else { continue }
      remove(path)
    }
  }

  /// Whether its maker may be about to lock it.
  private static func isNewAndEmpty(_ path: FilePath) -> Bool {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path.string),
      let modified = try? path.stat().st_mtim.tv_sec
    else { return true }
    return names.isEmpty && Date().timeIntervalSince1970 - Double(modified) < graceInSeconds
  }

  private static func remove(_ path: FilePath) {
    for name in StoreOpening.fileNames { try? SystemCalls.removeFile(path.appending(name)) }
    try? SystemCalls.removeDirectory(path)
  }
}
