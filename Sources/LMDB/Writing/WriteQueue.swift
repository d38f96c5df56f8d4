import Foundation
import TallySystem

/// The thread that commits asynchronous writes, many in one commit, and flushes commits that are not durable yet.
///
/// While one commit is on its way to the disk, the writes that arrive wait in the queue; the next commit takes all of
/// them. A single write never waits for others. If the last commit served several callers, the next one gives them a
/// moment to return: it would otherwise leave with the first of them, and the others would wait for two flushes instead
/// of one. A write transaction must begin and end on one thread, so the queue has a thread of its own.
package final class WriteQueue<Transaction: ~Copyable>: @unchecked Sendable {
  package typealias Job = WriteJob<Transaction>

  /// What the thread does.
  package struct Work: Sendable {
    /// What a debugger shows; at most 15 bytes.
    let threadName: String
    /// Runs the writes in one transaction and commits it, or throws and changes nothing.
    let commit: @Sendable ([Job]) throws -> Void
    /// Whether an error of `commit` is a lack of room, which some of the writes alone may not meet.
    let isLackOfRoom: @Sendable (any Error) -> Bool
    /// How long after a commit `flush` runs; `nil` for commits that need no flush.
    let flushInterval: Duration?
    /// Flushes the commits; runs again after an interval if it throws.
    let flush: @Sendable () throws -> Void

    package init(
      threadName: String, commit: @escaping @Sendable ([Job]) throws -> Void,
      isLackOfRoom: @escaping @Sendable (any Error) -> Bool,
      flushInterval: Duration? = nil, flush: @escaping @Sendable () throws -> Void = {}
    ) {
      (self.threadName, self.commit, self.isLackOfRoom) = (threadName, commit, isLackOfRoom)
      (self.flushInterval, self.flush) = (flushInterval, flush)
    }
  }

  private struct State {
    var waiting: [Job] = []
    /// When the flush of a commit is due; `nil` if there is none.
    var flushTime: ContinuousClock.Instant?
    var thread: Thread?
    var isFinishing = false
    /// Writes that came while the queue was finishing, and wait until it is known whether it goes on.
    var late: [Job] = []
    /// The error of later writes, once the queue has ended.
    var refusal: (any Error)?
    /// How many writes the thread waits for; more than one only while it waits for callers to return.
    var wantedCount = 1
  }

  // Constant.
  private let work: Work
  // Synchronises itself.
  private let state = Monitor(State())

  // Used by the thread only.
  private var lastCommit = (writeCount: 0, duration: Duration.zero)

  package init(_ work: Work) {
    self.work = work
  }

  /// Waits for a write's turn and its commit.
  package func run<R: Sendable>(_ body: @escaping @Sendable (inout Transaction) throws -> R) async throws -> R {
    let result = Monitor<R?>(nil)
    let job = Job { transaction in
      let value = try body(&transaction)
      // That of a later run replaces it.
      result.withLock { $0 = value }
    }
    try await wait(for: job)
    // A write that was not refused has run.
    guard let value = result.withLock({ $0 }) else { throw LMDBError.closedBeforeWrite }
    return value
  }

  private func wait(for job: Job) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        job.await(continuation)
        enqueue(job)
      }
    } onCancel: {
      job.cancel()
    }
  }

  /// Accepts writes again, including those that came meanwhile.
  package func resume() {
    state.withLock { state in
      state.isFinishing = false
      state.refusal = nil
      state.waiting += state.late
      state.late = []
      if state.flushTime != nil || !state.waiting.isEmpty { startThread(&state) }
    }
    state.wakeAll()
  }

  /// Refuses the writes that came meanwhile, and all later ones.
  package func refuse(with error: any Error) {
    let refused = state.withLock { state in
      assert(state.isFinishing, "the queue still accepts writes")
      state.refusal = error
      // Who ends the queue flushes.
      state.flushTime = nil
      defer { state.late = [] }
      return state.late
    }
    for job in refused { job.finish(failure: error) }
  }

  /// Ensures that a commit is flushed in time, where commits need it.
  package func noteCommit() {
    guard let interval = work.flushInterval else { return }
    let isNew = state.withLock { state in
      guard state.flushTime == nil else { return false }
      state.flushTime = .now + interval
      // Closing flushes; if it fails, `resume` continues from here.
      if !state.isFinishing { startThread(&state) }
      return true
    }
    if isNew { state.wakeAll() }
  }

  /// Commits the waiting writes and ends the thread; later writes wait for `resume` or `refuse`.
  ///
  /// - Parameter deadline: how long to wait; `nil` for no limit.
  /// - Returns: false if the deadline passed while the thread was still working.
  package func finish(before deadline: ContinuousClock.Instant?) -> Bool {
    state.withLock { $0.isFinishing = true }
    state.wakeAll()
    return state.wait(atMost: deadline.map { $0 - .now } ?? .longestWait) { state in
      // A closure that the thread itself runs may release the owner; the thread then ends after that.
      state.thread == nil || state.thread === Thread.current ? true : nil
    } ?? false
  }

  private func enqueue(_ job: Job) {
    let (answer, isAwaited) = state.withLock { state -> ((any Error)?, Bool) in
      if state.isFinishing {
        if state.refusal == nil { state.late.append(job) }
        return (state.refusal, false)
      }
      state.waiting.append(job)
      if state.thread == nil { startThread(&state) }
      // Waking the thread for each of the writes it waits for would cost more than the wait saves.
      return (nil, state.waiting.count >= state.wantedCount)
    }
    if isAwaited { state.wakeAll() }
    if let answer { job.finish(failure: answer) }
  }

  /// Starts the thread unless it runs; the caller wakes it.
  private func startThread(_ state: inout State) {
    guard state.thread == nil else { return }
    let thread = Thread { [self] in
      // On Linux `Thread` loses a name that it is given from outside, and one from inside if the thread is quick.
      nameCurrentThread(work.threadName)
      loop()
    }
    state.thread = thread
    thread.start()
  }

  /// The thread's loop; ends when the queue does, or when there has been nothing to do for a while.
  private func loop() {
    while let batch = nextBatch() {
      if batch.isEmpty { flush() } else { commit(batch) }
    }
  }

  /// The thread's next step.
  private enum Step {
    case commit, flush, end
    /// The time to which the thread waits has changed.
    case wait
  }

  /// Waits for work: some writes, or none when a flush is due; `nil` ends the thread.
  private func nextBatch() -> [Job]? {
    let idleTime = ContinuousClock.now + Limits.idle
    while true {
      let time = state.withLock { $0.flushTime } ?? idleTime
      let step = state.wait(atMost: time - .now) { nextStep(&$0, idleTime: idleTime, waitingUntil: time) }
      switch step ?? .wait {
      case .commit: return takeBatch()
      case .flush: return []
      case .end: return nil
      case .wait: continue
      }
    }
  }

  /// The thread's next step; `nil` to wait until a time.
  private func nextStep(
    _ state: inout State, idleTime: ContinuousClock.Instant, waitingUntil time: ContinuousClock.Instant
  ) -> Step? {
    // Closing flushes; flushing here would retry forever if it fails.
    let isDone = state.isFinishing && state.waiting.isEmpty
    // The flush comes first: an endless stream of writes must not delay it.
    if let flushTime = state.flushTime, flushTime <= .now, !isDone { return .flush }
    if !state.waiting.isEmpty { return .commit }
    if isDone || (state.flushTime == nil && idleTime <= .now) {
      state.thread = nil
      self.state.wakeAll()
      return .end
    }
    return (state.flushTime ?? idleTime) == time ? nil : .wait
  }

  /// Takes the next writes, after giving the callers of the last commit a moment to return.
  private func takeBatch() -> [Job] {
    if lastCommit.writeCount > 1 {
      state.withLock { $0.wantedCount = min(lastCommit.writeCount, Limits.batchCount) }
      state.wait(atMost: lastCommit.duration * Limits.companyWait) { state in
        state.waiting.count >= state.wantedCount || state.isFinishing ? () : nil
      }
    }
    return state.withLock { state in
      state.wantedCount = 1
      let batch = state.waiting.prefix(Limits.batchCount)
      state.waiting.removeFirst(batch.count)
      return Array(batch)
    }
  }

  private func commit(_ batch: [Job]) {
    let jobs = batch.filter { $0.begin() }
    if !jobs.isEmpty { commitBegun(jobs) }
  }

  private func commitBegun(_ jobs: [Job]) {
    assert(state.withLock { $0.thread === Thread.current }, "commits belong to the queue's thread")
    let start = ContinuousClock.now
    do {
      try work.commit(jobs)
      noteCommit()
      lastCommit = (jobs.count, .now - start)
      for job in jobs { job.finish(failure: nil) }
    } catch let error where jobs.count > 1 && work.isLackOfRoom(error) {
      // Writes that free space, and those that need little, must not fail with the others; each has its own outcome.
      for job in jobs { commitBegun([job]) }
    } catch {
      for job in jobs { job.finish(failure: error) }
    }
  }

  private func flush() {
    state.withLock { $0.flushTime = nil }
    do {
      try work.flush()
    } catch {
      // Never at once: writes, and the end of the queue, have their turn first. Writes committed meanwhile wait too:
      // with an interval of zero, their own date would mean at once.
      state.withLock { $0.flushTime = .now + (work.flushInterval ?? .zero) + Limits.flushPause }
    }
  }
}

private enum Limits {
  /// The most writes in one commit, so that an endless stream of them does not delay the first one's answer.
  static let batchCount = 256

  /// How long the thread waits for more work before it ends: an environment that is only read has no thread.
  static let idle = Duration.seconds(5)

  /// How long a commit waits for the callers of the last one, as a fraction of the time that one took.
  static let companyWait = 0.25

  /// The shortest time before a failed flush is tried again.
  static let flushPause = Duration.milliseconds(100)
}

extension WriteQueue where Transaction: ~Copyable {
  /// How many writes wait for the next commit; for tests.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether new writes wait until it is known whether the queue goes on; for tests.
  package var isEnding: Bool { state.withLock { $0.isFinishing } }

  /// How many such writes wait; for tests.
  package var lateCount: Int { state.withLock { $0.late.count } }

  /// When the flush of a commit is due, if one waits for it; for tests.
  package var flushTime: ContinuousClock.Instant? { state.withLock { $0.flushTime } }

  /// Whether a commit waits for its flush; for tests.
  package var hasUnflushedCommit: Bool { flushTime != nil }
}

extension LMDBError {
  static var closedBeforeWrite: LMDBError { LMDBError(.closed, operation: "write") }

  /// Whether the disk or the map is full.
  package var isLackOfRoom: Bool { code == .mapFull || code == .diskFull }
}
