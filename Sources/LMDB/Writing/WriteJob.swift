import TallySystem

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

  /// Takes the job from waiting to running; false if it was cancelled first, and therefore answered already.
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
