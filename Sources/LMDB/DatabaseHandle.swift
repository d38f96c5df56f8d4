import CLMDB
import Synchronization
import TallySystem

/// LMDB's number of an open database, with the stamp that shows whether the number still means it.
@usableFromInline
struct DatabaseHandle: Sendable, Hashable {
  let index: UInt32
  let stamp: UInt32
}

/// The stamps of one environment's databases; zero where none is open.
///
/// LMDB uses the number of a database again when the transaction that opened it is aborted, and every environment
/// counts from the same start. A stamp is used once in the life of the process, so that a stale or foreign handle is
/// refused instead of reading another database.
@safe
final class DatabaseStamps: Sendable {
  private static let last = Atomic<UInt32>(0)

  let capacity: Int
  // Each element is atomic; the memory lives as long as this object.
  nonisolated(unsafe) private let stamps: UnsafeMutablePointer<Atomic<UInt32>>

  init(capacity: Int) {
    self.capacity = capacity
    // Every element is initialised before anybody sees one.
    unsafe stamps = .allocate(capacity: capacity)
    for index in 0..<capacity { unsafe (stamps + index).initialize(to: Atomic(0)) }
  }

  deinit {
    // An atomic integer needs no deinitialisation.
    unsafe stamps.deallocate()
  }

  /// The stamp of an open database, or zero.
  func stamp(of index: UInt32) -> UInt32 {
    assert(Int(index) < capacity, "a database that liblmdb cannot have")
    // Every index comes from liblmdb, which has the same capacity.
    return unsafe stamps[Int(index)].load(ordering: .relaxed)
  }

  /// Whether a handle still means the database that it meant when it was created.
  func contains(_ database: DatabaseHandle) -> Bool {
    Int(database.index) < capacity && stamp(of: database.index) == database.stamp
  }

  /// Assigns a stamp to a newly opened database, and returns it.
  func assign(_ index: UInt32) -> UInt32 {
    assert(stamp(of: index) == 0, "an open database is opened again")
    let (_, stamp) = Self.last.wrappingAdd(1, ordering: .relaxed)
    // In bounds, by the assertion of `stamp(of:)`.
    unsafe stamps[Int(index)].store(stamp, ordering: .relaxed)
    return stamp
  }

  /// Invalidates every handle of a database.
  func clear(_ index: UInt32) {
    assert(Int(index) < capacity, "a database that liblmdb cannot have")
    unsafe stamps[Int(index)].store(0, ordering: .relaxed)
  }
}

extension TransactionCore {
  /// Opens a database; the environment's other openers wait until this transaction has ended.
  func openDatabase(named name: String, creating: Bool) throws(LMDBError) -> DatabaseHandle {
    let operation = "open database"
    try continueInTree()
    let transaction = try unsafe usableHandle(operation)
    // The owner keeps the environment alive.
    try unsafe environment.reserveDatabaseOpening(operation, for: thread)
    // liblmdb would assign again a number that it has assigned since the transaction began.
    guard unsafe environment.state.withLock({ $0.databaseGeneration }) == databaseGeneration else {
      throw LMDBError(
        .busy, operation: operation, message: "Another thread has opened databases since the transaction began",
        remedy: "Begin the transaction again")
    }
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
    // The owner keeps the environment alive.
    unsafe environment.tableNumbers.record(name, of: index)
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
  /// Reserves the opening of databases for a thread until its transaction ends: LMDB allows one transaction at a time
  /// to open them.
  func reserveDatabaseOpening(_ operation: String, for thread: UInt) throws(LMDBError) {
    let reserved = try state.wait(atMost: options.waitLimit) { (state) throws(LMDBError) -> Bool? in
      if let opener = state.databaseOpener, opener != thread { return nil }
      state.databaseOpener = thread
      return true
    }
    if reserved == nil { throw LMDBError(.busy, operation: operation) }
  }

  /// Lets other threads open databases, if this one has reserved that.
  func endDatabaseOpening(by thread: UInt) {
    state.withLock { if $0.databaseOpener == thread { $0.databaseOpener = nil } }
  }

  /// Opens a database that exists, in a read transaction of its own.
  func openDatabase(named name: String) throws(LMDBError) -> DatabaseHandle {
    let operation = "open database"
    let thread = currentThread()
    // A map that another process has enlarged cannot be adopted later on.
    endRead(try beginTreeReader())
    if state.withLock({ $0.databaseOpener == thread }) { throw LMDBError(.busy, operation: operation) }
    try reserveDatabaseOpening(operation, for: thread)
    defer {
      state.withLock { $0.databaseOpener = nil }
      state.wakeAll()
    }
    // This transaction opens the database. It begins after the reservation, because it does not know databases that
    // others open later.
    let transaction = ReadTransaction(environment: self, core: try beginTreeReader())
    let core = transaction.core
    // The transaction lives until the commit below.
    let handle = try unsafe core.usableHandle(operation)
    // Without a commit liblmdb keeps no handle, so the stamps are cleared: a later reader uses the same core.
    defer { core.dropOpenedDatabases() }
    let database = try unsafe core.openDatabase(named: name, flags: 0, in: handle)
    // Handles opened by a reader last only if it is committed.
    unsafe core.handle = nil
    try Self.check(unsafe mdb_txn_commit(handle), operation)
    core.openedDatabases = []
    state.withLock { $0.databaseGeneration += 1 }
    return database
  }
}

extension Database {
  /// Removes the database itself, with everything in it.
  ///
  /// ```swift
  /// try environment.write { transaction in
  ///   let old = try Database<UInt64, String>(opening: "old", creating: false, in: &transaction)
  ///   try old.drop(in: &transaction)
  /// }
  /// ```
  ///
  /// From now on every handle of the database throws `badDatabase`, even if the transaction is aborted. In that case
  /// the database still exists and can be opened again. Its name is free at once.
  ///
  /// Waits for the end of this process's read transactions, and keeps new ones waiting until then. No other process may
  /// have the database open: liblmdb does not notice there that the database is gone, and the next write to it would
  /// end that process. To empty a database that others use, call ``removeAll(in:)``.
  ///
  /// Throws `busy`, and changes nothing, at once if this thread has a read transaction or the environment is about to
  /// be closed, or if other read transactions take longer than ``LMDBEnvironment/Options/waitLimitInSeconds``;
  /// `invalidArgument` in a nested transaction; otherwise what ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_drop`.
  public func drop(in transaction: inout WriteTransaction) throws(LMDBError) {
    try transaction.core.drop(handle)
  }
}

extension TransactionCore {
  fileprivate func drop(_ database: DatabaseHandle) throws(LMDBError) {
    let operation = "drop database"
    if parent == nil { try continueInTree() }
    // `usableHandle(for:)` checks that the handle is live.
    let transaction = try unsafe usableHandle(for: database, "drop database")
    // The outer transaction would commit changes of a database whose name is gone.
    guard parent == nil else {
      throw LMDBError(.invalidArgument, operation: operation, remedy: "Drop it in the outer transaction")
    }
    // The owner keeps the environment alive, as below.
    try unsafe environment.withoutReaders(operation) { () throws(LMDBError) in
      // liblmdb frees the handle's number at once, even if the transaction is aborted later. Nobody may get that number
      // before the transaction ends.
      try unsafe environment.reserveDatabaseOpening(operation, for: thread)
      // Deletes the database and closes its handle.
      let result = unsafe mdb_drop(transaction, database.index, 1)
      guard result == MDB_SUCCESS else { throw failed(result, operation) }
      stamps.clear(database.index)
    }
  }
}

extension LMDBEnvironment {
  /// Runs a body of the write transaction when no reader of this process is live, and keeps new ones waiting until it
  /// is done: liblmdb frees the name of a database that a reader may just be looking up.
  fileprivate func withoutReaders(_ operation: String, _ body: () throws(LMDBError) -> Void) throws(LMDBError) {
    let thread = currentThread()
    try state.withLock { (state) throws(LMDBError) in
      // Waiting for a reader of this thread, or for somebody who waits for this transaction, would never end.
      let isOwnReaderLive = state.readers.contains { $0.isLive && $0.thread == thread }
      guard !state.isDraining, !isOwnReaderLive else { throw LMDBError(.busy, operation: operation) }
      state.isDraining = true
    }
    defer {
      state.withLock { $0.isDraining = false }
      state.wakeAll()
    }
    let isFree = state.wait(atMost: options.waitLimit) { state in
      state.readers.contains(where: \.isLive) ? nil : true
    }
    guard isFree != nil else { throw LMDBError(.busy, operation: operation) }
    try body()
  }
}

extension LMDBTransaction where Self: ~Copyable {
  /// Returns the names of all databases, in the order of their bytes.
  ///
  /// ```swift
  /// let names = try environment.read { try $0.databaseNames() }
  /// ```
  ///
  /// A name that is not UTF-8, which only another program can have written, is left out: it cannot be opened here.
  ///
  /// Throws `badTransaction`, `ioFailure`, `corrupted`.
  ///
  /// The corresponding C function is `mdb_cursor_get` on the database without a name.
  ///
  /// - Complexity: as many steps as there are databases.
  public func databaseNames() throws(LMDBError) -> [String] {
    try core.databaseNames().names
  }

  /// Returns the names of all databases, and throws `incompatible` if there are other entries.
  func namesOfDatabasesOnly() throws(LMDBError) -> [String] {
    let (names, otherCount) = try core.databaseNames()
    guard otherCount == 0 else { throw LMDBError(.incompatible, operation: "list databases") }
    return names
  }
}

extension TransactionCore {
  /// The names of databases that can be opened here, and how many other entries there are.
  fileprivate func databaseNames() throws(LMDBError) -> (names: [String], otherCount: Int) {
    let cursor = try CursorHandle(ofNamesIn: self)
    // The cursor is used only here, and the transaction is still live when it is closed.
    defer { cursor.close() }
    var (names, entryCount, ownCount): ([String], Int, Int) = ([], 0, 0)
    var move = CursorMove.first
    // These moves read no key, and each entry is copied before the next move.
    while let entry = unsafe try cursor.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)) {
      move = .next
      entryCount += 1
      // Another program may keep its own values beside the records of databases; their names can hold no NUL.
      guard unsafe entry.value.count == TreeRecord.byteCount, unsafe !entry.key.contains(0) else { continue }
      guard let name = unsafe String(validating: entry.key, as: UTF8.self) else { continue }
      // The binding's own, like liblmdb's two.
      if name == LogStore.rowTable { ownCount += 1 } else { names.append(name) }
    }
    return (names, entryCount - names.count - ownCount)
  }
}
