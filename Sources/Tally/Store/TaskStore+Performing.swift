import Foundation

extension TaskStore {
  /// Runs calls that block, such as a backup or an import, on a thread of their own, and waits without blocking.
  ///
  /// ```swift
  /// let summary = try await TaskStore.perform { try store.importDocument(from: "export.json") }
  /// try await TaskStore.perform { try store.close(waitingAtMost: .seconds(5)) }
  /// ```
  ///
  /// Swift's tasks share a few threads, which such calls would occupy. The closure belongs to the calling Swift task: if
  /// that is cancelled, calls that report progress end with `cancelled`.
  ///
  /// - Parameter body: the calls; each of this library's, and whatever else blocks.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Complexity: the start of a thread, some tens of microseconds.
  @discardableResult
  public static func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withTaskExecutorPreference(ThreadExecutor.shared) { try await performHere(body) }
  }

  /// Nonisolated and asynchronous, so that it runs where the task prefers.
  @concurrent
  private static func performHere<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
    try body()
  }
}

/// Runs each piece of a task on a thread of its own.
final class ThreadExecutor: TaskExecutor {
  static let shared = ThreadExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { [self] in
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
