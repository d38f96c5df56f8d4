import Foundation
package import LMDB
import SystemPackage
import TallySystem

// What is done to a store that nobody has open: it is compacted or removed.

/// The result of a compaction.
public struct CompactionSummary: Hashable, Sendable {
  /// The size of the store's file before, in bytes.
  public let sizeBeforeInBytes: Int64
  /// The size of the store's file now, in bytes.
  public let sizeInBytes: Int64
}

extension StoreOpening {
  /// Shrinks the store's file to its contents; nobody may have it open.
  ///
  /// A copy with full pages is written next to the old file, flushed, checked and moved into its place.
  ///
  /// - Parameter check: as for an ``UnpublishedStore``.
  /// - Returns: the sizes before and after.
  /// - Throws: `alreadyOpen`, `storeBusy`, `diskFull`; what the check throws; as opening a store.
  package func compact<Report>(
    check: @escaping (LMDBEnvironment) throws -> Report
  ) throws -> CompactionSummary {
    try withDamagedStore(.exclusive) { store in
      let staging = try TemporaryItem(.directory, in: directory, for: "compact")
      try store.environment.rewriteStore(to: staging.path)
      _ = try UnpublishedStore(at: staging.path, like: self, check: check).verify()
      let before = try dataFile.stat().size
      let after = try staging.dataFile.stat().size
      // Nobody else has the store open, or can open it before the lock is released.
      try store.environment.close()
      try settleJournal()
      try settleLog()
      try detachLockFile()
      try SystemCalls.rename(staging.dataFile, to: dataFile)
      try TallyError.flush(directory, after: "The store has been compacted")
      return CompactionSummary(sizeBeforeInBytes: before, sizeInBytes: after)
    }
  }
}

extension StoreOpening {
  /// Removes a store: its file, the copies made by restoring and repairing, and its directory if nothing else is in it.
  ///
  /// Nobody may have it open. A crash at any step leaves the whole store or none.
  ///
  /// - Throws: `storeMissing`, `notAStore`, `alreadyOpen`, `storeBusy`, `permissionDenied`, `storageFailed`.
  package func remove() throws {
    try TallyError.translatingErrno(removeFiles)
  }

  private func removeFiles() throws {
    guard try isStoreThere() else { throw TallyError.storeMissing }
    let access = try StoreAccess(.exclusive, to: directory, configuration: configuration)
    defer { access.end() }
    // A store of another kind is somebody else's.
    if let header = try headerOfClosedStore() { try layout.admit(header) }
    // A crash must not leave a data file that needs journal records which have been removed.
    try recoverClosedStore()
    try JournalRecovery.removeFiles(in: directory)
    try LogStore.remove(from: directory)
    // The data file goes first: what remains after a crash counts as an empty directory.
    try removeIfThere(Self.dataFileName)
    try SystemCalls.flushDirectory(directory)
    TemporaryItem.sweep(directory)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.string)
    where SafetyCopy.isSafetyCopy(name) { try removeIfThere(name) }
    try removeIfThere(Self.lockFileName)
    for name in LogStore.fileNames { try removeIfThere(name) }
    try removeIfThere(StoreAccess.fileName)
    do {
      try SystemCalls.removeDirectory(directory)
      try SystemCalls.flushDirectory(directory.parentOrCurrent)
    } catch Errno.directoryNotEmpty {
      try SystemCalls.flushDirectory(directory)
    }
  }

  private func removeIfThere(_ name: String) throws {
    do {
      try SystemCalls.removeFile(directory.appending(name))
    } catch Errno.noSuchFileOrDirectory {
      // The directory was already missing, or another process has removed it.
    }
  }
}

extension LMDBEnvironment {
  /// Rewrites the store with full pages.
  ///
  /// If another program has stored values or many databases beside the tables, the store is copied as it is.
  fileprivate func rewriteStore(to directory: FilePath) throws {
    do {
      try rewrite(to: directory)
    } catch let error as LMDBError where [.incompatible, .databasesFull].contains(error.code) {
      try copyStore(to: directory)
    }
  }
}
