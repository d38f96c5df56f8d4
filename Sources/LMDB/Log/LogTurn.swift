import TallySystem

/// The turn to append (L1): one thread of one process at a time.
extension LogStore {
  /// Waits for the other threads, then for the other processes.
  ///
  /// Throws `closed`; `busy` if they take longer than the limit.
  func takeTurn(_ operation: String) throws(LMDBError) {
    let deadline = ContinuousClock.Instant.after(options.waitLimit)
    try takeTurnOfThreads(operation, waitingAtMost: options.waitLimit)
    do throws(LMDBError) {
      try waitForProcesses(operation, until: deadline)
    } catch {
      endTurnOfThread()
      throw error
    }
  }

  /// Waits for the other threads of this process.
  func takeTurnOfThreads(_ operation: String, waitingAtMost limit: Duration) throws(LMDBError) {
    let isTaken = try state.wait(atMost: limit) { (state) throws(LMDBError) -> Bool? in
      if state.isClosed || state.isEnding && state.merger == currentThread() {
        throw LMDBError(.closed, operation: operation)
      }
      guard !state.isTurnTaken else { return nil }
      state.isTurnTaken = true
      return true
    }
    if isTaken == nil { throw LMDBEnvironment.longWrite }
  }

  private func waitForProcesses(_ operation: String, until deadline: ContinuousClock.Instant) throws(LMDBError) {
    let courtesyEnd = state.withLock { state in
      defer { state.courtesyEnd = nil }
      return state.courtesyEnd
    }
    let isTaken = try LMDBEnvironment.waitForTurn(share.turn, after: courtesyEnd, until: deadline) {
      () throws(LMDBError) in
      try LMDBError.translating(operation) { try share.turn.tryAcquire(.exclusive) }
    }
    if !isTaken { throw LMDBEnvironment.longWrite }
  }

  func endTurn() {
    let isAwaited = share.turn.isAwaitedByOthers
    share.turn.release()
    if isAwaited { state.withLock { $0.courtesyEnd = LMDBEnvironment.clockTime + LMDBEnvironment.courtesy } }
    endTurnOfThread()
  }

  func endTurnOfThread() {
    state.withLock { $0.isTurnTaken = false }
    state.wakeAll()
  }
}
