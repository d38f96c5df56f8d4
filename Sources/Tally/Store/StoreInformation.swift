public import Foundation
import LMDB
public import SystemPackage
public import TallyEngine

/// The identity, contents and sizes of a store.
public struct StoreInformation: Sendable {
  /// The store's directory.
  public let directory: FilePath
  /// The storage format, as `major.minor`.
  public let format: String
  /// The store's identity, which copies and compaction preserve.
  public let storeID: UUID
  /// The number of commits so far.
  public let sequence: UInt64
  /// The number of tasks.
  public let taskCount: Int
  /// The number of lists.
  public let listCount: Int
  /// The number of recorded completions, including those of deleted tasks.
  public let completionCount: Int
  /// The values that applications store in addition to the tasks, by namespace.
  public let valueNamespaces: [ValueNamespace]
  /// The applications' indexes in the store, whether or not this program has registered them.
  public let indexes: [TaskIndexInformation]
  /// The size of the data file, in bytes.
  public let sizeInBytes: Int64
  /// How much of the reserved address space is in use, in bytes.
  public let usedMapSizeInBytes: Int64
  /// How much address space is reserved, in bytes.
  public let mapSizeInBytes: Int64
  /// The processes of the reader slots in use.
  public let readers: [ReaderInformation]
  /// The number of reader slots.
  public let maximumReaderCount: Int
  /// The log of a store that some process has open; `nil` if its data file has everything.
  public let log: LogInformation?
}

/// The log of a store, which has the last commits until they are brought into the data file.
public struct LogInformation: Hashable, Sendable {
  /// The size of the log, in bytes; 0 if it is missing.
  public let sizeInBytes: Int64
  /// The number of commits that the data file lacks, and a copy of it alone would lack; `nil` if the log is missing.
  public let commitCount: Int?

  /// Whether the log is missing: the data file was copied without it, and may lack the last commits.
  public var isMissing: Bool { commitCount == nil }
}

extension TaskStore {
  /// The store's counts and sizes, for an operator.
  ///
  /// - Throws: `storeClosed` or `storageFailed`.
  /// - Complexity: reads the keys of the applications' values; the rest is known without counting.
  public func information() throws -> StoreInformation {
    let (pages, readers, size, log) = try connection.use { store in
      let size = (try? store.environment.dataFile.stat().size) ?? 0
      let environment = store.environment
      return (
        try environment.information(), try environment.readers().filter(\.isOfOthersOrHasSnapshot), size,
        try environment.logInformation()
      )
    }
    return try read { transaction in
      let header = try transaction.header()
      let missing = header.hasLog ? LogInformation(sizeInBytes: 0, commitCount: nil) : nil
      return StoreInformation(
        directory: directory, format: "\(header.majorFormat).\(header.minorFormat)", storeID: header.storeID,
        sequence: header.sequence, taskCount: try transaction.taskCount, listCount: try transaction.listCount,
        completionCount: try transaction.tables.completions.count(in: transaction.base),
        valueNamespaces: try transaction.valueNamespaces(),
        indexes: try transaction.tables.ownIndexes.information(at: header.sequence, in: transaction.base),
        sizeInBytes: size,
        usedMapSizeInBytes: Int64(pages.pageCount) * Int64(pages.pageSizeInBytes),
        mapSizeInBytes: Int64(pages.mapSizeInBytes),
        readers: try readers.map { try transaction.information(on: $0, at: header.sequence, pages.lastTransactionID) },
        maximumReaderCount: pages.maxReaders,
        log: log.map { LogInformation(sizeInBytes: $0.sizeInBytes, commitCount: $0.commitCount) } ?? missing)
    }
  }
}

extension LMDB.Reader {
  /// Whether the slot is of another process or has a snapshot, and is not just one that this process holds for later.
  fileprivate var isOfOthersOrHasSnapshot: Bool {
    transactionID != nil || processID != ProcessInfo.processInfo.processIdentifier
  }
}

extension StoreTransaction where Base: ~Copyable {
  fileprivate func information(
    on reader: LMDB.Reader, at sequence: UInt64, _ lastTransactionID: Int
  ) throws -> ReaderInformation {
    let lag = reader.transactionID.map { max(0, lastTransactionID - $0) }
    var date: Int64?
    if let lag, lag > 0 {
      // Each transaction raises the sequence by at most one.
      let firstUnseen = ChangeID(sequence: sequence - min(sequence, UInt64(lag - 1)), position: 0)
      try tables.history.forEach(from: HistoryKey(firstUnseen, part: 0), in: base) { _, value in
        date = try HistoryRecord(headOf: value).dateMicroseconds
        return false
      }
    }
    // A damaged record may contain any number.
    let start = date.map { Timestamp(clamping: $0).microsecondsSince1970 }
    let seconds = start.map { max(0, now.microsecondsSince1970 - $0) / 1_000_000 }
    return ReaderInformation(processID: reader.processID, lagInCommits: lag, lagInSeconds: seconds.map(Int.init))
  }
}
