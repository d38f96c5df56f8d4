import CLMDB
import TallySystem

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
  /// Every handle of it throws `badDatabase` from now on, even if the transaction is aborted: the database is still
  /// there then, and can be opened again. Its name is free at once.
  ///
  /// Waits for the end of this process's read transactions, and keeps new ones waiting meanwhile. No other process may
  /// have the database open: liblmdb does not notice there that it is gone, and the next write to it would end that
  /// process. To empty a database that others use, call ``removeAll(in:)``.
  ///
  /// Throws `busy`, and changes nothing, at once if this thread has a read transaction or the environment is about to
  /// be closed, or if the others take longer than ``LMDBEnvironment/Options/waitLimitInSeconds``; `invalidArgument` in a
  /// nested transaction; otherwise as ``put(_:forKey:in:)``.
  ///
  /// The corresponding C function is `mdb_drop`.
  public func drop(in transaction: inout WriteTransaction) throws(LMDBError) {
    try transaction.core.drop(handle)
  }
}

extension TransactionCore {
  fileprivate func drop(_ database: DatabaseHandle) throws(LMDBError) {
    let operation = "drop database"
    // The handle is live: it has just been checked.
    let transaction = try unsafe usableHandle(for: database, "drop database")
    // The outer transaction would commit changes of a database whose name is gone.
    guard parent == nil else {
      throw LMDBError(.invalidArgument, operation: operation, remedy: "Drop it in the outer transaction")
    }
    // The owner keeps the environment alive, as below.
    try unsafe environment.withoutReaders(operation) { () throws(LMDBError) in
      // The handle's number is free at once, whatever becomes of the transaction: nobody may take it before its end.
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
