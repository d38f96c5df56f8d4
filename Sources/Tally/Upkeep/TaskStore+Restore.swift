public import SystemPackage
import TallyEngine

/// The result of restoring a backup.
public struct RestoreSummary: Hashable, Sendable {
  /// The new contents of the store.
  public let restored: BackupSummary
  /// The path of the store's old file; `nil` if there was none.
  public let safetyCopy: FilePath?
}

extension TaskStore {
  /// Replaces the store in a directory with a backup, or creates a store from the backup if there is none.
  ///
  /// The store must not be open anywhere. The backup is copied into the directory and verified there, its pages before
  /// anything else, so that a damaged or foreign file leaves the store untouched. The old file is kept next to the new
  /// one, and can be restored in turn. After a crash at any step there is either the old store or the new one.
  ///
  /// If both are copies of one store, the commit sequence continues after that of the later one; if the old file cannot
  /// be read, it continues 2^32 + 1 beyond that of the backup. If the old file is missing, nothing is known about it:
  /// an observation that was suspended meanwhile may then mistake the backup's changes for those that it missed.
  ///
  /// - Parameters:
  ///   - file: The backup.
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - progress: Called with the progress of the verification; may throw to stop restoring.
  /// - Returns: The new contents of the store, and the path of the old file.
  /// - Throws: `inputUnreadable`; `damagedStore` if the file is damaged, is not a backup, or leaves no sequence to
  ///   continue with; `newerFormat`; `alreadyOpen` while this process has the store open, `storeBusy` while another one
  ///   has; `diskFull`; as opening a store.
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

  /// Restores with other migrations than this version's, for tests.
  static func restore(
    from file: FilePath, to opening: StoreOpening, progress: VerificationProgress.Observer? = nil
  ) throws -> RestoreSummary {
    try TallyError.translating {
      try TallyError.translatingErrno { try Restoration(file: file, opening: opening).run(progress: progress) }
    }
  }
}
