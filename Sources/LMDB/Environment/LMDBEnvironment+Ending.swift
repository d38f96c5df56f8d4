import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Begins a transaction inside a write transaction.
  func beginNested(in parent: TransactionCore) throws(LMDBError) -> WriteTransaction {
    let parentHandle = try unsafe parent.usableHandle("begin nested write")
    let core = TransactionCore(environment: self, isWrite: true, thread: parent.thread, parent: parent)
    // The parent is live, and waits until its child has ended; the call writes into the core's own field.
    let result = unsafe mdb_txn_begin(handle, parentHandle, 0, &core.handle)
    guard result == MDB_SUCCESS else { throw parent.failed(result, "begin nested write") }
    return WriteTransaction(environment: self, core: core)
  }

  /// Commits, or throws after aborting.
  func commitWrite(_ core: TransactionCore) throws(LMDBError) {
    // An unusable transaction is left to the `deinit` of its owner, which aborts it.
    let transaction = try unsafe core.usableHandle("commit")
    guard core.thread == currentThread() else { throw LMDBError(.wrongThread, operation: "commit") }
    // Only read, while it is live.
    let transactionID = unsafe Int(mdb_txn_id(transaction))
    if core.parent == nil { forgetWriter() }
    // Forgotten before it is freed, so that nothing can use it afterwards.
    unsafe core.handle = nil
    // Frees the transaction whatever it returns.
    let result = unsafe mdb_txn_commit(transaction)
    if result != MDB_SUCCESS { core.dropOpenedDatabases() }
    let outcome = Result { () throws(LMDBError) in
      if result != MDB_SUCCESS { try resolve(commit: transactionID, that: result, core) }
    }
    var isLookDue = false
    if core.parent == nil {
      let time = Self.clockTime
      leaveWriter(core) { isLookDue = $0.readerLook.isDue(after: transactionID, at: time) }
    }
    try outcome.get()
    if isLookDue { lookAtReaders(after: transactionID) }
    guard let parent = core.parent else { return }
    parent.openedDatabases += core.openedDatabases
    parent.batched.formUnion(core.batched)
  }

  /// Aborts what has not ended; called when the transaction is dropped.
  func abortWrite(_ core: TransactionCore) {
    // In a child of a fork the transaction and its lock are the parent's.
    guard unsafe core.handle != nil, !isForked else { return }
    if core.parent != nil {
      core.abortHandle()
    } else if core.thread == currentThread() {
      forgetWriter()
      core.abortHandle()
      leaveWriter(core)
    } else {
      strand(core)
    }
  }

  /// Clears the mark of the writing thread, before the lock is released: later it would be the next writer's.
  private func forgetWriter() {
    state.withLock { state in
      assert(state.writer == currentThread(), "another thread writes")
      state.writer = nil
    }
  }

  /// Counts an ended write transaction out, and lets others open databases.
  private func leaveWriter(_ core: TransactionCore, _ change: (inout State) -> Void = { _ in }) {
    leave { state in
      change(&state)
      if state.databaseOpener == core.thread { state.databaseOpener = nil }
      endWriteTurn(in: &state)
    }
    state.wakeAll()
  }

  /// Sets a transaction aside until its own thread makes a call.
  ///
  /// The lock between processes belongs to a thread: released from another one it stays taken for ever, and liblmdb
  /// reports success.
  private func strand(_ core: TransactionCore) {
    core.strandedEnvironment = self
    state.withLock { state in
      assert(state.stranded == nil && state.writer == core.thread, "two writers at once")
      state.stranded = core
    }
  }

  /// Finds out the result of a commit that failed, and throws unless it has taken place after all.
  private func resolve(commit transactionID: Int, that returnCode: Int32, _ core: TransactionCore) throws(LMDBError) {
    let error = core.failed(returnCode, "commit")
    guard core.parent == nil, isPanicked else { throw error }
    // Only a failed write of the meta page has this effect. liblmdb then tries to put the old page back.
    switch hasTakenPlace(transactionID) {
    case true?: return
    case false?: throw error
    case nil: throw LMDBError(.commitOutcomeUnknown, operation: "commit", returnCode: returnCode)
    }
  }

  /// Whether a commit is in the file, and will be after a power cut, too; `nil` if nobody can know.
  private func hasTakenPlace(_ transactionID: Int) -> Bool? {
    // Without the turn another process may have written meanwhile, with the same number.
    guard writeLock != nil else { return nil }
    // What the file shows is what the disk has only once a flush has succeeded. The handle is open.
    guard unsafe mdb_env_sync(handle, 1) == MDB_SUCCESS else { return nil }
    let newest = try? DataFile(inDirectory: path).reading { try MetaPage.latest(of: $0).transactionID }
    return newest.map { $0 >= transactionID }
  }

  /// Whether the environment has been closed.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether liblmdb refuses everything since a failure, so that the environment must be opened again.
  package var hasPanicked: Bool {
    do {
      return try whileOpen("look for a failure") { isPanicked }
    } catch {
      // One that is closed is not in use.
      return error.code == .panic
    }
  }

  /// Whether liblmdb refuses everything since a failure, or may do so.
  private var isPanicked: Bool {
    var probe: OpaquePointer?
    // Begun and ended here: only a transaction shows it.
    let result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
    if result == MDB_SUCCESS { unsafe mdb_txn_abort(probe) }
    // Without a free slot the outcome stays unknown, which is better than a wrong one.
    return result == MDB_PANIC || result == MDB_READERS_FULL
  }
}
