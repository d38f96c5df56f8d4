import BenchmarkData
import Synchronization

/// The value that a benchmark uses between its set-up and its end, and the number of its runs.
final class Opened<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let runCount = Mutex(0)

  func open(_ new: Value) {
    value.withLock { $0 = new }
  }

  /// The value, and 0, 1, 2 and so on.
  func next() throws -> (Value, number: Int) {
    guard let value = value.withLock({ $0 }) else { throw WrongAnswer(description: "nothing is open") }
    return runCount.withLock { count in
      defer { count += 1 }
      return (value, count)
    }
  }
}
