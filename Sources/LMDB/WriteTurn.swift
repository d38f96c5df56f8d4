import SystemPackage
import TallySystem

/// The order of writers where waiting has a limit.
///
/// liblmdb's lock between processes is a mutex that waits without limit: one process that is stopped in the middle of a
/// write would stop all others for just as long. liblmdb cannot try its lock, and a thread that waits in it cannot give
/// up, so a writer that may wait only for a limited time takes a `FileLock` first. It locks the directory, so it needs
/// no file, and no room on a full disk.
///
/// The lock alone is not enough: it belongs to the open descriptor, which the threads of this process share, so it
/// keeps out other processes only. The flag in the state keeps out the other threads. The lock that prevents replacing
/// a store's file needs no flag: it is opened once for each open store, and held as long as the store is open.
extension LMDBEnvironment {
  private static let pausesInMicroseconds: ClosedRange<UInt32> = 40...150

  /// Opens the lock, if the options need one.
  static func writeLock(of path: FilePath, options: Options) throws(LMDBError) -> FileLock? {
    guard options.writeWaitLimit != nil, !options.isReadOnly else { return nil }
    return try LMDBError.translating("open") { try FileLock(openingDirectory: path) }
  }

  /// Waits for the other threads, then for the other processes; does nothing where waiting has no limit.
  func beginWriteTurn(_ thread: UInt) throws(LMDBError) {
    guard let limit = options.writeWaitLimit, let writeLock else { return }
    let deadline = ContinuousClock.Instant.after(limit)
    try waitForThreads(thread, limit)
    do throws(LMDBError) {
      try waitForProcesses(writeLock, until: deadline)
    } catch {
      state.withLock { $0.isWriteTurnTaken = false }
      state.wakeAll()
      throw error
    }
  }

  /// Lets the next writer write; the caller wakes the threads that wait.
  func endWriteTurn(in state: inout State) {
    guard state.isWriteTurnTaken else { return }
    assert(writeLock != nil, "a turn without a lock")
    state.isWriteTurnTaken = false
    guard let writeLock else { return }
    if writeLock.isAwaitedByOthers { state.courtesyEnd = Self.clockTime + Self.courtesy }
    writeLock.release()
  }

  private static let clockStart = ContinuousClock.now
  static var clockTime: Duration { clockStart.duration(to: .now) }

  /// How long a process lets others go first: longer than the longest pause of a process that waits for the tree, and
  /// longer than one that waits for the log takes to wake.
  static let courtesy = Duration.microseconds(200)

  private func waitForThreads(_ thread: UInt, _ limit: Duration) throws(LMDBError) {
    let isAcquired = try state.wait(atMost: limit) { (state) throws(LMDBError) -> Bool? in
      if state.isClosed { throw LMDBError(.closed, operation: "begin write") }
      reclaimAbandoned(in: &state, on: thread)
      try refuseEndlessWait(thread, state)
      guard !state.isWriteTurnTaken else { return nil }
      state.isWriteTurnTaken = true
      return true
    }
    if isAcquired == nil { throw Self.longWrite }
  }

  /// Takes the lock between processes; while it waits, it marks itself as waiting.
  ///
  /// It waits a moment first if another process waited for the end of the last turn: the lock has no queue, and a
  /// process in a loop of writes would take it again before the other one has looked.
  private func waitForProcesses(_ lock: FileLock, until deadline: ContinuousClock.Instant) throws(LMDBError) {
    let courtesyEnd = state.withLock { state in
      defer { state.courtesyEnd = nil }
      return state.courtesyEnd
    }
    let rest = courtesyEnd.map { $0 - Self.clockTime } ?? .zero
    if rest > .zero { pause(microseconds: UInt32(rest / .microseconds(1))) }
    var (growing, isMarked) = (GrowingPause(microseconds: Self.pausesInMicroseconds), false)
    defer { if isMarked { lock.markWaiting(false) } }
    let isAcquired = try waitForResult(
      until: deadline,
      pausing: { _ in
        if !isMarked { lock.markWaiting(true) }
        isMarked = true
        growing.pass()
      }, { () throws(LMDBError) -> Bool? in try tryAcquire(lock) ? true : nil })
    if isAcquired == nil { throw Self.longWrite }
  }

  private func tryAcquire(_ lock: FileLock) throws(LMDBError) -> Bool {
    // The check and the acquisition are under one lock; otherwise a turn might be taken that closing has just given up.
    try state.withLock { (state) throws(LMDBError) in
      if state.isClosed { throw LMDBError(.closed, operation: "begin write") }
      return try LMDBError.translating("begin write") { try lock.tryAcquire(.exclusive) }
    }
  }

  static var longWrite: LMDBError {
    LMDBError(
      .busy, operation: "begin write", message: "Another write has not ended in time",
      remedy: "Try again; if it keeps happening, a process may be stopped in the middle of a write: resume or end it")
  }
}
