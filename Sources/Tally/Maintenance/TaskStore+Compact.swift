import LMDB
public import SystemPackage
import TallySystem

/// What a compaction did.
public struct CompactionSummary: Hashable, Sendable {
  /// The size of the store's file before.
  public let sizeBeforeInBytes: Int64
  /// The size of the store's file now.
  public let sizeInBytes: Int64
}

extension TaskStore {
  /// Makes the store's file as small as what it holds: a store never shrinks by itself.
  ///
  /// Nobody may have the store open. A copy without free pages is made beside the file, flushed and verified, and then
  /// takes its place; until then the old file stays as it is, so that there must be room for both. A crash at any
  /// step leaves the one or the other. Identity and commit sequence stay.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Is told how far the verification of the copy has come, and may throw to end the compaction.
  /// - Returns: The sizes before and after.
  /// - Throws: `storeBusy` while the store is open somewhere; `diskFull`; `damagedStore` if the store contradicts
  ///   itself, which is to be mended first; as opening a store.
  @discardableResult
  public static func compact(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try compact(StoreOpening(directory: directory, configuration: configuration), progress: progress)
  }

  /// Compacts a store with other migrations than those of this version; for tests.
  static func compact(
    _ opening: StoreOpening, progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try opening.withDamagedStore(.exclusive) { store in
      let directory = opening.directory
      StagingDirectory.sweep(directory)
      let staging = try StagingDirectory(in: directory, for: "compact")
      try store.environment.copyStore(to: staging.path)
      _ = try UnpublishedStore(
        directory: staging.path, configuration: opening.configuration, migrations: opening.migrations
      ).verify(progress: progress)
      let before = try opening.dataFile.stat().size
      let after = try staging.dataFile.stat().size
      // Nobody else has it open, and nobody can open it before the lock is given back.
      try store.environment.close()
      try SystemCalls.rename(staging.dataFile, to: opening.dataFile)
      try SystemCalls.flushDirectory(directory)
      return CompactionSummary(sizeBeforeInBytes: before, sizeInBytes: after)
    }
  }
}
