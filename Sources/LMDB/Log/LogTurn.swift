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

  /// How long this process sleeps before it looks again: nobody wakes it if the process that had the turn was killed.
  private static let longestSleep = Duration.milliseconds(5)

  private func waitForProcesses(_ operation: String, until deadline: ContinuousClock.Instant) throws(LMDBError) {
    let yielded = state.withLock { state in
      defer { state.yieldedTurn = nil }
      return state.yieldedTurn
    }
    // A process in a loop of writes would otherwise take the turn again before another one is awake.
    if let yielded { share.waitForEndOfTurn(after: yielded, atMost: LMDBEnvironment.courtesy) }
    while true {
      let ended = share.endedTurns
      let isTaken = try LMDBError.translating(operation) { try share.turn.tryAcquire(.exclusive) }
      if isTaken { return }
      let rest = deadline - .now
      guard rest > .zero else { throw LMDBEnvironment.longWrite }
      share.waitForEndOfTurn(after: ended, atMost: min(rest, Self.longestSleep))
    }
  }

  func endTurn() {
    if let ended = share.endTurn() { state.withLock { $0.yieldedTurn = ended } }
    endTurnOfThread()
  }

  func endTurnOfThread() {
    state.withLock { $0.isTurnTaken = false }
    state.wakeAll()
  }
}
