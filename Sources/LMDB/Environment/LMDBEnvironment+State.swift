import TallySystem

extension LMDBEnvironment {
  /// What the environment knows about its own transactions.
  struct State {
    var isClosed = false
    /// Whether the system refused the map when it was to be moved: only closing is left.
    var hasLostMap = false
    /// Set while somebody waits for the last transaction to end, to move the map or to close; new ones wait.
    var isDraining = false
    /// Transactions and calls inside liblmdb that need the map to stay where it is.
    var liveCount = 0
    /// Whether some thread writes or waits for other processes to end writing, where ``Options/writeWaitLimit`` is set.
    var isWriteTurnTaken = false
    /// When this process may write again, if another one was waiting when its last turn ended: the time since
    /// `LMDBEnvironment.clockStart`.
    ///
    /// The size of a `ContinuousClock.Instant` is known at run time only, and every read would pay for that.
    var courtesyEnd: Duration?
    /// The thread that holds the write lock.
    var writer: UInt?
    /// How many write transactions have begun.
    var begunWriteCount = 0
    /// A write transaction that was dropped on a foreign thread, and waits for its own.
    var stranded: TransactionCore?
    /// The thread that has an uncommitted handle of a database.
    var databaseOpener: UInt?
    /// The thread of ``groupCommit(_:)``, once it has been called.
    var writeQueue: WriteQueue<WriteTransaction>?
    /// Every reader with a slot, live or idle.
    var readers: [TransactionCore] = []
    /// Those that wait to be used again: beginning one of these needs no lock between processes.
    var idle: [TransactionCore] = []
    var readerLook = ReaderLook()

    /// Whether the thread has a live transaction: making it wait for the end of all would be waiting for itself.
    func hasTransaction(on thread: UInt) -> Bool {
      writer == thread || readers.contains { $0.isLive && $0.thread == thread }
    }
  }

  /// How many idle readers keep their slot.
  ///
  /// More readers than this at once still work, at the price of a new slot each.
  static let idleReadersLimit = 16

  /// Throws if the environment belongs to another process; the first thing every call does.
  func checkProcess(_ operation: String) throws(LMDBError) {
    if isForked { throw LMDBError(.forked, operation: operation) }
  }

  /// Runs a body that needs an open environment whose map stays where it is, as every call into liblmdb does.
  func whileOpen<R>(_ operation: String, _ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
    try checkProcess(operation)
    try enter(operation) { _ in }
    defer { leave() }
    return try body()
  }

  /// Counts a transaction or call in, after waiting while somebody drains the environment.
  func enter<R>(_ operation: String, _ body: (inout State) throws(LMDBError) -> R) throws(LMDBError) -> R {
    let thread = currentThread()
    let entered = try state.wait(atMost: options.waitLimit) { (state) throws(LMDBError) -> R? in
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      if state.hasLostMap { throw LMDBError(.panic, operation: operation) }
      reclaimStranded(in: &state, on: thread)
      if state.isDraining && !state.hasTransaction(on: thread) { return nil }
      let result = try body(&state)
      state.liveCount += 1
      return result
    }
    guard let entered else { throw LMDBError(.busy, operation: operation) }
    return entered
  }

  /// Counts a transaction or call out.
  func leave(_ change: (inout State) -> Void = { _ in }) {
    let isAwaited = state.withLock { state in
      change(&state)
      assert(state.liveCount > 0, "more have left than entered")
      state.liveCount -= 1
      return state.isDraining
    }
    if isAwaited { state.wakeAll() }
  }

  /// Aborts a write transaction that was dropped elsewhere, now that its own thread is here.
  func reclaimStranded(in state: inout State, on thread: UInt) {
    guard let stranded = state.stranded, stranded.thread == thread else { return }
    assert(state.writer == thread && state.liveCount > 0, "a stranded transaction is no longer live")
    state.stranded = nil
    state.writer = nil
    state.liveCount -= 1
    if state.databaseOpener == thread { state.databaseOpener = nil }
    stranded.abortHandle()
    endWriteTurn(in: &state)
    // Others may wait for the end of this transaction, or for their turn to open databases; the lock is held here.
    self.state.wakeAll()
  }
}
