import LMDB
import Testing

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

  /// Waits until this number of writes is in the queue.
  func waitUntilWaiting(_ count: Int) async {
    await waitUntil { [store] in store.commits.waitingCount >= count }
  }

  /// Lets the thread continue once this number of writes is in the queue.
  func open(whenWaiting count: Int = 0) async {
    await waitUntilWaiting(count)
    mayGoOn.send()
    _ = await task.result
  }

  /// Holds the thread, and this number of writes behind it.
  static func holding(
    _ count: Int, writesOf store: TaskStore
  ) async -> (gate: QueueGate, writes: [Task<TaskItem, any Error>]) {
    let gate = await QueueGate(store)
    let writes = (0..<count).map { number in Task { try await store.write { try $0.add("\(number)", to: .inbox) } } }
    await gate.waitUntilWaiting(count)
    return (gate, writes)
  }
}

/// Requires that neither form of `write` does anything.
func expectRefusedWrites(_ store: TaskStore, _ expected: TallyError.Code) async {
  let error = #expect(throws: TallyError.self) { try write(to: store) }
  #expect(error?.code == expected)
  let later = await #expect(throws: TallyError.self) { try await store.write { _ = try $0.add("x", to: .inbox) } }
  #expect(later?.code == expected)
}

/// The synchronous form, which an asynchronous function cannot call.
private func write(to store: TaskStore) throws {
  try store.writeAndWait { _ = try $0.add("x", to: .inbox) }
}
