import CLMDB

extension Environment {
  /// Closes the environment; later calls throw `closed`, but for this one, which then does nothing.
  ///
  /// Throws `busy`, and closes nothing, while transactions are live: their memory is the map.
  ///
  /// The corresponding C function is `mdb_env_close`.
  public func close() throws(LMDBError) {
    try checkProcess("close")
    let thread = currentThread()
    let isOpen = try state.withLock { (state) throws(LMDBError) in
      if state.isClosed { return false }
      reclaimStranded(in: &state, on: thread)
      guard state.liveCount == 0, !state.isRemapping else { throw LMDBError(.busy, operation: "close") }
      state.isClosed = true
      return true
    }
    if isOpen { closeHandle() }
  }

  /// Whether the calling thread is inside a transaction: to wait for the end of all would be to wait for itself.
  package var isInUseByThisThread: Bool {
    state.withLock { $0.hasTransaction(on: currentThread()) }
  }

  /// Frees what liblmdb holds; nothing is live and `isClosed` keeps everybody out.
  func closeHandle() {
    let idle = state.withLock { state in
      defer {
        state.idle = []
        state.readers = []
      }
      return state.idle
    }
    for reader in idle { reader.abortHandle() }
    // Nothing of the environment is live, and `isClosed` keeps it so.
    unsafe mdb_env_close(handle)
    EnvironmentRegistry.leave(identity)
  }
}
