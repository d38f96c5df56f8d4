import Foundation
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Observations outlive a suspension, and deliver the changes made meanwhile.
@Suite struct SuspendedObservationTests {
  @Test func whatAnotherProcessWritesMeanwhileComesAsOneDifference() async throws {
    try await withStore { store in
      var (changes, updates) = (try store.changes().makeAsyncIterator(), store.observe(.inbox).makeAsyncIterator())
      guard case .snapshot(let view) = try await updates.next() else { throw NoUpdate() }
      let before = try store.read { try $0.sequence }
      try store.suspend()
      #expect(try HelperProcess("add", store.directory, 5).lines() == ["done"])
      #expect(try HelperProcess("compact", store.directory, 1_000).lines() == ["none"])
      try store.resume()
      let set = try await changes.next()
      #expect(set?.isComplete == true && set?.previousSequence == before && set?.tasks.inserted.count == 5)
      guard case .difference(let difference) = try await updates.next() else { throw NoUpdate() }
      #expect(difference.applied(to: view.tasks).map(\.title) == ["0", "1", "2", "3", "4"])
      #expect(store.observationCounts.viewReadCount == 1)
    }
  }

  @Test func anObserverThatWaitsDuringTheSuspensionGoesOn() async throws {
    try await withStore { store in
      let titles = Shared<[String]>([])
      let waiting = Task {
        for try await update in store.observe(.inbox) {
          guard case .difference(let difference) = update else { continue }
          titles.withLock { $0 += difference.insertions.map(\.task.title) }
          if difference.insertions.contains(where: { $0.task.title == "after" }) { return }
        }
      }
      await waitUntil { store.observationCounts.viewReadCount == 1 }
      try await store.write { _ = try $0.add("before", to: .inbox) }
      try store.suspend()
      // Longer than an observer sleeps, so that it meets the suspended store.
      try await Task.sleep(for: CommitWatch.interval * 1.5)
      try store.resume()
      try await store.write { _ = try $0.add("after", to: .inbox) }
      try await waiting.value
      #expect(titles.withLock { $0 } == ["before", "after"])
    }
  }

  @Test func cancellationEndsAnObservationOfASuspendedStore() async throws {
    try await withStore { store in
      let changes = try store.changes()
      try store.suspend()
      let waiting = Task { for try await _ in changes {} }
      waiting.cancel()
      try await waiting.value
      try store.resume()
    }
  }

  @Test func anOlderStateRestoredMeanwhileIsToldAsIncomplete() async throws {
    try await withStore { store in
      _ = try await store.write { try $0.add("kept", to: .inbox) }
      try store.backup(to: store.directory.removingLastComponent().appending("backup"))
      _ = try await store.write { try $0.add("lost", to: .inbox) }
      try await expectIncomplete(of: store) { () throws in
        #expect(try HelperProcess("restore", store.directory, 1_000).lines() == ["none"])
      }
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["kept"])
    }
  }

  /// The bug: the older state had outgrown the last commit seen, and only changes after that one were delivered, as if
  /// they were all.
  @Test func anOlderStateInPlaceOfADamagedOneIsToldAsIncomplete() async throws {
    try await withStore { store in
      _ = try await store.write { try $0.add("kept", to: .inbox) }
      try store.backup(to: store.directory.removingLastComponent().appending("backup"))
      _ = try await store.write { try $0.add("lost", to: .inbox) }
      try await expectIncomplete(of: store) { () throws in
        try write(Array("nonsense".utf8), to: store.directory.appending("data.mdb"))
        #expect(try HelperProcess("restore", store.directory, 1_000).lines() == ["none"])
        #expect(try HelperProcess("add", store.directory, 3).lines() == ["done"])
      }
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["kept", "0", "1", "2"])
    }
  }

  @Test func anotherStoreInItsPlaceIsToldAsIncomplete() async throws {
    try await withStore { store in
      for title in ["a", "b"] { _ = try await store.write { try $0.add(title, to: .inbox) } }
      try await expectIncomplete(of: store) {
        try FileManager.default.removeItem(atPath: store.directory.string)
        // With the same number of commits.
        #expect(try HelperProcess("add", store.directory, 2).lines() == ["done"])
      }
    }
  }

  private func expectIncomplete(of store: TaskStore, _ replace: () throws -> Void) async throws {
    var (changes, updates) = (try store.changes().makeAsyncIterator(), store.observe(.inbox).makeAsyncIterator())
    guard case .snapshot(let view) = try await updates.next() else { throw NoUpdate() }
    try store.suspend()
    try replace()
    try store.resume()
    #expect(try await changes.next()?.isComplete == false)
    guard case .difference(let difference) = try await updates.next() else { throw NoUpdate() }
    let fresh = try store.read { try $0.view(.inbox).tasks }
    #expect(difference.applied(to: view.tasks) == fresh)
    #expect(store.observationCounts.viewReadCount == 2)
  }

  private struct NoUpdate: Error {}
}
