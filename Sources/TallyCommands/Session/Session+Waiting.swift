import Dispatch
import Synchronization

extension Session {
  /// Runs an asynchronous body to its end; an interruption cancels it.
  func wait<R: Sendable>(for body: @escaping @Sendable () async throws -> R) throws -> R {
    let outcome = Outcome<R>()
    return try Signals.deferringInterruption {
      let task = Task.detached {
        do {
          outcome.end(.success(try await body()))
        } catch {
          outcome.end(.failure(error))
        }
      }
      while true {
        if let result = outcome.wait(milliseconds: 100) { return try result.get() }
        if Signals.isInterrupted { task.cancel() }
      }
    }
  }
}

/// Brings the result of a task to a thread that waits for it.
private final class Outcome<R: Sendable>: Sendable {
  private let result = Mutex<Result<R, any Error>?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  func end(_ new: Result<R, any Error>) {
    result.withLock { $0 = new }
    ended.signal()
  }

  /// The result; `nil` if it has not come in time.
  func wait(milliseconds: Int) -> Result<R, any Error>? {
    guard ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
    return result.withLock { $0 }
  }
}
