import Dispatch
import Synchronization

/// Runs asynchronous work and waits for it, where only a function that returns can be timed.
///
/// - Parameter work: The work; it must not need the thread that waits.
/// - Returns: What the work returns.
/// - Throws: What the work throws.
package func runAndWait<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) throws -> R {
  let result = Mutex<Result<R, any Error>?>(nil)
  let done = DispatchSemaphore(value: 0)
  Task {
    do {
      let value = try await work()
      result.withLock { $0 = .success(value) }
    } catch {
      result.withLock { $0 = .failure(error) }
    }
    done.signal()
  }
  done.wait()
  guard let result = result.withLock({ $0 }) else { throw WrongAnswer(description: "the work has not ended") }
  return try result.get()
}
