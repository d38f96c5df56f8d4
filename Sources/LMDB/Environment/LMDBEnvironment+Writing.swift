import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Begins the write transaction, after waiting for the one there is, in this process or another.
  ///
  /// It must be committed or dropped on the same thread, so never across an `await`.
  ///
  /// Throws `reentrantWrite` if this thread has one already; `busy` if the others take longer than
  /// ``Options/writeWaitLimit``; `readOnly`, `closed`, `forked`, `panic`; `wrongThread` while one that was dropped on a
  /// foreign thread waits for its own.
  ///
  /// The corresponding C function is `mdb_txn_begin`.
  @available(*, noasync, message: "a write transaction must end on the thread it began on")
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    try checkProcess("begin write")
    if options.isReadOnly { throw LMDBError(.readOnly, operation: "begin write") }
    let thread = currentThread()
    try beginWriteTurn(thread)
    do throws(LMDBError) {
      return try beginWriteInTurn(thread)
    } catch {
      state.withLock { endWriteTurn(in: &$0) }
      state.wakeAll()
      throw error
    }
  }

  /// How many write transactions this environment has begun, including those that changed nothing.
  package var begunWriteCount: Int { state.withLock(\.begunWriteCount) }

  private func beginWriteInTurn(_ thread: UInt) throws(LMDBError) -> WriteTransaction {
    while true {
      try enter("begin write") { (state) throws(LMDBError) in try refuseEndlessWait(thread, state) }
      do throws(LMDBError) {
        try lockFile?.renew()
      } catch {
        leave()
        throw error
      }
      let core = TransactionCore(environment: self, isWrite: true, thread: thread)
      // The environment is counted as in use; the call writes into the core's own field.
      let result = unsafe mdb_txn_begin(handle, nil, 0, &core.handle)
      if result == MDB_SUCCESS {
        state.withLock { state in
          state.writer = thread
          state.begunWriteCount += 1
        }
        return WriteTransaction(environment: self, core: core)
      }
      leave()
      guard result == MDB_MAP_RESIZED else { throw explain(result, "begin write") }
      try adoptMapSize()
    }
  }

  func refuseEndlessWait(_ thread: UInt, _ state: State) throws(LMDBError) {
    // liblmdb would wait for the lock this very thread holds.
    if state.writer == thread { throw LMDBError(.reentrantWrite, operation: "begin write") }
    // And here for a lock that only another thread can release.
    if state.stranded != nil { throw LMDBError(.wrongThread, operation: "begin write") }
  }
}
