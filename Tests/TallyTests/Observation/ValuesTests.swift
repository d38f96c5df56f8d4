import Foundation
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Observation of whatever is read from one snapshot, and of changes from a kept position on.
@Suite struct ValuesTests {
  @Test func aValueComesAgainOnlyWhenItHasChanged() async throws {
    try await withStore { store in
      var names = store.values { try $0.lists().map(\.name) }.makeAsyncIterator()
      #expect(try await names.next() == [])
      try await store.write { _ = try $0.add("no list", to: .inbox) }
      let home = try await store.write { try $0.addList(name: "Home") }
      #expect(try await names.next() == ["Home"])
      try await store.write { _ = try $0.recolorList(home.id, to: "000000") }
      try await store.write { _ = try $0.renameList(home.id, to: "House") }
      #expect(try await names.next() == ["House"])
    }
  }

  @Test func timeAloneChangesAValue() async throws {
    let clock = TestClock.noon
    try await withStore(.testing(clock: clock)) { store in
      try await store.write { _ = try $0.add("x", to: .today) }
      var counts = store.values { try $0.page(of: .today, limit: 5).tasks.count }.makeAsyncIterator()
      #expect(try await counts.next() == 1)
      clock.now = clock.now.adding(seconds: 86_400)
      #expect(try await counts.next() == 0)
    }
  }

  @Test func anErrorOfTheClosureEndsTheObservation() async throws {
    try await withStore { store in
      let id = try await store.write { try $0.add("x", to: .inbox).id }
      var titles = store.values { snapshot in
        guard let task = try snapshot.task(id) else { throw TallyError.taskNotFound(id) }
        return task.title
      }.makeAsyncIterator()
      #expect(try await titles.next() == "x")
      try await store.write { _ = try $0.delete(id) }
      await #expect(throws: TallyError.self) { try await titles.next() }
    }
  }

  @Test func changesGoOnFromAPositionThatWasKept() async throws {
    try await withStore { store in
      let start = try store.read { try $0.position.text }
      let first = try await store.write { try $0.add("first", to: .inbox).id }
      var changes = try store.changes(since: StorePosition(text: start)).makeAsyncIterator()
      let missed = try #require(try await changes.next())
      #expect(missed.isComplete && missed.tasks.inserted == [first])
      let second = try await store.write { try $0.add("second", to: .inbox).id }
      let next = try #require(try await changes.next())
      #expect(next.tasks.inserted == [second] && next.previousSequence == missed.sequence)
      #expect(try store.read { try $0.position } == next.position)
    }
  }

  @Test func aPositionOfAnotherStoreIsNotComplete() async throws {
    try await withStore { store in
      let position = try withStore { other in try other.read { try $0.position } }
      try await store.write { _ = try $0.add("x", to: .inbox) }
      var changes = try store.changes(since: position).makeAsyncIterator()
      #expect(try await changes.next()?.isComplete == false)
    }
  }

  @Test func theObservationOfADeletedListRemovesItsTasksAndThenFails() async throws {
    try await withStore { store in
      let list = try await store.write { transaction in
        let list = try transaction.addList(name: "Home")
        try transaction.add("x") { $0.listID = list.id }
        return list
      }
      var updates = store.observe(.list(list.id)).makeAsyncIterator()
      guard case .snapshot? = try await updates.next() else { throw NoUpdate() }
      try await store.write { _ = try $0.deleteList(list.id) }
      guard case .difference(let difference)? = try await updates.next() else { throw NoUpdate() }
      #expect(difference.removals == [0])
      let error = await #expect(throws: TallyError.self) { try await updates.next() }
      #expect(error?.code == .listNotFound)
    }
  }

  @Test func aListThatComesBackInTimeIsFollowedOn() async throws {
    try await withStore { store in
      let list = try await store.write { transaction in
        let list = try transaction.addList(name: "Home")
        try transaction.add("x") { $0.listID = list.id }
        return list
      }
      var updates = store.observe(.list(list.id)).makeAsyncIterator()
      _ = try await updates.next()
      try await store.write { _ = try $0.deleteList(list.id) }
      _ = try await updates.next()
      try await store.undo()
      guard case .difference(let difference)? = try await updates.next() else { throw NoUpdate() }
      #expect(difference.insertions.map(\.task.title) == ["x"])
    }
  }

  /// Each observation once had its own twenty looks a second.
  @Test func observationsThatNothingHappensToLookOnceASecond() async throws {
    try await withStore { store in
      let looks = Shared(0)
      let waiting = Task {
        for try await _ in store.values({ (snapshot) -> Int in
          looks.withLock { $0 += 1 }
          return try snapshot.taskCount
        }) {}
      }
      await waitUntil { looks.withLock { $0 } == 1 }
      let (before, start) = (store.watch.count, ContinuousClock.now)
      try await Task.sleep(for: CommitWatch.interval * 2)
      let wakeUpCount = Double(store.watch.count - before)
      // The thread's start, and a tick for each interval, however long the sleep took.
      #expect(wakeUpCount <= (ContinuousClock.now - start) / CommitWatch.interval + 2)
      waiting.cancel()
      _ = try? await waiting.value
      #expect(looks.withLock { $0 } == 1, "no commit and no minute has passed")
    }
  }

  /// Each look once began a snapshot, which wrote into liblmdb's table of readers: an idle device wrote to its disk.
  @Test func whatTimeDoesNotChangeIsLookedAtOnlyAfterCommits() async throws {
    try await withStore { store in
      let (looks, timedLooks) = (Shared(0), Shared(0))
      func observation(_ looks: Shared<Int>, followsTime: Bool) -> StoreObservation<Int> {
        StoreObservation(watch: store.watch, followsTime: followsTime) {
          {
            looks.withLock {
              $0 += 1; return nil
            }
          }
        }
      }
      let tasks = [(looks, false), (timedLooks, true)].map { looks, followsTime in
        Task { for try await _ in observation(looks, followsTime: followsTime) {} }
      }
      // After the first looks only one of them goes on.
      let last = Shared((looks: 0, timed: 0))
      await waitUntil {
        let now = (looks: looks.withLock { $0 }, timed: timedLooks.withLock { $0 })
        return last.withLock { last in
          if now.looks != last.looks { last = now }
          return now.timed > last.timed + 2
        }
      }
      let settled = looks.withLock { $0 }
      try await store.write { _ = try $0.add("x", to: .inbox) }
      await waitUntil { looks.withLock { $0 } > settled }
      for task in tasks { task.cancel() }
      for task in tasks { _ = try? await task.value }
    }
  }

  @Test func theThreadEndsWhenNobodyWaits() async throws {
    try await withStore { store in
      let waiting = Task { for try await _ in try store.changes() {} }
      await waitUntil { store.watch.isRunning }
      waiting.cancel()
      _ = try? await waiting.value
      await waitUntil { !store.watch.isRunning }
      try await store.write { _ = try $0.add("x", to: .inbox) }
      #expect(!store.watch.isRunning)
    }
  }

  private struct NoUpdate: Error {}
}
