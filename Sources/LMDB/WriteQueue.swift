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

  /// The work of the thread.
  package struct Work: Sendable {
    /// The name that a debugger shows; at most 15 bytes.
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
    /// Writes that came while the queue was finishing, and wait until it is known whether it resumes.
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
      // The result of a later run replaces it.
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

  /// Accepts writes again, including those that came while the queue was finishing.
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

  /// Refuses the writes that came while the queue was finishing, and all later ones.
  package func refuse(with error: any Error) {
    let refused = state.withLock { state in
      assert(state.isFinishing, "the queue still accepts writes")
      state.refusal = error
      // The caller that ends the queue flushes.
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
    /// The time until which the thread waits has changed.
    case wait
  }

  /// Waits for work: some writes, or none when a flush is due; `nil` ends the thread.
  private func nextBatch() -> [Job]? {
    let idleTime = ContinuousClock.now + Limits.idle
    while true {
      let time = state.withLock { $0.flushTime } ?? idleTime
      let step = state.wait(atMost: time - .now) { nextStep(&$0, idleTime: idleTime, waitingUntil: time) }
      switch step ?? .wait {
      case .commit: return dequeueBatch()
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

  /// Removes and returns the next writes, after giving the callers of the last commit a moment to return.
  private func dequeueBatch() -> [Job] {
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
      // The flush is never repeated at once: writes, and the end of the queue, have their turn first. Writes committed
      // in the meantime wait as well, because with an interval of zero their own date would mean at once.
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

  /// Whether new writes wait until it is known whether the queue resumes; for tests.
  package var isEnding: Bool { state.withLock { $0.isFinishing } }

  /// How many writes came while the queue was finishing; for tests.
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

/// One asynchronous write and the caller who waits for it.
///
/// The closure stores its result itself: a queue of writes of many types would spend a tenth of a create only on
/// finding out how large each result is.
package final class WriteJob<Transaction: ~Copyable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Void, any Error>?
    var result: Result<Void, any Error>?
    var isRunning = false
    var isCancelled = false
  }

  private let body: @Sendable (inout Transaction) throws -> Void
  private let state = Monitor(State())

  init(_ body: @escaping @Sendable (inout Transaction) throws -> Void) {
    self.body = body
  }

  func await(_ continuation: CheckedContinuation<Void, any Error>) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.continuation = continuation }
      return state.isCancelled
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  /// Answers the caller at once unless the closure has begun.
  func cancel() {
    let continuation = state.withLock { state in
      guard !state.isRunning else { return nil as CheckedContinuation<Void, any Error>? }
      state.isCancelled = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(throwing: CancellationError())
  }

  /// Marks the job as running; false if it was cancelled first, and therefore answered already.
  func begin() -> Bool {
    state.withLock { state in
      state.isRunning = !state.isCancelled
      return state.isRunning
    }
  }

  /// Runs the closure; may happen again.
  package func run(in transaction: inout Transaction) throws {
    assert(state.withLock { $0.isRunning }, "a job that has not begun")
    try body(&transaction)
    state.withLock { $0.result = .success(()) }
  }

  /// Stores the closure's own failure as the result.
  package func reject(_ error: any Error) {
    state.withLock { $0.result = .failure(error) }
  }

  /// Answers the caller: with the failure of the commit, or else with the closure's own.
  func finish(failure: (any Error)?) {
    let (continuation, result) = state.withLock { state in
      defer { state.continuation = nil }
      return (state.continuation, state.result)
    }
    switch (failure, result) {
    // A closure's own error says more than the commit's, unless the storage failed in both.
    case (let failure?, .failure(let own)?): continuation?.resume(throwing: own is LMDBError ? failure : own)
    case (let failure?, _): continuation?.resume(throwing: failure)
    case (nil, let result?): continuation?.resume(with: result)
    case (nil, nil): continuation?.resume(throwing: LMDBError.closedBeforeWrite)
    }
  }
}

extension LMDBEnvironment {
  /// Runs a body with the write transaction without blocking the thread; concurrent calls share one commit, and so one
  /// flush of the disk.
  ///
  /// ```swift
  /// try await environment.groupCommit { transaction in
  ///   try names.put("Ada", forKey: 1, in: &transaction)
  /// }
  /// ```
  ///
  /// The calls take effect in their order, on a thread that the environment keeps while there are any. A body that throws
  /// undoes only its own changes. It may run again, when the map has grown or another body of the same commit has failed,
  /// so it must have no other effects. A call that is cancelled before its turn throws `CancellationError` and changes
  /// nothing; later, cancelling has no effect. ``close(waitingAtMost:)`` does not wait for calls whose turn has not come:
  /// they throw `closed`.
  ///
  /// Throws what ``write(_:)`` throws.
  ///
  /// The corresponding C functions are `mdb_txn_begin` and `mdb_txn_commit`, for several calls at once.
  @discardableResult
  public func groupCommit<R: Sendable>(
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    try checkProcess("write")
    return try await writeQueue.run(body)
  }

  private var writeQueue: WriteQueue<WriteTransaction> {
    state.withLock { state in
      if let queue = state.writeQueue { return queue }
      let queue = WriteQueue<WriteTransaction>(
        .init(
          threadName: "lmdb.commits",
          // The callers keep the environment alive; the thread alone must not.
          commit: { [weak self] jobs in
            guard let self else { throw LMDBError.closedBeforeWrite }
            try self.commit(jobs)
          },
          isLackOfRoom: { ($0 as? LMDBError)?.isLackOfRoom == true }))
      state.writeQueue = queue
      return queue
    }
  }

  @available(*, noasync)
  private func commit(_ jobs: [WriteJob<WriteTransaction>]) throws {
    var hasJobFailed = false
    do {
      try write { transaction in
        hasJobFailed = false
        for job in jobs {
          do {
            try job.run(in: &transaction)
          } catch {
            hasJobFailed = true
            throw error
          }
        }
      }
    } catch let error where hasJobFailed && jobs.count > 1 && (error as? LMDBError)?.isLackOfRoom != true {
      // This is rare, and nothing has been committed. Repeating all writes is better than making each of them slower
      // every time.
      try commitEachApart(jobs)
    }
  }

  /// Runs each write in a nested transaction, so that its failure undoes only its own changes.
  @available(*, noasync)
  private func commitEachApart(_ jobs: [WriteJob<WriteTransaction>]) throws {
    try write { transaction in
      for job in jobs {
        do {
          try transaction.nested { try job.run(in: &$0) }
        } catch let error as LMDBError where error.isLackOfRoom {
          // Not the job's fault: the map grows and all run again, or each job runs alone.
          throw error
        } catch {
          job.reject(error)
        }
      }
    }
  }

  /// How many calls wait for the next commit; for tests.
  var waitingWriteCount: Int { writeQueue.waitingCount }
}
