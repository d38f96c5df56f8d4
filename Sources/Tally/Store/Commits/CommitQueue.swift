import Foundation
import LMDB
import Logging
import TallySystem

/// The thread that commits asynchronous writes, many in one commit, and flushes relaxed ones.
///
/// While one commit is on its way to the disk, the writes that arrive wait in the queue; the next commit takes all of
/// them. A single write never waits for others. If the last commit served several callers, the next one gives them a
/// moment to return: it would otherwise leave with the first of them, and the others would wait for two flushes instead
/// of one. A write transaction must begin and end on one thread, so the queue has a thread of its own.
final class CommitQueue: @unchecked Sendable {
  private struct State {
    var waiting: [WriteJob] = []
    /// When the flush of a relaxed commit is due; `nil` if there is none.
    var flushTime: ContinuousClock.Instant?
    var thread: Thread?
    var isFinishing = false
    /// Writes that came while the queue was finishing, and wait until it is known whether the store stays open.
    var late: [WriteJob] = []
    /// The error of later writes, once the store is not open any more.
    var refusal: TallyError?
    /// How many writes the thread waits for; more than one only while it waits for callers to return.
    var wantedCount = 1
  }

  // Constants.
  private let connection: StoreConnection
  private let configuration: TaskStore.Configuration
  private let watch: CommitWatch
  // Synchronises itself.
  private let state = Monitor(State())

  // Used by the thread only.
  private var lastCommit = (writeCount: 0, duration: Duration.zero)

  /// The most writes in one commit, so that an endless stream of them does not delay the first one's answer.
  private static let maximumBatchCount = 256

  /// How long the thread waits for more work before it ends: a store that is only read has no thread.
  private static let idleLimit = Duration.seconds(5)

  /// How long a commit waits for the callers of the last one, as a fraction of the time that one took.
  private static let companyWait = 0.25

  /// The shortest time before a failed flush is tried again.
  private static let flushPause = Duration.milliseconds(100)

  private static let longestFlushIntervalInSeconds = 86_400.0

  init(connection: StoreConnection, configuration: TaskStore.Configuration, watch: CommitWatch) {
    self.connection = connection
    self.configuration = configuration
    self.watch = watch
  }

  /// Waits for a write's turn and its commit.
  func run<R: Sendable>(_ body: @escaping @Sendable (inout StoreWriteTransaction) throws -> R) async throws -> R {
    let result = Monitor<R?>(nil)
    let job = WriteJob { transaction in
      let value = try body(&transaction)
      // That of a later run replaces it.
      result.withLock { $0 = value }
    }
    try await wait(for: job)
    // A write that was not refused has run.
    guard let value = result.withLock({ $0 }) else { throw TallyError.storeClosed }
    return value
  }

  private func wait(for job: WriteJob) async throws {
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
  func resume() {
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
  func refuse(with error: TallyError) {
    let refused = state.withLock { state in
      assert(state.isFinishing, "the queue still accepts writes")
      state.refusal = error
      // Closing and suspending have flushed.
      state.flushTime = nil
      defer { state.late = [] }
      return state.late
    }
    for job in refused { job.finish(failure: error) }
  }

  /// Wakes observations, and ensures that a relaxed commit is flushed in time.
  func noteCommit() {
    watch.noteCommit()
    guard configuration.durability == .relaxed else { return }
    let isNew = state.withLock { state in
      guard state.flushTime == nil else { return false }
      state.flushTime = .now + flushInterval
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
  func finish(before deadline: ContinuousClock.Instant?) -> Bool {
    state.withLock { $0.isFinishing = true }
    state.wakeAll()
    return state.wait(atMost: deadline.map { $0 - .now } ?? .longestWait) { state in
      // A closure that the thread itself runs may release the store; the thread then ends after that.
      state.thread == nil || state.thread === Thread.current ? true : nil
    } ?? false
  }

  private func enqueue(_ job: WriteJob) {
    let (answer, isAwaited) = state.withLock { state -> (TallyError?, Bool) in
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
      nameCurrentThread("tally.commits")
      work()
    }
    state.thread = thread
    thread.start()
  }

  /// The thread's loop; ends when the queue does, or when there has been nothing to do for a while.
  private func work() {
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
  private func nextBatch() -> [WriteJob]? {
    let idleTime = ContinuousClock.now + Self.idleLimit
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
  private func takeBatch() -> [WriteJob] {
    if lastCommit.writeCount > 1 {
      state.withLock { $0.wantedCount = min(lastCommit.writeCount, Self.maximumBatchCount) }
      state.wait(atMost: lastCommit.duration * Self.companyWait) { state in
        state.waiting.count >= state.wantedCount || state.isFinishing ? () : nil
      }
    }
    return state.withLock { state in
      state.wantedCount = 1
      let batch = state.waiting.prefix(Self.maximumBatchCount)
      state.waiting.removeFirst(batch.count)
      return Array(batch)
    }
  }

  /// The configured interval, clamped to a range by which a clock can be moved.
  private var flushInterval: Duration {
    let interval = configuration.flushIntervalInSeconds
    return .seconds(interval.isNaN ? 0 : min(max(interval, 0), Self.longestFlushIntervalInSeconds))
  }

  private func commit(_ batch: [WriteJob]) {
    let jobs = batch.filter { $0.begin() }
    if !jobs.isEmpty { commitBegun(jobs) }
  }

  private func commitBegun(_ jobs: [WriteJob]) {
    let start = ContinuousClock.now
    do {
      try write(jobs)
      noteCommit()
      lastCommit = (jobs.count, .now - start)
      for job in jobs { job.finish(failure: nil) }
    } catch let error as TallyError where error.code == .diskFull && jobs.count > 1 {
      // Writes that free space, and those that need little, must not fail with the others; each has its own outcome.
      for job in jobs { commitBegun([job]) }
    } catch {
      for job in jobs { job.finish(failure: error) }
    }
  }

  private func write(_ jobs: [WriteJob]) throws {
    do {
      try write(jobs, isolated: false)
    } catch is EntangledWrites {
      // Rare, and nothing has been flushed: repeating all of them beats making each of them slower every time.
      try write(jobs, isolated: true)
    }
  }

  private func write(_ jobs: [WriteJob], isolated: Bool) throws {
    assert(state.withLock { $0.thread === Thread.current }, "commits belong to the queue's thread")
    let isAlone = jobs.count == 1
    try connection.use { store in
      try store.checkWritable()
      let (environment, tables) = (store.environment, store.tables)
      try environment.write(tables: tables, configuration: configuration, makesRoom: isAlone) { transaction in
        if isAlone { return try jobs[0].run(in: &transaction) }
        for job in jobs { try run(job, in: &transaction, isolated: isolated) }
      }
    }
  }

  /// Runs one of several writes, so that its failure undoes only its own changes.
  private func run(_ job: WriteJob, in transaction: inout StoreWriteTransaction, isolated: Bool) throws {
    do {
      if isolated {
        try transaction.nested { try job.run(in: &$0) }
      } else {
        try transaction.beside { try job.run(in: &$0) }
      }
    } catch let error as LMDBError where error.isLackOfRoom {
      // Not the job's fault: the map grows and the whole batch runs again, or each job runs alone.
      throw error
    } catch let error as EntangledWrites {
      throw error
    } catch {
      job.reject(error)
    }
  }

  private func flush() {
    state.withLock { $0.flushTime = nil }
    do {
      try connection.use { try $0.environment.sync(force: true) }
    } catch {
      let code = (error as? TallyError)?.code
      // Closing and suspending flush, too.
      guard code != .storeClosed, code != .storeSuspended else { return }
      configuration.logger.error("flushing failed", metadata: ["code": "\(code ?? .internalFault)"])
      // Tried again after the next interval, and never at once: writes, and the end of the queue, have their turn
      // first. Writes committed meanwhile wait too: with an interval of zero, their own date would mean at once.
      state.withLock { $0.flushTime = .now + flushInterval + Self.flushPause }
    }
  }
}

extension CommitQueue {
  /// How many writes wait for the next commit; for tests.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether new writes wait until it is known whether the store stays open; for tests.
  var isEnding: Bool { state.withLock { $0.isFinishing } }

  /// How many such writes wait; for tests.
  var lateCount: Int { state.withLock { $0.late.count } }

  /// Whether a relaxed commit waits for its flush; for tests.
  var hasUnflushedCommit: Bool { state.withLock { $0.flushTime != nil } }
}

extension LMDBError {
  /// Whether the disk or the map is full.
  var isLackOfRoom: Bool { code == .mapFull || code == .diskFull }
}
