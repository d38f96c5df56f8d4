import CLMDB

/// The shape of one database's tree.
public struct DatabaseStatistics: Sendable, Hashable {
  /// The number of keys.
  public let entryCount: Int
  /// The number of levels.
  public let depth: Int
  /// Pages between the root and the leaves.
  public let branchPageCount: Int
  /// Pages that hold entries.
  public let leafPageCount: Int
  /// Pages that hold values too long for a leaf.
  public let overflowPageCount: Int
  /// The size of a page.
  public let pageSizeInBytes: Int

  init(_ statistics: MDB_stat) {
    entryCount = statistics.ms_entries
    depth = Int(statistics.ms_depth)
    branchPageCount = statistics.ms_branch_pages
    leafPageCount = statistics.ms_leaf_pages
    overflowPageCount = statistics.ms_overflow_pages
    pageSizeInBytes = Int(statistics.ms_psize)
  }
}

extension Database {
  /// The number of keys, known without counting them.
  ///
  /// Throws `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_stat`.
  public func count<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int {
    try statistics(in: transaction).entryCount
  }

  /// Describes the shape of the tree.
  ///
  /// Throws `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_stat`.
  public func statistics<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> DatabaseStatistics {
    try transaction.core.statistics(of: handle)
  }
}

extension TransactionCore {
  func statistics(of database: DatabaseHandle) throws(LMDBError) -> DatabaseStatistics {
    // The handle is live: it has just been checked.
    let transaction = try unsafe usableHandle(for: database, "statistics")
    var statistics = MDB_stat()
    // Only writes into the local it is given.
    let result = unsafe mdb_stat(transaction, database.index, &statistics)
    guard result == MDB_SUCCESS else { throw failed(result, "statistics") }
    return DatabaseStatistics(statistics)
  }
}
