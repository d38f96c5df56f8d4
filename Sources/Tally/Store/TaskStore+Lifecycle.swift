import Foundation
import LMDB
import TallyEngine
import TallySystem

extension TaskStore {
  /// Finishes the waiting writes, flushes them and closes the store.
  ///
  /// After that, every call but this one throws `storeClosed`.
  ///
  /// - Throws: `storeBusy` while reads or writes are in progress; the store then stays open.
  public func close() throws {
    try end(as: .closed, waitingAtMost: nil)
  }

  /// Finishes the waiting writes, waits for reads and writes in progress, flushes and closes the store.
  ///
  /// Calls that begin meanwhile wait for the outcome, and then throw `storeClosed` or continue. It blocks its thread.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing fails. In each case the store stays open.
  public func close(waitingAtMost limit: Duration) throws {
    try end(as: .closed, waitingAtMost: limit)
  }

  /// Releases every lock and file of the store until ``resume()``.
  ///
  /// It is for applications that the system suspends, because the system kills an application that holds a lock on a
  /// shared file while suspended. It commits the waiting writes, and waits for reads, writes and copies in progress.
  /// Calls that begin meanwhile wait for the outcome; once the store is suspended, reads and writes throw
  /// `storeSuspended`, and observations wait. Other processes may do anything with the store, including compacting or
  /// restoring it. It blocks its thread. Suspending a suspended store does nothing.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing relaxed writes fails; `storeClosed`. Except after `storeClosed`, the store stays
  ///   open.
  public func suspend(waitingAtMost limit: Duration = .seconds(2)) throws {
    try end(as: .suspended, waitingAtMost: limit)
  }

  /// Opens a suspended store again; does nothing if it is open.
  ///
  /// Observations continue, and report the changes that other processes have made in the meantime.
  ///
  /// - Throws: `storeClosed`; `storeMissing` if the store has been removed; otherwise as opening a store. On failure
  ///   the store stays suspended.
  /// - Complexity: as opening a store.
  public func resume() throws {
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
  private func end(as end: StoreConnection.End, waitingAtMost limit: Duration?) throws {
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
}

extension TaskStore {
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
  static let writesInProgress = TallyError(
    .storeBusy, "The waiting writes take longer than the given limit",
    remedy: "Try again; another process may be writing")

  static let endInProgress = TallyError(
    .storeBusy, "Another thread is about to suspend, resume or close the store",
    remedy: "Try again when it has done so")
}
