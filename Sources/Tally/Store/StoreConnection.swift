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
    /// Still open, but whoever finds the environment closed learns why.
    case ending(StoreOpening.OpenStore, End)
    case ended(End)
  }

  // Constant.
  private let opening: StoreOpening
  // Synchronises itself; held for moments only.
  private let state: Mutex<State>
  /// Held while a failed environment is replaced: one at a time.
  private let replacing = Mutex(())
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
        case .open(let store), .ending(let store, _): return store
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
  ///
  /// - Throws: `storeSuspended`, `storeClosed`; `storeBusy` while reads are in progress, whose memory is the old map; else
  ///   as opening a store.
  private func replace(_ failed: StoreOpening.OpenStore) throws {
    try replacing.withLock { _ in
      let isReplaced = try state.withLock { state in
        switch state {
        case .open(let store): return store.environment !== failed.environment
        case .ending(_, let end), .ended(let end): throw end.error
        }
      }
      guard !isReplaced else { return }
      try TallyError.translating {
        try failed.environment.close(waitingAtMost: opening.configuration.waitLimit)
        try put(reopening.open(), inPlaceOf: failed)
      }
      opening.configuration.logger.notice("opened the store again after a failure of the disk")
    }
  }

  private func put(_ store: StoreOpening.OpenStore, inPlaceOf failed: StoreOpening.OpenStore) throws {
    let end = state.withLock { state -> End? in
      switch state {
      case .open:
        state = .open(store)
        return nil
      case .ending(_, let end), .ended(let end): return end
      }
    }
    guard let end else { return failed.access.end() }
    // Closed or suspended meanwhile.
    try store.environment.close()
    store.access.end()
    throw end.error
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
    let store = state.withLock { state -> StoreOpening.OpenStore? in
      switch state {
      case .open(let store), .ending(let store, _):
        state = .ending(store, end)
        return store
      case .ended:
        if end == .closed { state = .ended(.closed) }
        return nil
      }
    }
    guard let store else { return }
    defer {
      condition.withLock {
        unsafe isWorkAwaited = false
        condition.broadcast()
      }
    }
    do throws(LMDBError) {
      guard waitForWork(until: deadline) else { throw LMDBError(.busy, operation: "close") }
      try store.environment.close(waitingAtMost: deadline - ContinuousClock.now)
    } catch {
      state.withLock { $0 = .open(store) }
      throw TallyError(error)
    }
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
    let date = Date(timeIntervalSinceNow: (deadline - ContinuousClock.now) / .seconds(1))
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
}
