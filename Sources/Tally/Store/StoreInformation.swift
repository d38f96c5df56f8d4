public import Foundation
import LMDB
public import SystemPackage

/// A store's identity, contents and sizes.
public struct StoreInformation: Sendable {
  /// The store's directory.
  public let directory: FilePath
  /// The format of its files, as `major.minor`.
  public let format: String
  /// The store's identity, which stays with it through copies and compaction.
  public let storeID: UUID
  /// The number of commits to the store.
  public let sequence: UInt64
  /// How many tasks it holds.
  public let taskCount: Int
  /// How many lists it holds.
  public let listCount: Int
  /// How many completions are recorded, including those of deleted tasks.
  public let completionCount: Int
  /// What applications keep beside the tasks, by namespace.
  public let valueNamespaces: [ValueNamespace]
  /// The indexes of applications that the store has, whether or not this program has registered them.
  public let indexes: [TaskIndexInformation]
  /// The size of its data file.
  public let sizeInBytes: Int64
  /// How much of the reserved map is in use.
  public let usedMapSizeInBytes: Int64
  /// How much address space is reserved.
  public let mapSizeInBytes: Int64
  /// The state of its journal; `nil` if it has none.
  public let journal: StoreJournalInformation?
  /// The reader slots in use, of all processes.
  public let readers: [ReaderInformation]
  /// How many reader slots there are.
  public let maximumReaderCount: Int
}

/// The state of a store's journal.
public struct StoreJournalInformation: Hashable, Sendable {
  /// Whether the data file alone is the store: a plain, flushed LMDB file that other programs may read and copy.
  ///
  /// Otherwise a power cut may leave it behind, and the next opening repeats what the journal has.
  public let isClean: Bool
  /// A commit up to which the data file is known to be flushed.
  public let steadySequence: UInt64
  /// How many commits the next opening would have to repeat after a power cut.
  public let pendingCommitCount: Int
  /// How much of the journal those take.
  public let usedSizeInBytes: Int64
  /// How much there is for them.
  public let sizeInBytes: Int64
}

/// A process that reads, or has read, a store.
public struct ReaderInformation: Hashable, Sendable {
  /// The process.
  public let processID: Int32
  /// How many commits its snapshot is behind; `nil` if it holds none at the moment.
  public let lagInCommits: Int?
  /// How many seconds ago the first commit was written that its snapshot does not show, according to the history.
  ///
  /// It was longer ago if the history does not reach back that far. `nil` if the snapshot is not behind, or the history is
  /// empty.
  public let lagInSeconds: Int?
}

extension TaskStore {
  /// The store's counts and sizes, for an operator.
  ///
  /// - Throws: `storeClosed` or `storageFailed`.
  /// - Complexity: the keys of the applications' values; all else is known without counting.
  public func information() throws -> StoreInformation {
    let (pages, readers, size, journal) = try connection.use { store in
      let size = (try? store.environment.dataFile.stat().size) ?? 0
      let environment = store.environment
      return (
        try environment.information(), try environment.readers().filter(\.isOfOthersOrHasSnapshot), size,
        try environment.journalInformation()
      )
    }
    return try read { transaction in
      let header = try transaction.header()
      return StoreInformation(
        directory: directory, format: "\(header.majorFormat).\(header.minorFormat)", storeID: header.storeID,
        sequence: header.sequence, taskCount: try transaction.taskCount, listCount: try transaction.listCount,
        completionCount: try transaction.tables.completions.count(in: transaction.base),
        valueNamespaces: try transaction.valueNamespaces(),
        indexes: try transaction.tables.ownIndexes.information(at: header.sequence, in: transaction.base),
        sizeInBytes: size,
        usedMapSizeInBytes: Int64(pages.pageCount) * Int64(pages.pageSizeInBytes),
        mapSizeInBytes: Int64(pages.mapSizeInBytes),
        journal: journal.map { StoreJournalInformation($0, sequence: header.sequence) },
        readers: try readers.map { try transaction.information(on: $0, at: header.sequence, pages.lastTransactionID) },
        maximumReaderCount: pages.maxReaders)
    }
  }
}

extension StoreJournalInformation {
  /// Counts back from the last commit: each record that waits has raised the sequence by one at most.
  fileprivate init(_ journal: JournalInformation, sequence: UInt64) {
    isClean = journal.isClean
    pendingCommitCount = journal.recordCount
    steadySequence = sequence - min(sequence, UInt64(journal.recordCount))
    (usedSizeInBytes, sizeInBytes) = (Int64(journal.usedBytes), Int64(journal.ringSizeInBytes))
  }
}

extension Reader {
  /// Whether it is not just a slot that this process keeps for its next snapshot.
  fileprivate var isOfOthersOrHasSnapshot: Bool {
    transactionID != nil || processID != ProcessInfo.processInfo.processIdentifier
  }
}

extension StoreTransaction where Base: ~Copyable {
  fileprivate func information(
    on reader: Reader, at sequence: UInt64, _ lastTransactionID: Int
  ) throws -> ReaderInformation {
    let lag = reader.transactionID.map { max(0, lastTransactionID - $0) }
    var date: Int64?
    if let lag, lag > 0 {
      // Each transaction raises the sequence by one at most.
      let firstUnseen = ChangeID(sequence: sequence - min(sequence, UInt64(lag - 1)), position: 0)
      try tables.history.forEach(from: HistoryKey(firstUnseen, part: 0), in: base) { _, value in
        date = try HistoryRecord(headOf: value).dateMicroseconds
        return false
      }
    }
    // A damaged record may hold any number.
    let start = date.map { Timestamp(clamping: $0).microsecondsSince1970 }
    let seconds = start.map { max(0, now.microsecondsSince1970 - $0) / 1_000_000 }
    return ReaderInformation(processID: reader.processID, lagInCommits: lag, lagInSeconds: seconds.map(Int.init))
  }
}
