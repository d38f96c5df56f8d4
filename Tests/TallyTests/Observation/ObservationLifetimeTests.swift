import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// An observation keeps its store alive only as long as a task waits on it.
@Suite struct ObservationLifetimeTests {
  @Test func cancelledObserversLetTheStoreGo() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let (observers, isGone) = try await Self.startObservers(at: path)
      #expect(!isGone(), "it lives as long as its observers")
      for observer in observers { observer.cancel() }
      for observer in observers { try await observer.value }
      await waitUntil { isGone() }
      // It was closed.
      #expect(try taskCount(at: path) == 1)
    }
  }

  @Test func observationsThatAreDroppedLetTheStoreGo() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let isGone = try await Self.observeAndDrop(at: path)
      #expect(isGone())
      #expect(try taskCount(at: path) == 1)
    }
  }

  /// Observers of each kind that have seen a change and wait for more; nothing else holds the store.
  private static func startObservers(
    at path: FilePath
  ) async throws -> (observers: [Task<Void, any Error>], isGone: @Sendable () -> Bool) {
    let store = try TaskStore(at: path, configuration: .testing())
    let seenCount = Shared(0)
    let changes = try store.changes()
    let observers = [
      Task { [updates = store.observe(.all)] in for try await _ in updates { seenCount.withLock { $0 += 1 } } },
      Task { [updates = store.observeStatistics()] in for try await _ in updates { seenCount.withLock { $0 += 1 } } },
      Task { for try await _ in changes { seenCount.withLock { $0 += 1 } } },
    ]
    _ = try await store.write { try $0.add("seen", to: .inbox) }
    await waitUntil { seenCount.withLock { $0 } >= 3 }
    return (observers, { [weak store] in store == nil })
  }

  /// Sequences never waited on, and iterators that were.
  private static func observeAndDrop(at path: FilePath) async throws -> @Sendable () -> Bool {
    let store = try TaskStore(at: path, configuration: .testing())
    _ = (try store.changes(), store.observe(.all), store.observeStatistics())
    var (view, statistics) = (store.observe(.all).makeAsyncIterator(), store.observeStatistics().makeAsyncIterator())
    var changes = try store.changes().makeAsyncIterator()
    _ = try await store.write { try $0.add("seen", to: .inbox) }
    _ = (try await view.next(), try await statistics.next(), try await changes.next())
    return { [weak store] in store == nil }
  }
}
