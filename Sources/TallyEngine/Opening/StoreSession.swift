import Foundation
package import LMDB
import Synchronization
import TallySystem

/// The parts of an open store: its files, the queue of its writes, and the watch on its commits.
///
/// The stores of every kind have one, so that closing, suspending and resuming are the same for all.
package final class StoreSession<Transaction: ~Copyable>: Sendable {
  package let connection: StoreConnection
  package let watch: CommitWatch
  package let commits: WriteQueue<Transaction>
  /// Whether the store is being closed, suspended or resumed; only one of these happens at a time.
  private let lifecycle = Monitor(false)

  package init(
    _ opening: StoreOpening,
    commit: @escaping @Sendable (StoreOpening.OpenStore, _ isAlone: Bool, BatchCommit<Transaction>.Body) throws -> Void,
    beside: @escaping BatchCommit<Transaction>.Running, nested: @escaping BatchCommit<Transaction>.Running
  ) throws {
    connection = try StoreConnection(opening)
    watch = CommitWatch(opening.directory, connection: connection)
    commits =
      BatchCommit(connection, opening.configuration, watch, commit: commit, beside: beside, nested: nested).queue
  }

  /// Closes the store when its owner is released; nobody learns whether the last flush succeeded.
  package func abandon() {
    do {
      try end(as: .closed, waitingAtMost: nil)
    } catch {
      connection.abandon()
      watch.noteLifecycle()
    }
  }

  /// Opens a suspended store again; does nothing if it is open.
  package func resume() throws {
    // Inside a read or write of this thread the store is open. Waiting for the turn could be a deadlock: a call that
    // closes or suspends the store has the turn while it waits for this thread.
    if (try? connection.current.environment.isInUseByThisThread) == true { return }
    _ = takeLifecycleTurn(atMost: .longestWait)
    defer { endLifecycleTurn() }
    try connection.resume()
    commits.resume()
    watch.noteLifecycle()
  }

  /// Suspends or closes the store; without a limit it waits for the queue as long as needed, and for nothing else.
  package func end(as end: StoreConnection.End, waitingAtMost limit: Duration?) throws {
    if let environment = try? connection.current.environment {
      // In a forked child everything here belongs to the parent, and the queue's thread does not exist.
      guard !environment.isForked else { throw TallyError.storeClosed }
      // Inside a write, waiting for the queue would be a deadlock: it waits for this thread.
      guard !environment.isInUseByThisThread else { throw TallyError.closedInsideTransaction }
    }
    // Clamped to a duration that can be added to an instant.
    let limit = limit.map { min(max($0, .zero), .seconds(1_000_000_000)) }
    let deadline = ContinuousClock.now + (limit ?? .zero)
    guard takeLifecycleTurn(atMost: limit ?? .longestWait) else { throw TallyError.endInProgress }
    defer { endLifecycleTurn() }
    // Another thread may have closed the store in the meantime.
    if end == .suspended, connection.isClosed { throw TallyError.storeClosed }
    do {
      guard commits.finish(before: limit == nil ? nil : deadline) else { throw TallyError.writesInProgress }
      try watch.withoutLooks { try connection.end(as: end, before: deadline) }
    } catch {
      commits.resume()
      throw error
    }
    commits.refuse(with: end.error)
    watch.noteLifecycle()
  }

  /// Waits while another thread closes, suspends or resumes the store; returns false if that exceeds the limit.
  private func takeLifecycleTurn(atMost limit: Duration) -> Bool {
    let turn: Void? = lifecycle.wait(atMost: limit) { isTaken in
      if isTaken { return nil }
      isTaken = true
      return ()
    }
    return turn != nil
  }

  private func endLifecycleTurn() {
    lifecycle.withLock { $0 = false }
    lifecycle.wakeAll()
  }
}

extension TallyError {
  fileprivate static let writesInProgress = TallyError(
    .storeBusy, "The waiting writes take longer than the given limit",
    remedy: "Try again; another process may be writing")

  fileprivate static let endInProgress = TallyError(
    .storeBusy, "Another thread is about to suspend, resume or close the store",
    remedy: "Try again when it has done so")
}

/// An executor that runs each job of a task on its own thread, for calls that block.
package final class ThreadExecutor: TaskExecutor {
  package static let shared = ThreadExecutor()

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { [self] in
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Runs a closure on a thread of its own.
  package static func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withTaskExecutorPreference(shared) { try await performHere(body) }
  }

  /// Runs a closure on the executor that the task prefers; Swift does so for a nonisolated asynchronous function.
  @concurrent
  private static func performHere<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
    try body()
  }
}

/// A second check of a store, in another acknowledged snapshot, before anybody is told that it is damaged.
///
/// An apparent contradiction may come from two snapshots taken for one, from a page that was read while it was being
/// written, or from a snapshot that another program has ended. Real damage is still there on the next check. Therefore
/// every claim of damage passes through here: from reads and writes (`StoreConnection`), from opening, and from work on
/// a store that may be damaged.
package struct SecondLook {
  package let environment: LMDBEnvironment
  package let layout: any StoreLayout

  package init(environment: LMDBEnvironment, layout: any StoreLayout) {
    (self.environment, self.layout) = (environment, layout)
  }

  /// Runs a closure, and runs it again if it claims damage; the second result counts.
  package static func repeating<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error where TallyError.claimingDamage(error) != nil {
      return try body()
    }
  }

  /// The error to throw for an error: it still claims damage only if a check of the whole store finds a fault, too.
  ///
  /// - Complexity: a full verification.
  package func explained(_ error: any Error) -> any Error {
    guard let claim = TallyError.claimingDamage(error) else { return error }
    return finding.explained(claim)
  }

  /// The finding of a check of the newest acknowledged snapshot.
  package enum Finding {
    case sound, damaged
    /// The check itself failed, for example because the disk did.
    case unknown(any Error)

    /// The error to throw for a claim of damage.
    package func explained(_ claim: TallyError) -> any Error {
      switch self {
      case .sound: TallyError.unconfirmed(claim)
      case .damaged: claim
      case .unknown(let error): error
      }
    }
  }

  /// Checks the whole store.
  package var finding: Finding {
    do {
      return try TallyError.translating {
        try environment.checkStructure()
        return try layout.isSound(environment) ? .sound : .damaged
      }
    } catch {
      return TallyError.claimingDamage(error) == nil ? .unknown(error) : .damaged
    }
  }
}

/// Whether a store is known to be damaged, so that one second check is enough.
package final class KnownDamage: Sendable {
  private let isKnown = Atomic(false)

  /// Does the same as `SecondLook.explained`, but checks only if damage is not known yet.
  package func explained(_ error: any Error, in environment: LMDBEnvironment, _ layout: any StoreLayout) -> any Error {
    guard let claim = TallyError.claimingDamage(error), !isKnown.load(ordering: .relaxed) else { return error }
    let finding = SecondLook(environment: environment, layout: layout).finding
    if case .damaged = finding { isKnown.store(true, ordering: .relaxed) }
    return finding.explained(claim)
  }
}

extension TallyError {
  /// The error as an error of a store, if it claims damage; else `nil`.
  package static func claimingDamage(_ error: any Error) -> TallyError? {
    let claim = (error as? LMDBError).map { TallyError($0) } ?? error as? TallyError
    return claim?.code == .damagedStore ? claim : nil
  }

  /// The error to throw instead of a claim of damage that a second check does not confirm.
  fileprivate static func unconfirmed(_ claim: TallyError) -> TallyError {
    TallyError(
      .storageFailed, "The store could not be read for a moment; a second look found it sound",
      remedy: "Try again; if it happens again, report it together with what a verification says", cause: claim)
  }
}
