import CLMDB
import TallySystem

extension TransactionCore {
  /// Opens a database; the environment's other openers wait until this transaction has ended.
  func openDatabase(named name: String, creating: Bool) throws(LMDBError) -> DatabaseHandle {
    let operation = "open database"
    let transaction = try unsafe usableHandle(operation)
    // The owner keeps the environment alive.
    try unsafe environment.reserveDatabaseOpening(operation, for: thread)
    return try unsafe openDatabase(named: name, flags: creating ? UInt32(MDB_CREATE) : 0, in: transaction)
  }

  func openDatabase(
    named name: String,
    flags: UInt32,
    in transaction: OpaquePointer
  ) throws(LMDBError) -> DatabaseHandle {
    let operation = "open database"
    // The owner keeps the environment alive.
    assert(unsafe environment.state.withLock { $0.databaseOpener } == thread, "two transactions open databases")
    // A C string ends at a NUL: the name would be another one.
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw LMDBError(.invalidArgument, operation: operation, remedy: "Give a name without NUL")
    }
    var index: UInt32 = 0
    // liblmdb copies the name within the call.
    let result = unsafe name.withCString { unsafe mdb_dbi_open(transaction, $0, flags, &index) }
    if result == MDB_NOTFOUND { throw LMDBError(.databaseNotFound, operation: operation) }
    guard result == MDB_SUCCESS else { throw failed(result, operation) }
    var stamp = stamps.stamp(of: index)
    if stamp == 0 {
      stamp = stamps.assign(index)
      openedDatabases.append(index)
    }
    // The transaction is live, as above.
    try unsafe requireNoFlags(of: index, in: transaction)
    return DatabaseHandle(index: index, stamp: stamp)
  }

  private func requireNoFlags(of index: UInt32, in transaction: OpaquePointer) throws(LMDBError) {
    var flags: UInt32 = 0
    // Only writes into the local it is given.
    let result = unsafe mdb_dbi_flags(transaction, index, &flags)
    guard result == MDB_SUCCESS else { throw failed(result, "open database") }
    guard flags == 0 else { throw LMDBError(.incompatible, operation: "open database") }
  }

  /// Forgets the databases of a transaction that did not commit.
  func dropOpenedDatabases() {
    for index in openedDatabases { stamps.clear(index) }
    openedDatabases = []
  }
}

extension LMDBEnvironment {
  /// Becomes the one transaction that may open databases, as LMDB demands; it stays so until the transaction ends.
  func reserveDatabaseOpening(_ operation: String, for thread: UInt) throws(LMDBError) {
    let reserved = try state.wait(atMost: options.waitLimit) { (state) throws(LMDBError) -> Bool? in
      if let opener = state.databaseOpener, opener != thread { return nil }
      state.databaseOpener = thread
      return true
    }
    if reserved == nil { throw LMDBError(.busy, operation: operation) }
  }

  /// Opens a database that exists, in a read transaction of its own.
  func openDatabase(named name: String) throws(LMDBError) -> DatabaseHandle {
    let operation = "open database"
    let thread = currentThread()
    // Begun first, so that a map another process enlarged is adopted; it is the one that opens.
    let transaction = try beginRead()
    if state.withLock({ $0.databaseOpener == thread }) { throw LMDBError(.busy, operation: operation) }
    try reserveDatabaseOpening(operation, for: thread)
    defer {
      state.withLock { $0.databaseOpener = nil }
      state.wakeAll()
    }
    let core = transaction.core
    // The transaction lives until the commit below.
    let handle = try unsafe core.usableHandle(operation)
    // What does not end in a commit leaves no handle, and the reader's core is used again.
    defer { core.dropOpenedDatabases() }
    let database = try unsafe core.openDatabase(named: name, flags: 0, in: handle)
    // Handles opened by a reader last only if it is committed.
    unsafe core.handle = nil
    try Self.check(unsafe mdb_txn_commit(handle), operation)
    core.openedDatabases = []
    return database
  }
}
