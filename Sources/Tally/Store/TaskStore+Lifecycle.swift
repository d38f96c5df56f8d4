import Foundation
import LMDB
import TallySystem

extension TaskStore {
  /// Finishes the waiting writes, flushes and closes; every later call except this one throws `storeClosed`.
  ///
  /// - Throws: `storeBusy`, and leaves the store open, while reads or writes are in progress.
  public func close() throws {
    try end(as: .closed, waitingAtMost: nil)
  }

  /// Finishes the waiting writes, waits for reads and writes in progress, flushes and closes.
  ///
  /// Calls that begin meanwhile wait for the outcome, and then throw `storeClosed` or continue. Blocks its thread.
  ///
  /// - Parameter limit: the longest time to wait, for everything together.
  /// - Throws: `storeBusy`, and leaves the store open, if they take longer, or inside a read or write of this thread;
  ///   `diskFull` or `storageFailed`, and leaves the store open, if flushing fails.
  public func close(waitingAtMost limit: Duration) throws {
    try end(as: .closed, waitingAtMost: limit)
  }

  /// Releases every lock and file of the store, until ``resume()``.
  ///
  /// For applications that the system suspends: it kills one that holds a lock on a shared file meanwhile. The waiting
  /// writes are committed, and reads, writes and copies in progress are waited for. Calls that begin meanwhile wait for
  /// the outcome; once the store is suspended, reads and writes throw `storeSuspended`, and observations wait. Other
  /// processes may do anything with the store, including compacting or restoring it. Blocks its thread. Suspending a
  /// suspended store does nothing.
  ///
  /// - Parameter limit: the longest time to wait, for everything together.
  /// - Throws: `storeBusy`, and leaves the store open, if that takes longer, or inside a read or write of this thread;
  ///   `diskFull` or `storageFailed`, and leaves the store open, if flushing relaxed writes fails; `storeClosed`.
  public func suspend(waitingAtMost limit: Duration = .seconds(2)) throws {
    try end(as: .suspended, waitingAtMost: limit)
  }

  /// Opens a suspended store again; does nothing if it is open.
  ///
  /// Observations continue, and report the changes that other processes have made meanwhile.
  ///
  /// - Throws: `storeClosed`; `storeMissing` if the store has been removed; otherwise as opening a store. The store
  ///   then stays suspended.
  /// - Complexity: as opening a store.
  public func resume() throws {
    // A call that suspends or closes waits for the writes in progress, and holds the lock meanwhile.
    if (try? connection.current.environment.isInUseByThisThread) == true { return }
    _ = takeLifecycleTurn(atMost: .longestWait)
    defer { endLifecycleTurn() }
    try connection.resume()
    commits.resume()
    watch.noteLifecycle()
  }

  /// Suspends or closes the store; without a limit the queue takes as long as it takes, and nothing else is waited for.
  private func end(as end: StoreConnection.End, waitingAtMost limit: Duration?) throws {
    if let environment = try? connection.current.environment {
      // In a child of a fork everything here belongs to the parent, and the queue's thread does not exist.
      guard !environment.isForked else { throw TallyError.storeClosed }
      // Waiting for the queue inside a write would be waiting for this very thread.
      guard !environment.isInUseByThisThread else { throw TallyError.closedInsideTransaction }
    }
    // Clamped to a range by which a clock can be moved.
    let limit = limit.map { min(max($0, .zero), .seconds(1_000_000_000)) }
    let deadline = ContinuousClock.now + (limit ?? .zero)
    guard takeLifecycleTurn(atMost: limit ?? .longestWait) else { throw TallyError.endInProgress }
    defer { endLifecycleTurn() }
    // Another thread may have closed the store while this one waited.
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
  /// Waits while another thread closes, suspends or resumes the store; false if that takes longer than the limit.
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
