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
  /// The reader slots in use, of all processes.
  public let readers: [ReaderInformation]
  /// How many reader slots there are.
  public let maximumReaderCount: Int
}

/// An application's index, as the store has it.
public struct TaskIndexInformation: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The version of its function.
  public let version: UInt32
  /// How many commits it is behind: the next opening or write with it looks at the tasks changed since, as reads do.
  public let lagInCommits: Int
}

/// A process that reads, or has read, a store.
public struct ReaderInformation: Hashable, Sendable {
  /// The process.
  public let processID: Int32
  /// How many commits its snapshot is behind; `nil` if it holds none at the moment.
  public let lagInCommits: Int?
}

extension TaskStore {
  /// The store's counts and sizes, for an operator.
  ///
  /// - Throws: `storeClosed` or `storageFailed`.
  /// - Complexity: the keys of the applications' values; all else is known without counting.
  public func information() throws -> StoreInformation {
    let (pages, readers, size) = try connection.use { store in
      let size = (try? store.environment.dataFile.stat().size) ?? 0
      return (try store.environment.information(), try store.environment.readers(), size)
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
        readers: readers.map { reader in
          ReaderInformation(
            processID: reader.processID,
            lagInCommits: reader.transactionID.map { max(0, Int(pages.lastTransactionID) - Int($0)) })
        },
        maximumReaderCount: pages.maxReaders)
    }
  }
}
