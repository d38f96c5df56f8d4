import SystemPackage

/// The order of writers where waiting has a limit.
///
/// liblmdb's lock between processes is a mutex that waits without limit: one process that is stopped in the middle of a
/// write would stop all others for as long. Trying liblmdb's lock first is not possible, and giving up a thread that waits
/// in it neither, so whoever may wait for some time only takes a lock of ours before. It is on the directory, which needs
/// no file, and so no room on a full disk, and belongs to the open descriptor: the threads of this process take turns.
extension Environment {
  private static let shortestPauseInMicroseconds: UInt32 = 100
  private static let longestPauseInMicroseconds: UInt32 = 2_000

  /// Opens the lock, if there is to be one.
  static func writeLock(of path: FilePath, options: Options) throws(LMDBError) -> FileLock? {
    guard options.writeWaitLimit != nil, !options.isReadOnly else { return nil }
    return try LMDBError.translating("open") { try FileLock(openingDirectory: path) }
  }

  /// Waits for the other threads, then for the other processes; does nothing where waiting has no limit.
  func beginWriteTurn(_ thread: UInt) throws(LMDBError) {
    guard let limit = options.writeWaitLimit, let writeLock else { return }
    let deadline = ContinuousClock.now + limit
    try waitForThreads(thread, limit)
    do throws(LMDBError) {
      try waitForProcesses(writeLock, until: deadline)
    } catch {
      state.withLock { $0.isWriteTurnTaken = false }
      state.wakeAll()
      throw error
    }
  }

  /// Lets the next one write; whoever calls this wakes those who wait.
  func endWriteTurn(in state: inout State) {
    guard state.isWriteTurnTaken else { return }
    state.isWriteTurnTaken = false
    writeLock?.release()
  }

  private func waitForThreads(_ thread: UInt, _ limit: Duration) throws(LMDBError) {
    let isTaken = try state.wait(atMost: limit) { (state) throws(LMDBError) -> Bool? in
      if state.isClosed { throw LMDBError(.closed, operation: "begin write") }
      reclaimStranded(in: &state, on: thread)
      try refuseEndlessWait(thread, state)
      guard !state.isWriteTurnTaken else { return nil }
      state.isWriteTurnTaken = true
      return true
    }
    if isTaken == nil { throw Self.longWrite }
  }

  private func waitForProcesses(_ lock: FileLock, until deadline: ContinuousClock.Instant) throws(LMDBError) {
    var pauseInMicroseconds = Self.shortestPauseInMicroseconds
    while true {
      // Together with the look, or a lock might be taken that closing has just given back for all.
      let isAcquired = try state.withLock { (state) throws(LMDBError) in
        if state.isClosed { throw LMDBError(.closed, operation: "begin write") }
        do throws(Errno) {
          return try lock.tryAcquire(.exclusive)
        } catch {
          throw LMDBError(returnCode: error.rawValue, operation: "begin write")
        }
      }
      if isAcquired { return }
      guard ContinuousClock.now < deadline else { throw Self.longWrite }
      pause(microseconds: pauseInMicroseconds)
      pauseInMicroseconds = min(pauseInMicroseconds * 2, Self.longestPauseInMicroseconds)
    }
  }

  private static var longWrite: LMDBError {
    LMDBError(
      .busy, operation: "begin write", message: "Another write has not ended in time",
      remedy: "Try again; if it stays so, a process may be stopped in the middle of a write: let it go on, or end it")
  }
}
