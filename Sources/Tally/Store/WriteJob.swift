import LMDB
import Synchronization

/// A write that waits in the commit queue, whatever its result's type.
protocol WriteJob: Sendable {
  /// Takes the job from waiting to running; false if it was cancelled first, in which case it has been answered.
  func begin() -> Bool
  /// Runs the job's closure and keeps its result; may happen again.
  func run(in transaction: inout StoreWriteTransaction) throws
  /// Keeps the closure's own failure as the result.
  func reject(_ error: any Error)
  /// Answers the caller: with the failure of the commit, or else with the kept result.
  func finish(failure: (any Error)?)
}

/// One asynchronous write and the caller who waits for it.
final class PendingWrite<Value: Sendable>: WriteJob {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var result: Result<Value, any Error>?
    var isRunning = false
    var isCancelled = false
  }

  private let body: @Sendable (inout StoreWriteTransaction) throws -> Value
  private let state = Mutex(State())

  init(_ body: @escaping @Sendable (inout StoreWriteTransaction) throws -> Value) {
    self.body = body
  }

  func await(_ continuation: CheckedContinuation<Value, any Error>) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.continuation = continuation }
      return state.isCancelled
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  /// Answers the caller at once unless the closure has begun.
  func cancel() {
    let continuation = state.withLock { state in
      guard !state.isRunning else { return nil as CheckedContinuation<Value, any Error>? }
      state.isCancelled = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(throwing: CancellationError())
  }

  func begin() -> Bool {
    state.withLock { state in
      state.isRunning = !state.isCancelled
      return state.isRunning
    }
  }

  func run(in transaction: inout StoreWriteTransaction) throws {
    let value = try body(&transaction)
    state.withLock { $0.result = .success(value) }
  }

  func reject(_ error: any Error) {
    state.withLock { $0.result = .failure(error) }
  }

  func finish(failure: (any Error)?) {
    let (continuation, result) = state.withLock { state in
      defer { state.continuation = nil }
      return (state.continuation, state.result)
    }
    switch (failure, result) {
    // A closure's own error says more than the commit's, unless the storage failed in both.
    case (let failure?, .failure(let own)?): continuation?.resume(throwing: own is LMDBError ? failure : own)
    case (let failure?, _): continuation?.resume(throwing: failure)
    case (nil, let result?): continuation?.resume(with: Result { try TallyError.translating(result.get) })
    case (nil, nil): continuation?.resume(throwing: TallyError.storeClosed)
    }
  }
}
