import Foundation
import SystemPackage
import TallySystem

/// A directory in which a store's file is created before it is moved into place.
///
/// Its creator holds a lock on it. A directory that nobody locks was left by a crash, and the next sweep removes it;
/// one in use is never touched. Nothing is put into it before it is locked, so a new and empty one may be about to be
/// locked.
final class StagingDirectory {
  let path: FilePath
  private let lock: FileLock

  private static let mark = ".new-"
  /// How long the creator has to lock it.
  private static let graceInSeconds = 60.0

  /// Creates the directory, closed to others, inside an existing one.
  init(in parent: FilePath, for name: String) throws {
    path = parent.appending(name + Self.mark + UUID().uuidString.lowercased())
    try SystemCalls.createDirectory(path, permissions: .ownerReadWriteExecute)
    lock = try FileLock(openingDirectory: path)
    try lock.acquire(.exclusive)
  }

  deinit {
    // Files that were moved into place are gone from here; the rest can be deleted.
    Self.remove(path)
  }

  /// The store's data file in it.
  var dataFile: FilePath { path.appending(StoreOpening.dataFileName) }

  /// Whether a name is that of a staging directory.
  static func isStaging(_ name: String) -> Bool {
    guard let range = name.range(of: mark, options: .backwards) else { return false }
    return UUID(uuidString: String(name[range.upperBound...])) != nil
  }

  /// Removes the staging directories that crashes have left; a failure to do so does not fail the caller.
  static func sweep(_ parent: FilePath) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.string)) ?? []
    for path in names.filter(isStaging).map({ parent.appending($0) }) {
      guard !isNewAndEmpty(path), let lock = try? FileLock(openingDirectory: path),
        (try? lock.tryAcquire(.exclusive)) == true
      else { continue }
      remove(path)
    }
  }

  /// Whether its creator may be about to lock it.
  private static func isNewAndEmpty(_ path: FilePath) -> Bool {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path.string),
      let modified = try? path.stat().st_mtim.tv_sec
    else { return true }
    return names.isEmpty && Date().timeIntervalSince1970 - Double(modified) < graceInSeconds
  }

  private static func remove(_ path: FilePath) {
    assert(path.lastComponent.map { isStaging($0.string) } == true, "not a staging directory")
    for name in StoreOpening.fileNames { try? SystemCalls.removeFile(path.appending(name)) }
    try? SystemCalls.removeDirectory(path)
  }
}
