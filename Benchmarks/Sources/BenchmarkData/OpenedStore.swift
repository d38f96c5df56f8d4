import Synchronization
package import Tally

/// A benchmark's store between its set-up and its end, and the number of its runs.
package final class OpenedStore: Sendable {
  private let store = Mutex<TaskStore?>(nil)
  private let runCount = Mutex(0)

  package init() {}

  package func open(_ openStore: () throws -> TaskStore) throws {
    try store.withLock { $0 = try openStore() }
  }

  package func get() throws -> TaskStore {
    guard let store = store.withLock({ $0 }) else { throw WrongAnswer(description: "no store is open") }
    return store
  }

  /// 0, 1, 2 and so on.
  package func nextNumber() -> Int {
    runCount.withLock { count in
      defer { count += 1 }
      return count
    }
  }

  package func close() throws {
    try store.withLock { try $0?.close() }
  }
}
