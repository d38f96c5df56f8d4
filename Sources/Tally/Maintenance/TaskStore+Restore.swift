public import SystemPackage

/// What a restoring did.
public struct RestoreSummary: Hashable, Sendable {
  /// What the store now holds.
  public let restored: BackupSummary
  /// Where the store's file is kept as it was before; `nil` if there was none.
  public let safetyCopy: FilePath?
}

extension TaskStore {
  /// Puts a backup in the place of the store in a directory, or makes a store of it where there is none.
  ///
  /// Nobody may have the store open. The backup is copied into the directory and verified there, its pages before
  /// anything else, so that a damaged or foreign file leaves the store untouched. The old file is kept beside the new
  /// one, and can be restored in turn. A crash at any step leaves the old store or the new one.
  ///
  /// If both are copies of one store, the commit sequence goes on beyond that of the later one; where the old file
  /// cannot be read, it is 2^32 + 1 beyond that of the backup. Where it is missing nothing is known of it: an
  /// observation that was suspended meanwhile may then take the backup's changes for those that it has missed.
  ///
  /// - Parameters:
  ///   - file: The backup.
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Is told how far the verification has come, and may throw to end the restoring.
  /// - Returns: What the store now holds, and where the old one is.
  /// - Throws: `inputUnreadable`; `damagedStore` for a file that is damaged or no backup, or that leaves no sequence;
  ///   `newerFormat`; `storeBusy` while the store is open somewhere; `diskFull`; as opening a store.
  @discardableResult
  public static func restore(
    from file: FilePath,
    to directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> RestoreSummary {
    try restore(
      from: file, to: StoreOpening(directory: directory, configuration: configuration), progress: progress)
  }

  /// Restores with other migrations than those of this version; for tests.
  static func restore(
    from file: FilePath, to opening: StoreOpening, progress: VerificationProgress.Observer? = nil
  ) throws -> RestoreSummary {
    try TallyError.translating {
      try TallyError.translatingErrno { try Restoration(file: file, opening: opening).run(progress: progress) }
    }
  }
}
