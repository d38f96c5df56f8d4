public import Foundation
public import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

/// The contents of a backup.
public struct BackupSummary: Hashable, Sendable {
  /// The store's identity.
  public let storeID: UUID
  /// The sequence of the last commit in the backup.
  public let sequence: UInt64
  /// The number of tasks.
  public let taskCount: Int
  /// The number of lists.
  public let listCount: Int
  /// The number of completions, including those of deleted tasks.
  public let completionCount: Int
  /// The size of the file, in bytes.
  public let sizeInBytes: Int64

  init(_ header: StoreHeader, _ report: VerificationReport, sizeInBytes: Int64) {
    storeID = header.storeID
    sequence = header.sequence
    taskCount = report.taskCount
    listCount = report.listCount
    completionCount = report.completionCount
    self.sizeInBytes = sizeInBytes
  }
}

/// The result of restoring a backup.
public struct RestoreSummary: Hashable, Sendable {
  /// The new contents of the store.
  public let restored: BackupSummary
  /// The path of the store's old file; `nil` if there was none.
  public let safetyCopy: FilePath?
}

extension TaskStore {
  /// Copies the store, as of one commit, into a single file while readers and writers continue.
  ///
  /// The copy is created next to the file, flushed and verified as by ``verify(progress:)``; only then does it get the
  /// file's name and replace an older file. If anything fails, the old file stays unchanged. Only its owner may read
  /// it. It has no free pages, so it may be much smaller than the store. ``restore(from:to:configuration:progress:)``
  /// restores it.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - progress: Called with the progress of the copy's verification; may throw to end the backup.
  /// - Returns: The contents of the backup.
  /// - Throws: `outputNotCreated`, `diskFull`; `damagedStore` if the store is damaged; `cancelled`; what `progress`
  ///   throws, and what `read` throws.
  /// - Complexity: The store is read and written once, and its copy is read again. The copying is one long snapshot.
  @discardableResult
  public func backup(to file: FilePath, progress: VerificationProgress.Observer? = nil) throws -> BackupSummary {
    let opening = StoreOpening(directory: directory, configuration: configuration)
    let layout = TaskLayout(configuration)
    return try connection.copy(to: file) { staging in
      let (header, report) = try UnpublishedStore(at: staging.path, like: opening) {
        try Verification.requireSound($0, layout, observer: progress)
      }.verify()
      return BackupSummary(header, report, sizeInBytes: try TallyError.output { try staging.dataFile.stat().size })
    }
  }

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
      from: file, to: StoreOpening(directory: directory, configuration: configuration), TaskLayout(configuration),
      progress: progress)
  }

  /// Restores with other migrations than this version's, for tests.
  static func restore(
    from file: FilePath, to opening: StoreOpening, _ layout: TaskLayout = TaskLayout(.init()),
    progress: VerificationProgress.Observer? = nil
  ) throws -> RestoreSummary {
    let result = try Restoration(file: file, opening: opening) {
      try Verification.requireSound($0, layout, observer: progress)
    }.run()
    return RestoreSummary(
      restored: BackupSummary(result.header, result.report, sizeInBytes: result.sizeInBytes),
      safetyCopy: result.safetyCopy)
  }

  /// Copies the store, as of one commit, into a single file for others to read, while readers and writers continue.
  ///
  /// It is for an extension of an application, such as a widget, that must not hold a lock or write:
  /// ``init(snapshotAt:configuration:)`` opens the file. The file replaces an older one as a whole, even while that is
  /// being read: a reader continues with the one that it has open. If anything fails, the older file stays unchanged.
  /// Only its owner may read it.
  ///
  /// Unlike ``backup(to:progress:)`` it does not verify every record, so it takes a fraction of the time.
  ///
  /// - Parameter file: The path of the file.
  /// - Returns: The sequence of the commit that the snapshot shows.
  /// - Throws: `outputNotCreated`, `diskFull`; `remoteFilesystem` if the file would be on a remote filesystem, where
  ///   nobody could open it; what `read` throws.
  /// - Complexity: The store is read and written once. The copying is one long snapshot.
  @discardableResult
  public func publishSnapshot(to file: FilePath) throws -> UInt64 {
    try connection.copy(to: file) { staging in
      // Opened in the way its readers will, because a file that they cannot open must not replace one that they can.
      let copy = try TaskStore(snapshotAt: staging.dataFile, configuration: configuration)
      let sequence = try copy.read { try $0.sequence }
      try copy.close()
      return sequence
    }
  }

  /// Opens a published snapshot or a backup for reading, without a lock and without writing anything anywhere.
  ///
  /// It shows the snapshot that the file contained when it was opened. ``suspend(waitingAtMost:)`` followed by
  /// ``resume()`` opens the newest file of that name, and observations then report the difference.
  ///
  /// - Parameters:
  ///   - file: The path of the file, which becomes the ``directory`` of this store.
  ///   - configuration: How to open it; writes are refused in any case.
  /// - Throws: `storeMissing` if there is no such file; `notAStore` for other files, including the data file in a
  ///   store's directory, which writers change; `newerFormat`, `damagedStore`, `permissionDenied`, `remoteFilesystem`,
  ///   `alreadyOpen`, `storageFailed`.
  /// - Complexity: well under a millisecond, whatever the size of the store.
  public convenience init(snapshotAt file: FilePath, configuration: Configuration = Configuration()) throws {
    var configuration = configuration
    configuration.isReadOnly = true
    try self.init(
      StoreOpening(directory: file.absolute, configuration: configuration, isSnapshot: true), configuration)
  }
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
    try compact(
      StoreOpening(directory: directory, configuration: configuration), TaskLayout(configuration), progress: progress)
  }

  /// Compacts a store with other migrations than this version's, for tests.
  static func compact(
    _ opening: StoreOpening, _ layout: TaskLayout = TaskLayout(.init()),
    progress: VerificationProgress.Observer? = nil
  ) throws -> CompactionSummary {
    try opening.compact { try Verification.requireSound($0, layout, observer: progress) }
  }

  /// Removes a store: its file, the copies made by restoring and repairing, and its directory if nothing else is in it.
  ///
  /// The store must not be open anywhere. It may be damaged. A crash at any step leaves the whole store or none.
  ///
  /// ```swift
  /// try store.close()
  /// try TaskStore.remove(at: store.directory)
  /// ```
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How long to wait for other processes.
  /// - Throws: `storeMissing`, `notAStore`; `alreadyOpen` while this process has the store open, `storeBusy` while
  ///   another one has; `permissionDenied`, `storageFailed`.
  public static func remove(at directory: FilePath, configuration: Configuration = Configuration()) throws {
    let opening = StoreOpening(directory: directory.absolute, configuration: configuration)
    try opening.remove()
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Deletes all tasks, lists and completions and the history, so that it cannot be undone.
  ///
  /// Records of the application's collections stay: delete them first.
  ///
  /// ```swift
  /// try await store.write { try $0.eraseAll() }
  /// ```
  ///
  /// Observations read their views again. The bytes remain in free pages of the file until these are reused;
  /// ``TaskStore/compact(at:configuration:progress:)`` removes them.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: linear in the number of the store's pages.
  public mutating func eraseAll() throws {
    state.forgetImages()
    var header = try header()
    // The log of changes is empty, so nobody can continue from an earlier commit.
    header.logStart = commitSequence
    try changeIfNeeded { (tables, _, base) throws(LMDBError) in
      for name in TableName.allCases where name != .meta {
        let table = try Database<[UInt8], [UInt8]>(opening: name.rawValue, creating: true, in: &base)
        try table.removeAll(in: &base)
      }
      try tables.meta.put(header, forKey: .header, in: &base)
      return true
    }
  }
}
