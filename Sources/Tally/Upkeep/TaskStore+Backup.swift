public import Foundation
import LMDB
public import SystemPackage
import TallySystem

/// The contents of a backup.
public struct BackupSummary: Hashable, Sendable {
  /// The identity of the store.
  public let storeID: UUID
  /// The last commit in it.
  public let sequence: UInt64
  /// The tasks in it.
  public let taskCount: Int
  /// The lists in it.
  public let listCount: Int
  /// The completions in it, those of deleted tasks included.
  public let completionCount: Int
  /// The size of the file.
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
  /// Copies the store, as of one commit, into a single file, while readers and writers go on.
  ///
  /// The copy is created beside the file, flushed and verified as ``verify(progress:)`` does; only then does it take
  /// the file's name, and replace an older one. If anything fails, the old file stays unchanged. Only its owner may
  /// read it. It has no free pages, so it may be much smaller than the store.
  /// ``restore(from:to:configuration:progress:)`` restores it.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - progress: Called with the progress of the copy's verification; may throw to end the backup.
  /// - Returns: The contents of the backup.
  /// - Throws: `outputNotCreated`, `diskFull`; `damagedStore` if the store is damaged; `cancelled`; what `progress`
  ///   throws, and what `read` throws.
  /// - Complexity: The store is read and written once, and its copy read again. The copying is one long snapshot.
  @discardableResult
  public func backup(to file: FilePath, progress: VerificationProgress.Observer? = nil) throws -> BackupSummary {
    try copy(to: file) { staging in
      let (header, report) = try UnpublishedStore(directory: staging.path, configuration: configuration)
        .verify(progress: progress)
      return BackupSummary(header, report, sizeInBytes: try Self.output { try staging.dataFile.stat().size })
    }
  }

  /// Replaces a file with a copy, flushed, after a closure has looked at the copy.
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
  /// Copies the store without its free pages, or with them if liblmdb finds that some have been lost.
  func copyStore(to directory: FilePath) throws(LMDBError) {
    do throws(LMDBError) {
      try copy(to: directory, compacting: true)
    } catch {
      guard error.code == .incompatible else { throw error }
      try copy(to: directory, compacting: false)
    }
  }
}
