@testable import Tally

/// Holds a store's commit thread inside a write that changes nothing, so that later writes gather in the queue.
final class QueueGate: Sendable {
  private let store: TaskStore
  private let mayGoOn = Signal()
  private let task: Task<Void, any Error>

  /// Returns when the thread is held.
  init(_ store: TaskStore) async {
    self.store = store
    let (isHeld, mayGoOn) = (Signal(), mayGoOn)
    task = Task.detached {
      try await store.write { _ in
        isHeld.send()
        mayGoOn.waitOnThread()
      }
    }
    await isHeld.wait()
  }

  /// Waits until so many writes are in the queue.
  func waitUntilWaiting(_ count: Int) async {
    await waitUntil { store.commits.waitingCount >= count }
  }

  /// Lets the thread go on once so many writes are in the queue.
  func open(whenWaiting count: Int = 0) async {
    await waitUntilWaiting(count)
    mayGoOn.send()
    _ = await task.result
  }
}
