import Foundation
import LMDB
import Logging
import Synchronization

/// What a store has open of its files, for as long as it is neither suspended nor closed.
///
/// Nobody else keeps any of it: whoever needs the files asks for them each time, and a store that has ended holds no lock.
final class StoreConnection: Sendable {
  /// Why nothing is open any more.
  enum End {
    case suspended, closed

    var error: TallyError { self == .suspended ? .storeSuspended : .storeClosed }
  }

  private enum State {
    case open(StoreOpening.OpenStore)
    case ended(End)
  }

  // Constant.
  private let opening: StoreOpening
  // Synchronises itself; held for moments only.
  private let state: Mutex<State>
  // Held while the environment is closed, or replaced after a failure: one at a time. A `Mutex` knows no limit.
  private let replacing = NSLock()
  // Protects the two below.
  private let condition = NSCondition()
  /// Work that holds locks of its own beside the store's, as making a copy does.
  nonisolated(unsafe) private var workCount = 0
  /// Whether somebody waits for its end; no more of it begins.
  nonisolated(unsafe) private var isWorkAwaited = false

  init(_ opening: StoreOpening) throws {
    self.opening = opening
    state = Mutex(.open(try TallyError.translating { try opening.open() }))
  }

  /// What is open; throws `storeSuspended` or `storeClosed`.
  var current: StoreOpening.OpenStore {
    get throws {
      try state.withLock { state in
        switch state {
        case .open(let store): return store
        case .ended(let end): throw end.error
        }
      }
    }
  }

  /// Whether the store has been closed for good.
  var isClosed: Bool {
    state.withLock { if case .ended(.closed) = $0 { true } else { false } }
  }

  /// Runs a body with what is open, and turns what the storage throws into errors of the store.
  func use<R>(_ body: (StoreOpening.OpenStore) throws -> R) throws -> R {
    let store = try current
    do {
      return try body(store)
    } catch let error as LMDBError {
      // Both refuse to begin: nothing of the body has taken effect, though it may have run before a commit that failed.
      guard error.code == .closed || (error.code == .panic && store.environment.hasPanicked) else {
        throw TallyError(error)
      }
    }
    try replace(store)
    return try TallyError.translating { try body(current) }
  }

  /// As `use`, for work that holds locks of its own, so that no end overtakes it.
  func useForLong<R>(_ body: (StoreOpening.OpenStore) throws -> R) throws -> R {
    condition.withLock {
      // Both are protected by the condition, here and below.
      while unsafe isWorkAwaited { condition.wait() }
      unsafe workCount += 1
    }
    defer {
      condition.withLock {
        unsafe workCount -= 1
        condition.broadcast()
      }
    }
    return try use(body)
  }
}

extension StoreConnection {
  /// Opens the files again, where liblmdb refuses all further use of them since the last step of a commit failed.
  ///
  /// Does nothing where that has been done since, as another thread does. If it fails the next call tries again.
  /// Waits for an end that has begun: nobody knows yet whether it will succeed.
  ///
  /// - Throws: `storeSuspended`, `storeClosed`; `storeBusy` while reads are in progress, whose memory is the old map; else
  ///   as opening a store.
  private func replace(_ failed: StoreOpening.OpenStore) throws {
    // Whoever holds the lock may wait for the end of this thread's own read.
    guard !failed.environment.isInUseByThisThread else { throw TallyError.replacedInsideTransaction }
    try replacing.withLock {
      guard try current === failed else { return }
      try TallyError.translating {
        try failed.environment.close(waitingAtMost: opening.configuration.waitLimit)
        let store = try reopening.open()
        // It was the failed one's until here: changing it needs the lock, or that nothing is open.
        state.withLock { $0 = .open(store) }
        failed.access.end()
      }
      opening.configuration.logger.notice("opened the store again after a failure of the disk")
    }
  }

  /// As the first opening was, of a store that must be there: another process may have removed it, and its user would not
  /// look for an empty one.
  private var reopening: StoreOpening {
    var opening = opening
    opening.configuration.createsIfMissing = false
    return opening
  }
}

extension StoreConnection {
  /// Closes what is open, when nobody is inside it any more, and gives its locks back.
  ///
  /// - Parameters:
  ///   - end: what to tell those who come later.
  ///   - deadline: how long to wait.
  /// - Throws: `storeBusy`, `diskFull` or `storageFailed`; the store is open then.
  func end(as end: End, before deadline: ContinuousClock.Instant) throws {
    let isOpen = state.withLock { state in
      if case .open = state { return true }
      if end == .closed { state = .ended(.closed) }
      return false
    }
    guard isOpen else { return }
    defer {
      condition.withLock {
        unsafe isWorkAwaited = false
        condition.broadcast()
      }
    }
    // The work first: it may itself meet a failure, and then needs the lock.
    guard waitForWork(until: deadline), replacing.lock(before: Date(of: deadline)) else { throw TallyError.inUseByWork }
    defer { replacing.unlock() }
    let store = try current
    try TallyError.translating { try store.environment.close(waitingAtMost: deadline - ContinuousClock.now) }
    state.withLock { $0 = .ended(end) }
    store.access.end()
  }

  /// Opens the store again, unless it is open; throws `storeClosed`, or as opening a store.
  func resume() throws {
    if isClosed { throw TallyError.storeClosed }
    if (try? current) != nil { return }
    let store = try TallyError.translating { try reopening.open() }
    state.withLock { $0 = .open(store) }
  }

  private func waitForWork(until deadline: ContinuousClock.Instant) -> Bool {
    let date = Date(of: deadline)
    return condition.withLock {
      unsafe isWorkAwaited = true
      while unsafe workCount > 0 {
        guard condition.wait(until: date) else { return unsafe workCount == 0 }
      }
      return true
    }
  }
}

extension TallyError {
  static let storeSuspended = TallyError(
    .storeSuspended, "The store is suspended", remedy: "Call resume() when the application runs again")

  static let inUseByWork = TallyError(
    .storeBusy, "The store is being copied, or opened again after a failure of the disk",
    remedy: "Try again when that has finished")

  static let replacedInsideTransaction = TallyError(
    .storeBusy, "The disk has failed, and the store cannot be opened again inside one of its own reads",
    remedy: "Try again when the closure has returned")
}

extension Date {
  /// The date of a deadline as the clock stands now, for the waits of Foundation.
  init(of deadline: ContinuousClock.Instant) {
    self.init(timeIntervalSinceNow: (deadline - .now) / .seconds(1))
  }
}
