import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// The sequences that programs wait on.
@Suite struct ChangesTests {
  @Test func whatACommitCreatedIsNotNewAfterIt() throws {
    try withStore { store in
      let (task, list) = try store.writeAndWait { (try $0.add("task", to: .inbox).id, try $0.addList(name: "List").id) }
      let position = try store.read { try $0.position }
      try store.writeAndWait { transaction in
        _ = try transaction.complete(task)
        _ = try transaction.renameList(list, to: "Other")
      }
      try store.read { transaction in
        let changes = try transaction.changes(since: position)
        #expect(changes.tasks.inserted == [] && changes.tasks.updated == [task])
        #expect(changes.lists.inserted == [] && changes.lists.updated == [list])
        let ofAnother = StorePosition(storeID: UUID(), sequence: position.sequence)
        #expect(try !transaction.changes(since: ofAnother).isComplete)
      }
    }
  }

  @Test func changesComeInTheOrderOfCommitsAndNoneIsLost() async throws {
    try await withStore { store in
      let changes = try store.changes()
      let writer = Task {
        for number in 0..<300 {
          try await store.write { _ = try $0.add("\(number)", to: .inbox) }
        }
      }
      var (seen, last): (Set<UUID>, UInt64) = ([], 0)
      for try await set in changes {
        #expect(set.isComplete && set.previousSequence == last && set.sequence > last)
        #expect(seen.isDisjoint(with: set.tasks.inserted))
        seen.formUnion(set.tasks.inserted)
        last = set.sequence
        if seen.count == 300 { break }
      }
      try await writer.value
      #expect(try store.read { try $0.taskCount } == 300)
    }
  }

  @Test func whatHappenedBetweenTwoLooksIsToldByItsOutcome() throws {
    try withStore { store in
      let (kept, gone) = try store.writeAndWait { transaction in
        (try transaction.add("kept", to: .inbox).id, try transaction.add("gone", to: .inbox).id)
      }
      let start = try store.read { try $0.sequence }
      let (made, list) = try store.writeAndWait { transaction in
        (try transaction.add("made", to: .inbox).id, try transaction.addList(name: "x").id)
      }
      try store.writeAndWait { transaction in
        let brief = try transaction.add("brief", to: .inbox).id
        _ = try transaction.complete(brief)
        _ = try transaction.complete(kept)
        _ = try transaction.delete(gone)
        _ = try transaction.delete(brief)
      }
      let changes = try store.read { try $0.changes(since: start) }
      let none = try store.read { try $0.changes(since: changes.sequence) }
      #expect(changes.tasks.inserted == [made])
      #expect(changes.tasks.updated == [kept])
      #expect(changes.tasks.deleted == [gone])
      #expect(changes.lists.inserted == [list])
      #expect(none.tasks.isEmpty)
    }
  }

  @Test func anObservationTellsTheSnapshotFirstThenDifferencesAndReadsTheViewOnce() async throws {
    let clock = TestClock.noon
    try await withStore(.testing(clock: clock)) { store in
      _ = try await store.write { try $0.add("today", to: .today) }
      _ = try await store.write { try $0.add("tomorrow", to: .upcoming) }
      var updates = store.observe(.today).makeAsyncIterator()
      guard case .snapshot(let view) = try await updates.next() else { throw NoSnapshot() }
      #expect(view.tasks.map(\.title) == ["today"])
      _ = try await store.write { try $0.add("more", to: .today) }
      guard case .difference(let added) = try await updates.next() else { throw NoSnapshot() }
      #expect(added.insertions.map(\.task.title) == ["more"] && added.insertions.map(\.position) == [1])
      // Midnight passes.
      clock.now = clock.now.adding(seconds: 86_400)
      guard case .difference(let next) = try await updates.next() else { throw NoSnapshot() }
      #expect(next.removals == [0, 1] && next.insertions.map(\.task.title) == ["tomorrow"])
      #expect(store.observationCounts.viewReadCount == 1)
    }
  }

  @Test func statisticsAreToldWhenTheyChange() async throws {
    try await withStore { store in
      var updates = store.observeStatistics().makeAsyncIterator()
      let first = try await updates.next()
      #expect(first?.completed.today == 0)
      let id = try await store.write { try $0.add("x", to: .inbox).id }
      _ = try await updates.next()
      try await store.write { _ = try $0.complete(id) }
      let last = try await updates.next()
      #expect(last?.completed.today == 1)
    }
  }

  @Test func cancellationEndsAnObservation() async throws {
    try await withStore { store in
      let waiting = Task {
        var count = 0
        for try await _ in store.observe(.all) { count += 1 }
        return count
      }
      await waitUntil { store.observationCounts.viewReadCount == 1 }
      waiting.cancel()
      let count = try await waiting.value
      #expect(count == 1)
    }
  }

  @Test func closingTheStoreEndsAnObservation() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let changes = try store.changes()
      let waiting = Task {
        for try await _ in changes {}
      }
      await waitUntil { (try? store.close()) != nil }
      try await waiting.value
    }
  }

  /// The bug: the thread that watches for the commits of others looked at the store, and closing was refused.
  @Test func closingIsNotRefusedBecauseTheStoreLooksAtItself() async throws {
    try await withTemporaryDirectory { directory in
      for number in 0..<200 {
        let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
        let waiting = Task { [updates = store.observe(.all)] in for try await _ in updates {} }
        // The thread starts with a look.
        await waitUntil { store.watch.isRunning }
        waiting.cancel()
        _ = await waiting.result
        #expect(throws: Never.self, "round \(number)") { try store.close() }
      }
    }
  }

  private struct NoSnapshot: Error {}

  /// More writes than the history keeps, and one that it does not keep at all.
  @Test func changesAreCompleteHoweverMuchHasBeenWrittenSince() throws {
    try withStore { store in
      let kept = try store.writeAndWait { try $0.add("kept", to: .inbox).id }
      let start = try store.read { try $0.sequence }
      for number in 0..<1_200 { try store.writeAndWait { _ = try $0.update(kept) { $0.title = "\(number)" } } }
      let large = try store.writeAndWait { try $0.add(String(repeating: "x", count: 9 << 20), to: .inbox).id }
      let changes = try store.read { try $0.changes(since: start) }
      #expect(changes.isComplete)
      #expect(changes.tasks.updated == [kept] && changes.tasks.inserted == [large] && changes.tasks.deleted.isEmpty)
    }
  }

  @Test func aDeletionStaysInTheLogUntilTheTaskComesBack() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("x", to: .inbox) }
      let created = try store.read { try $0.sequence }
      try store.writeAndWait { _ = try $0.delete(task.id) }
      let deleted = try store.read { try $0.sequence }
      #expect(try store.read { try $0.changes(since: created).tasks.deleted } == [task.id])
      #expect(try store.read { try $0.changes(since: created - 1).tasks.isEmpty }, "created and deleted since")
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.changes(since: deleted).tasks.inserted } == [task.id])
      #expect(try store.read { try $0.tables.tombstones.count(in: $0.base) } == 0)
      try checkInvariants(of: store)
    }
  }

  @Test func renumberedNeighboursAreInTheLog() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in try (0..<4).map { try transaction.add("\($0)", to: .inbox).id }
      }
      let start = try store.read { try $0.sequence }
      for _ in 0..<40 {
        try store.writeAndWait { transaction in
          try transaction.move(ids[3], before: ids[1])
          try transaction.move(ids[2], before: ids[3])
        }
      }
      let changes = try store.read { try $0.changes(since: start) }
      #expect(changes.tasks.updated.isSuperset(of: [ids[2], ids[3]]))
    }
  }

  @Test func undoLeavesWritesOfOtherOriginsAlone() throws {
    try withStore { store in
      try store.writeAndWait { _ = try $0.add("mine", to: .inbox) }
      try store.writeAndWait { transaction in
        transaction.state.origin = .replica
        _ = try transaction.add("theirs", to: .inbox)
      }
      #expect(try store.writeAndWait { try $0.undo() }.deletedTasks.map(\.title) == ["mine"])
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["theirs"])
      #expect { try store.writeAndWait { try $0.undo() } } throws: { ($0 as? TallyError)?.code == .nothingToUndo }
      // A redo goes past the other's write, too.
      #expect(try store.writeAndWait { try $0.redo() }.tasks.map(\.title) == ["mine"])
    }
  }
}
