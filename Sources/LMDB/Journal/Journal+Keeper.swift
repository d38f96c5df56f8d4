import Foundation
import TallySystem

// The thread that flushes relaxed commits and makes checkpoints; it runs while the file is not clean.

extension Journal {
  /// Starts the thread unless it runs; the environment's owner stops it before the environment is closed.
  func startKeeper(_ environment: LMDBEnvironment) {
    guard options.hasKeeper else { return }
    let isNew = state.withLock { state in
      if state.isKeeperRunning || state.isStopping { return false }
      state.isKeeperRunning = true
      return true
    }
    guard isNew else { return }
    // The environment's owner keeps it alive; the thread alone must not.
    let thread = Thread { [self, weak environment] in
      nameCurrentThread("lmdb.journal")
      while true {
        guard waitForWork(), let environment else { return endKeeper() }
        guard keep(environment) else { return state.wakeAll() }
      }
    }
    thread.start()
  }

  /// Waits for the end of the thread's work; it does not begin again.
  func stopKeeper() {
    state.withLock { $0.isStopping = true }
    state.wakeAll()
    state.wait { state in
      // Without an environment it ends by itself.
      state.isKeeperRunning && !Thread.current.isKeeper ? nil : ()
    }
  }

  /// Goes on, as the environment has not been closed after all.
  func resumeKeeper(_ environment: LMDBEnvironment) {
    state.withLock { $0.isStopping = false }
    startKeeper(environment)
  }

  /// Waits until there may be something to do; false if the thread is to end.
  private func waitForWork() -> Bool {
    Thread.current.threadDictionary[Thread.keeperKey] = true
    state.wait(atMost: options.flushInterval) { $0.isStopping || $0.isCheckpointDue ? () : nil }
    return state.withLock { !$0.isStopping }
  }

  private func endKeeper() {
    state.withLock { $0.isKeeperRunning = false }
    state.wakeAll()
  }

  /// Does the next task; false if there will be none until the next commit, which then starts the thread again.
  private func keep(_ environment: LMDBEnvironment) -> Bool {
    do {
      if options.flushesRecords { try flushRecords() }
      let newest = UInt64(try environment.lastTransactionID())
      let header = try published().header
      switch state.withLock({ nextTask(header, newest, &$0) }) {
      case .checkpoint: try checkpoint(.routine, environment, waitingAtMost: Self.longestWait)
      case .cleaning: try checkpoint(.cleaning, environment, waitingAtMost: Self.longestWait)
      case .releasingPin: try releaseIdlePin(environment)
      case .nothing: break
      case .end: return false
      }
      return true
    } catch {
      // A full disk or a long write of another process may pass; after a failed flush nothing is left to do.
      pause(microseconds: Self.pauseAfterFailureInMicroseconds)
      guard isFailed else { return true }
      endKeeper()
      return false
    }
  }

  private static let pauseAfterFailureInMicroseconds: UInt32 = 20_000
  /// How long the thread waits for a writer; closing may have to wait for the thread.
  private static let longestWait = Duration.seconds(1)

  private enum Task {
    case checkpoint, cleaning, releasingPin, nothing, end
  }

  /// The next task, decided under the lock under which a commit would start the thread again.
  private func nextTask(_ header: JournalHeader, _ newest: UInt64, _ state: inout State) -> Task {
    let isQuiet = state.seenTransaction == newest
    state.seenTransaction = newest
    let now = ContinuousClock.now
    guard header.state == .dirty else {
      if state.pinnedTransaction != nil { return .releasingPin }
      if state.hasUnflushedRecord && options.flushesRecords { return .nothing }
      state.isKeeperRunning = false
      return .end
    }
    let isBehind = newest > header.steadyTransaction && state.lastCommit > state.lastCheckpoint
    if state.isCheckpointDue || (isBehind && now - state.lastCheckpoint >= options.checkpointInterval) {
      return .checkpoint
    }
    let pause = now - state.lastCommit
    if isQuiet, let interval = options.cleanInterval, pause >= interval { return .cleaning }
    let isPinOld = state.pinnedTransaction.map { $0 < header.steadyTransaction } ?? false
    return isPinOld && pause >= options.checkpointInterval ? .releasingPin : .nothing
  }

  /// Flushes the records of relaxed commits; with force, also those that other processes may have left.
  func flushRecords(force: Bool = false) throws {
    let isNeeded = state.withLock { state in
      defer { state.hasUnflushedRecord = false }
      return state.hasUnflushedRecord
    }
    if isNeeded || force { try flushing(file.flush) }
  }

  /// Ends a pin that only holds up others, whose steady commit is newer, or that a clean file does not need.
  private func releaseIdlePin(_ environment: LMDBEnvironment) throws {
    // Within the write lock: a transaction of this process that has begun relies on the pin.
    let turn = try environment.beginPlainWrite(waitingAtMost: Self.longestWait)
    let header = try published().header
    let isOld = state.withLock { $0.pinnedTransaction.map { $0 < header.steadyTransaction } ?? false }
    if isOld || header.state == .clean { unsafe setPin(nil) }
    turn.abort()
  }
}

extension Thread {
  fileprivate static let keeperKey = "lmdb.journal"

  /// Whether this is some environment's keeper.
  fileprivate var isKeeper: Bool { threadDictionary[Self.keeperKey] != nil }
}
