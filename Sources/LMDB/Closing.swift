import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Closes the environment; later calls throw `closed`, except this one, which then does nothing.
  ///
  /// Waits for the end of this process's transactions, whose memory is the map, and keeps new ones waiting meanwhile.
  /// Commits that ``Durability/noMetaSync`` has not flushed yet are flushed first.
  ///
  /// Throws `busy`, and closes nothing, at once if this thread has a live transaction itself, or if the others take longer
  /// than the limit; `diskFull` or `ioFailure`, and closes nothing, if flushing fails; `forked`.
  ///
  /// The corresponding C function is `mdb_env_close`.
  public func close(waitingAtMost limit: Duration = .zero) throws(LMDBError) {
    try checkProcess("close")
    do throws(LMDBError) {
      if let log {
        try log.closing(waitingAtMost: limit) { () throws(LMDBError) in try drainAndClose(waitingAtMost: limit) }
      } else {
        try drainAndClose(waitingAtMost: limit)
      }
    } catch {
      guard error.code == .closed else { throw error }
      return
    }
    closeHandle()
  }

  private func drainAndClose(waitingAtMost limit: Duration) throws(LMDBError) {
    try drained("close", waitingAtMost: limit) { (state) throws(LMDBError) in
      try flushBeforeClosing()
      state.isClosed = true
      // A thread that waits to begin may have the turn already. It must not keep the lock after the environment is closed.
      endWriteTurn(in: &state)
    }
  }

  private func flushBeforeClosing() throws(LMDBError) {
    guard options.durability == .noMetaSync, !options.isReadOnly, log == nil else { return }
    // Nothing else is inside liblmdb, and the handle is open until `closeHandle`.
    let result = unsafe mdb_env_sync(handle, 1)
    guard result == MDB_SUCCESS else { throw explain(result, "close") }
  }

  /// Runs a body with a last write of the tree, when the environment is closed and its handle is still open.
  func writeLast(_ body: (inout WriteTransaction) throws -> Void) throws {
    let core = TransactionCore(environment: self, isWrite: true, thread: currentThread())
    // Nobody else uses the handle; the call writes into the core's own field.
    try Self.check(unsafe mdb_txn_begin(handle, nil, 0, &core.handle), "close")
    state.withLock { state in
      assert(state.liveCount == 0, "somebody is inside")
      core.databaseGeneration = state.databaseGeneration
      state.writer = core.thread
      state.liveCount = 1
    }
    var transaction = WriteTransaction(environment: self, core: core)
    try body(&transaction)
    try transaction.commit()
  }

  /// Whether the calling thread is inside a transaction: to wait for the end of all would be to wait for itself.
  package var isInUseByThisThread: Bool {
    state.withLock { $0.hasTransaction(on: currentThread()) }
  }

  /// Frees what liblmdb holds; nothing is live and `isClosed` keeps everybody out.
  func closeHandle() {
    let idle = state.withLock { state in
      assert(state.isClosed && state.liveCount == 0, "somebody is inside")
      defer {
        state.idle = []
        state.readers = []
      }
      return state.idle
    }
    for reader in idle { reader.abortHandle() }
    // From here on the system may reuse the inodes of deleted files.
    EnvironmentRegistry.mark(\.isClosing, of: entry)
    // Nothing of the environment is live, and `isClosed` keeps it so.
    unsafe mdb_env_close(handle)
    lockFile?.close()
    EnvironmentRegistry.leave(entry)
  }

  /// Marks the environment as ending with its last use; opening the directory again waits for that.
  ///
  /// For an owner that goes while others still read or write. Nobody may begin to use the environment afterwards.
  package func endWithLastUse() {
    guard !isForked, !state.withLock({ $0.isClosed }) else { return }
    EnvironmentRegistry.mark(\.isEnding, of: entry)
  }
}

extension LMDBEnvironment {
  /// Runs a body when no transaction or call of this process is live, and keeps new ones waiting until it is done.
  ///
  /// The body runs with the state locked: what begins meanwhile would have to wait in any case, even for a flush.
  ///
  /// Throws `busy` at once if this thread has a live transaction itself, or if the others take longer than the limit;
  /// `closed`, `forked`.
  func drained(
    _ operation: String,
    waitingAtMost limit: Duration,
    _ body: (inout State) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    try checkProcess(operation)
    let deadline = ContinuousClock.Instant.after(limit)
    try reserveDraining(operation, waitingAtMost: limit)
    defer {
      state.withLock { $0.isDraining = false }
      state.wakeAll()
    }
    let done = try state.wait(atMost: deadline - .now) { (state) throws(LMDBError) -> Bool? in
      assert(state.isDraining, "new transactions do not wait")
      guard state.liveCount == 0 else { return nil }
      try body(&state)
      return true
    }
    if done == nil { throw LMDBError(.busy, operation: operation) }
  }

  /// Becomes the only one that drains; from now on new transactions wait.
  private func reserveDraining(_ operation: String, waitingAtMost limit: Duration) throws(LMDBError) {
    let thread = currentThread()
    let reserved = try state.wait(atMost: limit) { (state) throws(LMDBError) -> Bool? in
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      reclaimAbandoned(in: &state, on: thread)
      guard !state.hasTransaction(on: thread) else { throw LMDBError(.busy, operation: operation) }
      guard !state.isDraining else { return nil }
      state.isDraining = true
      return true
    }
    if reserved == nil { throw LMDBError(.busy, operation: operation) }
  }
}
