public import Foundation
import LMDB
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
    try copy(to: file) { staging in
      let (header, report) = try UnpublishedStore(directory: staging.path, configuration: configuration.store)
        .verify(progress: progress)
      return BackupSummary(header, report, sizeInBytes: try Self.output { try staging.dataFile.stat().size })
    }
  }

  /// Replaces a file with a flushed copy of the store, after a closure has checked the copy.
  func copy<R>(to file: FilePath, lookingAt look: (TemporaryItem) throws -> R) throws -> R {
    try connection.useForLong { store in
      try StoreFiles.refuseAsOutput(file)
      try Self.output { try AtomicFile.requireReplaceable(file) }
      let parent = file.parentOrCurrent
      let staging = try Self.output { try TemporaryItem(.directory, in: parent, for: ".tally-copy") }
      try store.environment.copyStore(to: staging.path)
      let result = try look(staging)
      try Self.output { try SystemCalls.rename(staging.dataFile, to: file) }
      try TallyError.flush(parent, after: "The file is complete and in its place")
      return result
    }
  }

  private static func output<R>(_ body: () throws -> R) throws -> R {
    try TallyError.replacing(TallyError.unwritableOutput, body)
  }
}

extension LMDBEnvironment {
  /// Copies the store without its free pages, or with them if liblmdb finds that some free pages are lost.
  func copyStore(to directory: FilePath) throws(LMDBError) {
    do throws(LMDBError) {
      try copy(to: directory, compacting: true)
    } catch {
      guard error.code == .incompatible else { throw error }
      try copy(to: directory, compacting: false)
    }
  }
}
