import Foundation

extension TaskStore {
  /// Runs calls that block, such as a backup or an import, on their own thread, and awaits them without blocking.
  ///
  /// ```swift
  /// let summary = try await TaskStore.perform { try store.importDocument(from: "export.json") }
  /// try await TaskStore.perform { try store.close(waitingAtMost: .seconds(5)) }
  /// ```
  ///
  /// Swift's tasks share a few threads, which blocking calls would occupy. The closure belongs to the calling Swift
  /// task: if that is cancelled, calls that report progress throw `cancelled`.
  ///
  /// - Parameter body: the calls, of this library or any others that block.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Complexity: starts a thread, which takes some tens of microseconds.
  @discardableResult
  public static func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withTaskExecutorPreference(ThreadExecutor.shared) { try await performHere(body) }
  }

  /// Runs a closure on the executor that the task prefers; Swift does so for a nonisolated asynchronous function.
  @concurrent
  private static func performHere<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
    try body()
  }
}

/// An executor that runs each job of a task on its own thread.
final class ThreadExecutor: TaskExecutor {
  static let shared = ThreadExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { [self] in
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
