import CLMDB

/// The state of an environment in numbers.
public struct EnvironmentInformation: Sendable, Hashable {
  /// The size of the map of this process.
  public let mapSizeInBytes: Int
  /// The size of a page.
  public let pageSizeInBytes: Int
  /// The number of pages the file has ever needed; free ones among them are used again.
  public let pageCount: Int
  /// The last committed transaction.
  ///
  /// A compacted copy starts again from the beginning, so this is not a number to remember.
  public let lastTransactionID: Int
  /// How many reader slots have been in use at once.
  public let readerCount: Int
  /// How many there are.
  public let maxReaders: Int
  /// How many transactions old the oldest live snapshot is: pages freed since then cannot be used again.
  public let oldestReaderLag: Int
}

extension LMDBEnvironment {
  /// Returns size, last transaction and use of the reader table.
  ///
  /// Throws `closed`, `forked`; `busy` if a map that must move stood waiting too long.
  ///
  /// The corresponding C functions are `mdb_env_info`, `mdb_env_stat` and `mdb_reader_list`.
  public func information() throws(LMDBError) -> EnvironmentInformation {
    try whileOpen("information") { () throws(LMDBError) in try liveInformation() }
  }

  /// Returns the shape of the tree that holds the names of databases.
  ///
  /// Throws as ``information()``.
  ///
  /// The corresponding C function is `mdb_env_stat`.
  public func statistics() throws(LMDBError) -> DatabaseStatistics {
    try whileOpen("statistics") { DatabaseStatistics(nameStatistics) }
  }

  /// Counts the pages that are free to be used again, as a snapshot sees them.
  ///
  /// Costs a walk over the list of free pages. Throws `badTransaction`, `ioFailure`, `corrupted`.
  ///
  /// The corresponding C function is `mdb_cursor_get` on the database of free pages.
  package func freePageCount(in transaction: borrowing ReadTransaction) throws(LMDBError) -> Int {
    let core = transaction.core
    let operation = "count free pages"
    // The handle is live: it has just been checked.
    let reader = try unsafe core.usableHandle(operation)
    var opened: OpaquePointer?
    // The first database is that of free pages; a reader may look at it. The cursor is closed below.
    let result = unsafe mdb_cursor_open(reader, 0, &opened)
    guard result == MDB_SUCCESS, let cursor = unsafe opened else { throw core.failed(result, operation) }
    defer { unsafe mdb_cursor_close(cursor) }
    var count = 0
    while true {
      // The call makes both point into the map, which is read before the next one.
      var (key, value) = unsafe (MDB_val(), MDB_val())
      let moved = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      if moved == MDB_NOTFOUND { return count }
      guard moved == MDB_SUCCESS else { throw core.failed(moved, operation) }
      // Each value is a list of page numbers that begins with its length.
      count += unsafe value.bytes.loadUnaligned(as: Int.self)
    }
  }

  /// The newest transaction whose meta page is written, acknowledged or not.
  ///
  /// Throws as ``information()``, which also looks at every reader.
  package func lastTransactionID() throws(LMDBError) -> Int {
    try whileOpen("information") { newestTransactionID }
  }

  /// Whether readers that begin now see a transaction: its commit has ended.
  ///
  /// Throws as ``beginRead()``.
  package func hasAcknowledged(transaction: Int) throws(LMDBError) -> Bool {
    let reader = try beginRead()
    // Live until the end of this function.
    return unsafe mdb_txn_id(reader.core.handle) >= transaction
  }

  /// As ``lastTransactionID()``; the caller keeps the environment open.
  var newestTransactionID: Int {
    // A plain number.
    unsafe mapInformation.me_last_txnid
  }

  /// The size of the map of this process; the caller keeps the environment open.
  var mapSizeInBytes: Int {
    // A plain number.
    unsafe mapInformation.me_mapsize
  }

  private var mapInformation: MDB_envinfo {
    var information = unsafe MDB_envinfo()
    // The call only writes into the local it is given.
    unsafe mdb_env_info(handle, &information)
    return unsafe information
  }

  /// Gathers the numbers; the caller keeps the environment open.
  func liveInformation() throws(LMDBError) -> EnvironmentInformation {
    // Plain numbers, as below.
    let information = unsafe mapInformation
    let last = unsafe information.me_last_txnid
    let oldest = try readerTable().compactMap(\.transactionID).min() ?? last
    return unsafe EnvironmentInformation(
      mapSizeInBytes: information.me_mapsize,
      pageSizeInBytes: Int(nameStatistics.ms_psize),
      pageCount: information.me_last_pgno + 1,
      lastTransactionID: last,
      readerCount: Int(information.me_numreaders),
      maxReaders: Int(information.me_maxreaders),
      oldestReaderLag: max(last - oldest, 0)
    )
  }

  private var nameStatistics: MDB_stat {
    var statistics = MDB_stat()
    // The call only writes into the local it is given.
    unsafe mdb_env_stat(handle, &statistics)
    return statistics
  }
}
