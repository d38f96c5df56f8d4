import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

/// The result of a compaction.
public struct CompactionSummary: Hashable, Sendable {
  /// The size of the store's file before, in bytes.
  public let sizeBeforeInBytes: Int64
  /// The size of the store's file now, in bytes.
  public let sizeInBytes: Int64
}

extension TaskStore {
  /// Shrinks the store's file to its contents; a file never shrinks by itself.
  ///
  /// The store must not be open anywhere. A copy with full pages is written next to the old file, flushed, verified and
  /// moved into its place. The old file stays unchanged until then, so there must be space for both. After a crash at
  /// any step there is either the old file or the new one. Identity and commit sequence stay.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Called with the progress of the copy's verification; may throw to end the compaction.
  /// - Returns: The sizes before and after.
  /// - Throws: `alreadyOpen` while this process has the store open, `storeBusy` while another one has; `diskFull`;
  ///   `damagedStore` if the store is inconsistent and must be repaired first; as opening a store.
  @discardableResult
  public static func compact(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try compact(StoreOpening(directory: directory, configuration: configuration), progress: progress)
  }

  /// Compacts a store with other migrations than this version's, for tests.
  static func compact(
    _ opening: StoreOpening, progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try opening.withDamagedStore(.exclusive) { store in
      let directory = opening.directory
      let staging = try TemporaryItem(.directory, in: directory, for: "compact")
      try store.environment.rewriteStore(to: staging.path)
      _ = try UnpublishedStore(
        directory: staging.path, configuration: opening.configuration, migrations: opening.migrations
      ).verify(progress: progress)
      let before = try opening.dataFile.stat().size
      let after = try staging.dataFile.stat().size
      // Nobody else has the store open, or can open it before the lock is released.
      try store.environment.close()
      try opening.settleJournal()
      try opening.detachLockFile()
      try SystemCalls.rename(staging.dataFile, to: opening.dataFile)
      try TallyError.flush(directory, after: "The store has been compacted")
      return CompactionSummary(sizeBeforeInBytes: before, sizeInBytes: after)
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
