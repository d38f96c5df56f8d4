import TallySystem

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
      reclaimStranded(in: &state, on: thread)
      guard !state.hasTransaction(on: thread) else { throw LMDBError(.busy, operation: operation) }
      guard !state.isDraining else { return nil }
      state.isDraining = true
      return true
    }
    if reserved == nil { throw LMDBError(.busy, operation: operation) }
  }
}
