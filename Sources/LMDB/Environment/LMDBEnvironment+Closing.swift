import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Closes the environment; later calls throw `closed`, except this one, which then does nothing.
  ///
  /// Waits for the end of this process's transactions, whose memory is the map, and keeps new ones waiting meanwhile.
  /// What ``Durability/noMetaSync`` has left for later is flushed to the disk first.
  ///
  /// Throws `busy`, and closes nothing, at once if this thread has a live transaction itself, or if the others take longer
  /// than the limit; `diskFull` or `ioFailure`, and closes nothing, if flushing fails; `forked`.
  ///
  /// The corresponding C function is `mdb_env_close`.
  public func close(waitingAtMost limit: Duration = .zero) throws(LMDBError) {
    do throws(LMDBError) {
      try drained("close", waitingAtMost: limit) { (state) throws(LMDBError) in
        try flushBeforeClosing()
        state.isClosed = true
        // Of a thread that has its turn and waits with the other new ones: it must not keep the lock after this.
        endWriteTurn(in: &state)
      }
    } catch {
      guard error.code == .closed else { throw error }
      return
    }
    closeHandle()
  }

  private func flushBeforeClosing() throws(LMDBError) {
    guard options.durability == .noMetaSync, !options.isReadOnly else { return }
    // Nothing else is inside liblmdb, and the handle is open until `closeHandle`.
    let result = unsafe mdb_env_sync(handle, 1)
    guard result == MDB_SUCCESS else { throw explain(result, "close") }
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
