import TallySystem

/// The turn to append (L1): one thread of one process at a time.
extension LogStore {
  private static let pausesInMicroseconds: ClosedRange<UInt32> = 20...150
  /// Longer than the longest pause of a process that waits.
  private static let courtesy = Duration.microseconds(200)

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
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      guard !state.isTurnTaken else { return nil }
      state.isTurnTaken = true
      return true
    }
    if isTaken == nil { throw Self.longWrite(operation) }
  }

  private func waitForProcesses(_ operation: String, until deadline: ContinuousClock.Instant) throws(LMDBError) {
    letOthersFirst()
    var (growing, isMarked) = (GrowingPause(microseconds: Self.pausesInMicroseconds), false)
    defer { if isMarked { share.turn.markWaiting(false) } }
    let isTaken = try waitForResult(
      until: deadline,
      pausing: { _ in
        if !isMarked { share.turn.markWaiting(true) }
        isMarked = true
        growing.pass()
      },
      { () throws(LMDBError) -> Bool? in
        try LMDBError.translating(operation) { try share.turn.tryAcquire(.exclusive) ? true : nil }
      })
    if isTaken == nil { throw Self.longWrite(operation) }
  }

  /// Waits a moment if another process waited for the end of the last turn.
  ///
  /// The lock has no queue, and a process in a loop of writes would take it again before the other one has looked.
  private func letOthersFirst() {
    let end = state.withLock { state in
      defer { state.courtesyEnd = nil }
      return state.courtesyEnd
    }
    guard let end else { return }
    let rest = end - LMDBEnvironment.clockTime
    if rest > .zero { pause(microseconds: UInt32(rest / .microseconds(1))) }
  }

  func endTurn() {
    let isAwaited = share.turn.isAwaitedByOthers
    share.turn.release()
    if isAwaited { state.withLock { $0.courtesyEnd = LMDBEnvironment.clockTime + Self.courtesy } }
    endTurnOfThread()
  }

  func endTurnOfThread() {
    state.withLock { $0.isTurnTaken = false }
    state.wakeAll()
  }

  private static func longWrite(_ operation: String) -> LMDBError {
    LMDBError(
      .busy, operation: operation, message: "Another write has not ended in time",
      remedy: "Try again; if it keeps happening, a process may be stopped in the middle of a write: resume or end it")
  }
}
