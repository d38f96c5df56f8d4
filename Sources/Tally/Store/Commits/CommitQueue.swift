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
  // Constant.
  private let connection: StoreConnection
  private let configuration: TaskStore.Configuration
  // Synchronises itself.
  private let condition = NSCondition()
  // Protected by `condition`.
  private var waiting: [WriteJob] = []
  private var unflushedSince: Date?
  private var thread: Thread?
  private var isFinishing = false
  /// Writes that came while the queue was finishing, and wait until it is known whether the store stays open.
  private var late: [WriteJob] = []
  /// The error of later writes, once the store is not open any more.
  private var refusal: TallyError?
  /// How many writes the thread waits for; more than one only while it waits for callers to return.
  private var wantedCount = 1

  // Used by the thread only.
  private var lastCommit = (writeCount: 0, seconds: 0.0)

  /// The most writes in one commit, so that an endless stream of them does not delay the first one's answer.
  private static let maximumBatchCount = 256

  /// How long the thread waits for more work before it ends: a store that is only read has no thread.
  private static let idleLimitInSeconds: TimeInterval = 5

  /// How long a commit waits for the callers of the last one, as a fraction of the time that one took.
  private static let companyWait = 0.25

  /// The shortest time before a failed flush is tried again.
  private static let flushPauseInSeconds: TimeInterval = 0.1

  private static let longestFlushIntervalInSeconds: TimeInterval = 86_400

  init(connection: StoreConnection, configuration: TaskStore.Configuration) {
    self.connection = connection
    self.configuration = configuration
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
    condition.withLock {
      isFinishing = false
      refusal = nil
      waiting += late
      late = []
      if unflushedSince != nil || !waiting.isEmpty { wakeThread() }
    }
  }

  /// Refuses the writes that came meanwhile, and all later ones.
  func refuse(with error: TallyError) {
    let refused = condition.withLock {
      assert(isFinishing, "the queue still accepts writes")
      refusal = error
      // Closing and suspending have flushed.
      unflushedSince = nil
      defer { late = [] }
      return late
    }
    for job in refused { job.finish(failure: error) }
  }

  /// Ensures that a relaxed commit is flushed in time.
  func noteUnflushedCommit() {
    guard configuration.durability == .relaxed else { return }
    condition.withLock {
      guard unflushedSince == nil else { return }
      unflushedSince = Date()
      // Closing flushes; if it fails, `resume` continues from here.
      if !isFinishing { wakeThread() }
    }
  }

  /// Commits the waiting writes and ends the thread; later writes wait for `resume` or `refuse`.
  ///
  /// - Parameter deadline: how long to wait; `nil` for no limit.
  /// - Returns: false if the deadline passed while the thread was still working.
  func finish(before deadline: ContinuousClock.Instant?) -> Bool {
    let limit = deadline.map { Date(of: $0) }
    return condition.withLock {
      isFinishing = true
      condition.broadcast()
      // A closure that the thread itself runs may release the store; the thread then ends after that.
      while let thread, thread !== Thread.current {
        // This call cannot count up to Foundation's distant future.
        guard let limit else {
          condition.wait()
          continue
        }
        guard condition.wait(until: limit) else { return self.thread == nil }
      }
      return true
    }
  }

  private func enqueue(_ job: WriteJob) {
    let answer = condition.withLock { () -> TallyError? in
      if isFinishing {
        if refusal == nil { late.append(job) }
        return refusal
      }
      waiting.append(job)
      // Waking the thread for each of the writes it waits for would cost more than the wait saves.
      if thread == nil || waiting.count >= wantedCount { wakeThread() }
      return nil
    }
    if let answer { job.finish(failure: answer) }
  }

  /// Wakes the thread, which starts with the first work; the condition is locked.
  private func wakeThread() {
    if thread != nil { return condition.broadcast() }
    let thread = Thread { [self] in
      // On Linux `Thread` loses a name that it is given from outside, and one from inside if the thread is quick.
      nameCurrentThread("tally.commits")
      work()
    }
    self.thread = thread
    thread.start()
  }

  /// The thread's loop; ends when the queue does, or when there has been nothing to do for a while.
  private func work() {
    while let batch = nextBatch() {
      if batch.isEmpty { flush() } else { commit(batch) }
    }
  }

  /// Waits for work: some writes, or none when a flush is due; `nil` ends the thread.
  private func nextBatch() -> [WriteJob]? {
    condition.withLock {
      let idleLimit = Date(timeIntervalSinceNow: Self.idleLimitInSeconds)
      // The flush comes first: an endless stream of writes must not delay it.
      while unflushedSince != nil || waiting.isEmpty {
        let flushDate = unflushedSince?.addingTimeInterval(flushIntervalInSeconds)
        // Closing flushes; flushing here would retry forever if it fails.
        let isDone = isFinishing && waiting.isEmpty
        if let flushDate, flushDate <= Date(), !isDone { return [] }
        if !waiting.isEmpty { break }
        if isDone || (flushDate == nil && idleLimit <= Date()) {
          thread = nil
          condition.broadcast()
          return nil
        }
        _ = condition.wait(until: flushDate ?? idleLimit)
      }
      waitForCompany()
      let batch = waiting.prefix(Self.maximumBatchCount)
      waiting.removeFirst(batch.count)
      return Array(batch)
    }
  }

  /// Gives the callers of the last commit a moment to return; the condition is locked.
  private func waitForCompany() {
    assert(wantedCount == 1, "the thread waits already")
    guard lastCommit.writeCount > 1 else { return }
    let deadline = Date(timeIntervalSinceNow: lastCommit.seconds * Self.companyWait)
    wantedCount = min(lastCommit.writeCount, Self.maximumBatchCount)
    while waiting.count < wantedCount, !isFinishing, condition.wait(until: deadline) {}
    wantedCount = 1
  }

  /// The configured interval, clamped to a range by which a date can be moved.
  private var flushIntervalInSeconds: TimeInterval {
    let interval = configuration.flushIntervalInSeconds
    return interval.isNaN ? 0 : min(max(interval, 0), Self.longestFlushIntervalInSeconds)
  }

  private func commit(_ batch: [WriteJob]) {
    let jobs = batch.filter { $0.begin() }
    if !jobs.isEmpty { commitBegun(jobs) }
  }

  private func commitBegun(_ jobs: [WriteJob]) {
    let start = ContinuousClock.now
    do {
      try write(jobs)
      noteUnflushedCommit()
      lastCommit = (jobs.count, (ContinuousClock.now - start) / .seconds(1))
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
    assert(condition.withLock { thread === Thread.current }, "commits belong to the queue's thread")
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
    condition.withLock { unflushedSince = nil }
    do {
      try connection.use { try $0.environment.sync(force: true) }
    } catch {
      let code = (error as? TallyError)?.code
      // Closing and suspending flush, too.
      guard code != .storeClosed, code != .storeSuspended else { return }
      configuration.logger.error("flushing failed", metadata: ["code": "\(code ?? .internalFault)"])
      // Tried again after the next interval, and never at once: writes, and the end of the queue, have their turn
      // first. Writes committed meanwhile wait too: with an interval of zero, their own date would mean at once.
      condition.withLock { unflushedSince = Date(timeIntervalSinceNow: Self.flushPauseInSeconds) }
    }
  }
}

extension CommitQueue {
  /// How many writes wait for the next commit; for tests.
  var waitingCount: Int { condition.withLock { waiting.count } }

  /// Whether new writes wait until it is known whether the store stays open; for tests.
  var isEnding: Bool { condition.withLock { isFinishing } }

  /// How many such writes wait; for tests.
  var lateCount: Int { condition.withLock { late.count } }

  /// Whether a relaxed commit waits for its flush; for tests.
  var hasUnflushedCommit: Bool { condition.withLock { unflushedSince != nil } }
}

extension LMDBError {
  /// Whether the disk or the map is full.
  var isLackOfRoom: Bool { code == .mapFull || code == .diskFull }
}
