import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Runs a body with the write transaction and commits when it returns; if it throws, nothing happened.
  ///
  /// If the map is full it grows and the body runs again from the start, so it must have no other effects.
  /// That happens even if the body caught the error or threw another one.
  ///
  /// Throws what ``beginWrite()``, ``WriteTransaction/commit()`` and the body throw; `mapFull` if the map can grow no
  /// further, and what else ``growMap()`` throws.
  ///
  /// The corresponding C functions are `mdb_txn_begin` and `mdb_txn_commit`.
  @available(*, noasync, message: "a write transaction must end on the thread it began on")
  @inlinable
  public func write<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try write(intoTree: false, body)
  }

  /// Does the same as ``write(_:)``, but always writes to the tree, even if there is a log.
  @available(*, noasync)
  func writeTree<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try write(intoTree: true, body)
  }

  @available(*, noasync)
  @inlinable
  func write<R: ~Copyable>(intoTree: Bool, _ body: (inout WriteTransaction) throws -> R) throws -> R {
    var attempt = WriteAttempt()
    while true {
      do {
        return try writeOnce(intoTree: intoTree, body, &attempt)
      } catch {
        guard attempt.hasFilledMap else { throw error }
        try makeRoom(after: &attempt)
      }
    }
  }

  @available(*, noasync)
  @inlinable
  func writeOnce<R: ~Copyable>(
    intoTree: Bool,
    _ body: (inout WriteTransaction) throws -> R,
    _ attempt: inout WriteAttempt
  ) throws -> R {
    // The last attempt does not explain why a transaction cannot begin.
    attempt.hasFilledMap = false
    var transaction = try intoTree ? beginTreeWrite() : beginWrite()
    let core = transaction.core
    defer { attempt.record(core) }
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// Tries the next way to make room in a full map.
  @usableFromInline
  func makeRoom(after attempt: inout WriteAttempt) throws(LMDBError) {
    if !attempt.hasClearedReaders {
      attempt.hasClearedReaders = true
      // Dead processes' snapshots may be all that fills the map.
      if try clearStaleReaders() > 0 { return }
    }
    try growMap(from: attempt.mapSizeInBytes)
  }
}

/// The state of the attempts of one `write`.
@usableFromInline
struct WriteAttempt {
  @usableFromInline var hasFilledMap = false
  @usableFromInline var hasClearedReaders = false
  @usableFromInline var mapSizeInBytes = 0

  @usableFromInline
  init() {}

  /// Records why a transaction ended.
  @usableFromInline
  mutating func record(_ core: TransactionCore) {
    hasFilledMap = core.failure == .mapFull
    mapSizeInBytes = core.mapSizeInBytes
  }
}

extension LMDBEnvironment {
  /// Begins the write transaction, after waiting for the current one to end, in this process or another.
  ///
  /// It must be committed or dropped on the same thread, so it must not be kept across an `await`.
  ///
  /// Throws `reentrantWrite` if this thread has one already; `busy` if the others take longer than
  /// ``Options/writeWaitLimit``; `readOnly`, `closed`, `forked`, `panic`; `wrongThread` while a transaction that was
  /// dropped on another thread waits for its own.
  ///
  /// The corresponding C function is `mdb_txn_begin`.
  @available(*, noasync, message: "a write transaction must end on the thread it began on")
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    try checkProcess("begin write")
    if options.isReadOnly { throw LMDBError(.readOnly, operation: "begin write") }
    if let log { return try beginLogWrite(log) }
    return try beginTreeWrite()
  }

  /// Begins the write transaction of the tree, whether there is a log or not.
  @available(*, noasync)
  @usableFromInline
  func beginTreeWrite() throws(LMDBError) -> WriteTransaction {
    try checkProcess("begin write")
    let thread = currentThread()
    try beginWriteTurn(thread)
    do throws(LMDBError) {
      // A merge opens the tables of the log. From the beginning of its transaction until then, no other thread may open
      // one.
      if log != nil { try reserveDatabaseOpening("begin write", for: thread) }
      return try beginWriteInTurn(thread)
    } catch {
      if log != nil { endDatabaseOpening(by: thread) }
      state.withLock { endWriteTurn(in: &$0) }
      state.wakeAll()
      throw error
    }
  }

  /// How many write transactions this environment has begun, including those that changed nothing.
  package var begunWriteCount: Int { state.withLock(\.begunWriteCount) }

  private func beginWriteInTurn(_ thread: UInt) throws(LMDBError) -> WriteTransaction {
    while true {
      let generation = try enter("begin write") { (state) throws(LMDBError) in
        try refuseEndlessWait(thread, state)
        return state.databaseGeneration
      }
      do throws(LMDBError) {
        try lockFile?.renew()
      } catch {
        leave()
        throw error
      }
      let core = TransactionCore(environment: self, isWrite: true, thread: thread)
      core.databaseGeneration = generation
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
    if state.writer == thread || state.logWriter == thread {
      throw LMDBError(.reentrantWrite, operation: "begin write")
    }
    // Here this thread would wait for a lock that only another thread can release.
    if state.abandoned != nil { throw LMDBError(.wrongThread, operation: "begin write") }
  }
}

extension LMDBEnvironment {
  /// Begins a transaction inside a write transaction.
  func beginNested(in parent: TransactionCore) throws(LMDBError) -> WriteTransaction {
    let parentHandle = try unsafe parent.usableHandle("begin nested write")
    let core = TransactionCore(environment: self, isWrite: true, thread: parent.thread, parent: parent)
    core.databaseGeneration = parent.databaseGeneration
    if let overlay = parent.overlay {
      unsafe core.handle = parentHandle
      core.overlay = overlay
      core.gatheredBefore = overlay.write?.count ?? 0
      return WriteTransaction(environment: self, core: core)
    }
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
    if core.overlay != nil { return try commitToLog(core) }
    if core.directEnd != nil { return try commitDirectly(core) }
    // The transaction is live, and is only read.
    let transactionID = unsafe Int(mdb_txn_id(transaction))
    if core.parent == nil { forgetWriter() }
    // The handle is forgotten before it is freed, so that nothing can use it afterwards.
    unsafe core.handle = nil
    // The call frees the transaction, whatever it returns.
    let result = unsafe mdb_txn_commit(transaction)
    if result != MDB_SUCCESS { core.dropOpenedDatabases() }
    let outcome = Result { () throws(LMDBError) in
      if result != MDB_SUCCESS { try resolve(commit: transactionID, that: result, core) }
    }
    var isReaderCheckDue = false
    if core.parent == nil {
      let time = Self.clockTime
      leaveWriter(core) { isReaderCheckDue = $0.readerCheck.isDue(after: transactionID, at: time) }
    }
    try outcome.get()
    if isReaderCheckDue { checkReaders(after: transactionID) }
    guard let parent = core.parent else { return }
    parent.openedDatabases += core.openedDatabases
    parent.batched.formUnion(core.batched)
  }

  /// Aborts a transaction that has not ended; called when it is dropped.
  func abortWrite(_ core: TransactionCore) {
    // In a child of a fork the transaction and its lock are the parent's.
    guard !isForked else { return }
    // A write that has tried to continue in the tree has the turn, whether or not it got a transaction there.
    defer { if core.directEnd != nil { log?.endTurn() } }
    guard unsafe core.handle != nil else { return }
    if core.overlay != nil { return endLogWrite(core) }
    if core.parent != nil {
      core.abortHandle()
    } else if core.thread == currentThread() {
      forgetWriter()
      core.abortHandle()
      leaveWriter(core)
    } else {
      abandon(core)
    }
  }

  /// Clears the mark of the writing thread before the lock is released; after that, the mark would be the next
  /// writer's.
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
  /// The lock between processes belongs to a thread. If another thread releases it, it stays taken for ever, and
  /// liblmdb reports success.
  private func abandon(_ core: TransactionCore) {
    core.abandonedEnvironment = self
    state.withLock { state in
      assert(state.abandoned == nil && state.writer == core.thread, "two writers at once")
      state.abandoned = core
    }
  }

  /// Determines the result of a commit that failed; throws unless the commit is in the file.
  private func resolve(commit transactionID: Int, that returnCode: Int32, _ core: TransactionCore) throws(LMDBError) {
    let error = core.failed(returnCode, "commit")
    guard core.parent == nil, isPanicked else { throw error }
    // Only a failed write of the meta page has this effect. liblmdb then tries to put the old page back.
    switch hasCommitted(transactionID) {
    case true?: return
    case false?: throw error
    case nil: throw LMDBError(.commitOutcomeUnknown, operation: "commit", returnCode: returnCode)
    }
  }

  /// Whether a commit is in the file and will still be there after a power cut; `nil` if that cannot be known.
  private func hasCommitted(_ transactionID: Int) -> Bool? {
    // Without the turn, another process may have written a commit with the same number in the meantime.
    guard writeLock != nil else { return nil }
    // The disk has the contents of the file only after a successful flush. The handle is open.
    guard unsafe mdb_env_sync(handle, 1) == MDB_SUCCESS else { return nil }
    let newest = try? DataFile(inDirectory: path).reading { try MetaPage.latest(of: $0).transactionID }
    return newest.map { $0 >= transactionID }
  }

  /// Whether the environment has been closed.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether liblmdb has refused everything since a failure, so that the environment must be opened again.
  package var hasPanicked: Bool {
    do {
      return try whileOpen("look for a failure") { isPanicked }
    } catch {
      // A closed environment is not in use.
      return error.code == .panic
    }
  }

  /// Whether liblmdb has refused everything since a failure, or may have done so.
  private var isPanicked: Bool {
    var probe: OpaquePointer?
    // Only a transaction shows the failure, so one begins and ends here.
    let result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
    if result == MDB_SUCCESS { unsafe mdb_txn_abort(probe) }
    // Without a free slot the outcome stays unknown, which is better than a wrong one.
    return result == MDB_PANIC || result == MDB_READERS_FULL
  }
}

extension LMDBEnvironment {
  /// Flushes to the disk what ``Durability/noMetaSync`` has left for later.
  ///
  /// With full durability there is nothing to do. `force` flushes even where LMDB would skip it.
  ///
  /// Throws `readOnly`, `closed`, `forked`, `diskFull`, `ioFailure`.
  ///
  /// The corresponding C function is `mdb_env_sync`.
  public func sync(force: Bool = true) throws(LMDBError) {
    if options.isReadOnly { throw LMDBError(.readOnly, operation: "sync") }
    if let log { return try log.sync() }
    let result = try whileOpen("sync") { unsafe mdb_env_sync(handle, force ? 1 : 0) }
    guard result == MDB_SUCCESS else { throw explain(result, "sync") }
  }
}
