import Foundation
package import LMDB
import Logging
import TallySystem

/// The open files of a store, unless it is suspended or closed.
///
/// Nothing else retains them: callers ask for the files each time, so a suspended or closed store holds no lock.
package final class StoreConnection: Sendable {
  /// Why the files are no longer open.
  package enum End {
    case suspended, closed

    package var error: TallyError { self == .suspended ? .storeSuspended : .storeClosed }
  }

  private enum Files {
    case open(StoreOpening.OpenStore)
    case ended(End)
  }

  private struct State {
    var files: Files
    /// Whether a thread is closing the environment, or replacing it after a failure; only one may at a time.
    var isChanging = false
    /// The number of operations in progress that hold other locks besides the store's, such as copies.
    var workCount = 0
    /// Whether a thread waits for those operations to end; meanwhile no new one begins.
    var isWorkAwaited = false

    /// Counts an operation that begins; returns `nil` while a thread waits for them to end.
    mutating func beginWork() -> Void? {
      if isWorkAwaited { return nil }
      workCount += 1
      return ()
    }

    /// Acquires the right to change the open files; returns `nil` while another thread has it.
    mutating func takeTurn() -> Void? {
      if isChanging { return nil }
      isChanging = true
      return ()
    }
  }

  let opening: StoreOpening
  // This lock is held only briefly.
  private let state: Monitor<State>

  package init(_ opening: StoreOpening) throws {
    self.opening = opening
    state = Monitor(State(files: .open(try TallyError.translating { try opening.open() })))
  }

  /// The open files; throws `storeSuspended` or `storeClosed`.
  package var current: StoreOpening.OpenStore {
    get throws {
      try state.withLock { state in
        switch state.files {
        case .open(let store): return store
        case .ended(let end): throw end.error
        }
      }
    }
  }

  /// Whether the store has been closed, and not just suspended.
  package var isClosed: Bool {
    state.withLock { if case .ended(.closed) = $0.files { true } else { false } }
  }

  /// How many threads wait for the end of operations, or to begin one; for tests.
  package var waiterCount: Int { state.waiterCount }

  /// Runs a closure with the open files, and turns errors of the storage into errors of the store.
  package func use<R>(_ body: (StoreOpening.OpenStore) throws -> R) throws -> R {
    var hasReplaced = false
    while true {
      let store = try current
      do {
        return try body(store)
      } catch let error as LMDBError {
        // In both cases the transaction did not begin or commit: nothing took effect, though the closure may have run.
        let isAfterFailure = error.code == .panic && !hasReplaced && store.environment.hasPanicked
        // The loop has no limit because a store may be suspended and resumed repeatedly, and its files are then opened
        // anew. An error of another environment that the closure uses does not concern this one.
        let isClosed = error.code == .closed && store.environment.isClosed
        guard isClosed || isAfterFailure else { throw explained(TallyError(error), of: store) }
        hasReplaced = hasReplaced || isAfterFailure
      } catch {
        throw explained(error, of: store)
      }
      try replace(store)
    }
  }

  /// The error to throw for an error of a closure: damage is claimed only after a second check.
  private func explained(_ error: any Error, of store: StoreOpening.OpenStore) -> any Error {
    store.damage.explained(error, in: store.environment, opening.layout)
  }

  /// Does the same for the error of one write in a shared commit that did not make the others fail.
  package func explained(_ error: any Error) -> any Error {
    do {
      return explained(error, of: try current)
    } catch let end {
      // Nothing is open that could be checked.
      return TallyError.claimingDamage(error) == nil ? error : end
    }
  }

  /// Does the same as `use`, for work that holds locks of its own: the store cannot be closed or suspended meanwhile.
  package func useForLong<R>(_ body: (StoreOpening.OpenStore) throws -> R) throws -> R {
    state.wait { $0.beginWork() }
    defer {
      state.withLock { state in
        assert(state.workCount > 0, "work ends that has not begun")
        state.workCount -= 1
      }
      state.wakeAll()
    }
    return try use(body)
  }
}

extension StoreConnection {
  /// Opens the files again after the last step of a commit failed: liblmdb then refuses all further use of them.
  ///
  /// It does nothing if another thread has already done so. If it fails, the next call tries again. It waits while
  /// another thread closes or suspends the store, because that may still fail.
  ///
  /// - Throws: `storeSuspended`, `storeClosed`; `storeBusy` while reads are in progress, which use the old map;
  ///   otherwise as opening a store.
  private func replace(_ failed: StoreOpening.OpenStore) throws {
    // The thread that has the turn may be waiting for this thread's own read to end.
    guard !failed.environment.isInUseByThisThread else { throw TallyError.replacedInsideTransaction }
    state.wait { $0.takeTurn() }
    defer { giveTurnBack() }
    guard try current === failed else { return }
    try TallyError.translating {
      try failed.environment.close(waitingAtMost: opening.configuration.waitLimit)
      let store = try reopening.open()
      // `files` still contained the failed store: changing it while a store is open requires the turn.
      state.withLock { $0.files = .open(store) }
      failed.access.end()
    }
    opening.configuration.logger.notice("opened the store again after a failure of the disk")
  }

  private func giveTurnBack() {
    state.withLock { state in
      assert(state.isChanging, "nobody has the turn")
      state.isChanging = false
    }
    state.wakeAll()
  }

  /// The opening used later: it creates nothing, because an empty store would surprise the user if another process has
  /// removed the store.
  private var reopening: StoreOpening {
    var opening = opening
    opening.configuration.createsIfMissing = false
    return opening
  }
}

extension StoreConnection {
  /// Closes the open files when no thread uses them any more, and releases their locks.
  ///
  /// - Parameters:
  ///   - end: whether later calls learn that the store is suspended or that it is closed.
  ///   - deadline: when to give up waiting.
  /// - Throws: `storeBusy`, `diskFull` or `storageFailed`; the store then stays open.
  package func end(as end: End, before deadline: ContinuousClock.Instant) throws {
    let isOpen = state.withLock { state in
      if case .open = state.files { return true }
      if end == .closed { state.files = .ended(.closed) }
      return false
    }
    guard isOpen else { return }
    defer {
      state.withLock { $0.isWorkAwaited = false }
      state.wakeAll()
    }
    // The work ends first, because it may meet a failure and then needs the turn.
    guard waitForWork(until: deadline), state.wait(atMost: deadline - .now, until: { $0.takeTurn() }) != nil else {
      throw TallyError.inUseByWork
    }
    defer { giveTurnBack() }
    let store = try current
    try TallyError.translating { try store.environment.close(waitingAtMost: deadline - ContinuousClock.now) }
    state.withLock { $0.files = .ended(end) }
    store.access.end()
  }

  /// Ends without waiting: the last user of the files closes them, and opening the store again waits for that.
  package func abandon() {
    let files = state.withLock { state in
      defer { state.files = .ended(.closed) }
      return state.files
    }
    if case .open(let store) = files { store.environment.endWithLastUse() }
  }

  /// Opens the store again unless it is open; throws `storeClosed`, or as opening a store.
  package func resume() throws {
    if isClosed { throw TallyError.storeClosed }
    if (try? current) != nil { return }
    let store = try TallyError.translating { try reopening.open() }
    state.withLock { $0.files = .open(store) }
  }

  private func waitForWork(until deadline: ContinuousClock.Instant) -> Bool {
    let end: Void? = state.wait(atMost: deadline - .now) { state in
      state.isWorkAwaited = true
      return state.workCount == 0 ? () : nil
    }
    return end != nil
  }
}

extension TallyError {
  package static let storeSuspended = TallyError(
    .storeSuspended, "The store is suspended", remedy: "Call resume() when the application runs again")

  package static let inUseByWork = TallyError(
    .storeBusy, "The store is being copied, or opened again after a failure of the disk",
    remedy: "Try again when that has finished")

  package static let replacedInsideTransaction = TallyError(
    .storeBusy, "The disk has failed, and the store cannot be opened again inside one of its own reads",
    remedy: "Try again when the closure has returned")
}

/// How a store commits the writes that a `WriteQueue` has collected.
package struct BatchCommit<Transaction: ~Copyable>: Sendable {
  package typealias Body = (inout Transaction) throws -> Void
  package typealias Running = @Sendable (inout Transaction, Body) throws -> Void

  private let connection: StoreConnection
  private let configuration: StoreConfiguration
  private let watch: CommitWatch
  private let commitAll: @Sendable (StoreOpening.OpenStore, _ isAlone: Bool, Body) throws -> Void
  private let beside: Running
  private let nested: Running

  /// - Parameters:
  ///   - connection: the open files.
  ///   - configuration: how the store is opened.
  ///   - watch: whom a commit wakes.
  ///   - commit: runs a closure in one transaction, and commits it.
  ///   - beside: runs one of several writes; throws `EntangledWrites` if it failed after it had changed something.
  ///   - nested: runs one of several writes in a transaction of its own.
  package init(
    _ connection: StoreConnection, _ configuration: StoreConfiguration, _ watch: CommitWatch,
    commit: @escaping @Sendable (StoreOpening.OpenStore, _ isAlone: Bool, Body) throws -> Void,
    beside: @escaping Running, nested: @escaping Running
  ) {
    (self.connection, self.configuration, self.watch) = (connection, configuration, watch)
    (commitAll, self.beside, self.nested) = (commit, beside, nested)
  }

  /// The queue, together with its thread.
  package var queue: WriteQueue<Transaction> {
    WriteQueue(
      .init(
        threadName: "tally.commits", commit: commit,
        isLackOfRoom: { ($0 as? TallyError)?.code == .diskFull },
        flushInterval: configuration.durability == .relaxed ? configuration.flushInterval : nil, flush: flush))
  }

  @Sendable private func commit(_ jobs: [WriteJob<Transaction>]) throws {
    do {
      try commit(jobs, isolated: false)
    } catch is EntangledWrites {
      // This is rare, and nothing has been flushed yet. Running all jobs again costs less than isolating each of them
      // every time.
      try commit(jobs, isolated: true)
    } catch let error as TallyError where error.code == .valueOutOfRange && jobs.count > 1 {
      // The commit found a sum of one of them too large; alone, each of them learns its own outcome.
      try commit(jobs, isolated: true)
    }
    watch.noteCommit()
  }

  private func commit(_ jobs: [WriteJob<Transaction>], isolated: Bool) throws {
    let isAlone = jobs.count == 1
    try connection.use { store in
      try store.checkWritable()
      try commitAll(store, isAlone) { transaction in
        if isAlone { return try jobs[0].run(in: &transaction) }
        for job in jobs { try run(job, in: &transaction, isolated: isolated) }
      }
    }
  }

  /// Runs one of several writes, so that a failure undoes only the changes of that write.
  private func run(_ job: WriteJob<Transaction>, in transaction: inout Transaction, isolated: Bool) throws {
    do {
      if isolated {
        try nested(&transaction) { try job.run(in: &$0) }
      } else {
        try beside(&transaction) { try job.run(in: &$0) }
      }
    } catch let error as LMDBError where error.isLackOfRoom {
      // The job is not at fault: the map grows and the whole batch runs again, or each job runs alone.
      throw error
    } catch let error as EntangledWrites {
      throw error
    } catch {
      job.reject(error)
    }
  }

  @Sendable private func flush() throws {
    do {
      try connection.use { try $0.environment.sync(force: true) }
    } catch let error as TallyError where error.code == .storeClosed || error.code == .storeSuspended {
      // Closing or suspending the store flushes it.
    } catch {
      let code = (error as? TallyError)?.code ?? .internalFault
      configuration.logger.error("flushing failed", metadata: ["code": "\(code)"])
      throw error
    }
  }
}
