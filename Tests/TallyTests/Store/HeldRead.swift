@testable import Tally

/// Holds a read of a store open, on a thread of its own.
final class HeldRead: Sendable {
  private let mayEnd = Signal()
  private let task: Task<Int, any Error>

  /// Returns when the read has begun; the body runs inside it, just before it ends.
  init(_ store: TaskStore, beforeItEnds body: @escaping @Sendable () throws -> Void = {}) async {
    let (hasBegun, mayEnd) = (Signal(), mayEnd)
    task = startThread {
      try store.read { transaction in
        hasBegun.send()
        mayEnd.waitOnThread()
        try body()
        return try transaction.taskCount
      }
    }
    await hasBegun.wait()
  }

  /// Lets it end, and returns the number of tasks that it saw.
  @discardableResult
  func end() async throws -> Int {
    mayEnd.send()
    return try await task.value
  }
}
