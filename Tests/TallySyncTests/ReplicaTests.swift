import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores that exchange their changes.
struct ReplicaTests {
  @Test func aTaskArrivesWithAllItsFields() throws {
    try withReplicas(2) { space in
      let task = try space.stores[0].writeAndWait { transaction in
        let list = try transaction.addList(name: "Home", colorHex: "FF8800")
        let parent = try transaction.add("parent", to: .inbox) { $0.listID = list.id }
        return try transaction.add("é", to: .inbox) { task in
          (task.notes, task.listID, task.parentID, task.priority) = ("e\u{301}", list.id, parent.id, .high)
          (task.tags, task.dueDay, task.state) = (["a", "b"], CalendarDay(clamping: 20_001), .active)
          (task.reminderDate, task.scheduledDate) = (Timestamp(clamping: 5_000_000), CalendarDay(clamping: 20_000))
          task.attributes = ["client": .text("Acme"), "hours": .integer(2)]
          task.start = .day(CalendarDay(clamping: 19_999))
        }
      }
      try space.exchangeAll()
      var found = try #require(try space.stores[1].read { try $0.task(task.id) })
      found.updatedAt = task.updatedAt
      #expect(found == task)
      for start in [TaskStart.someday, nil, .day(.latest)] {
        try space.stores[1].writeAndWait { _ = try $0.update(task.id) { $0.start = start } }
        try space.exchangeAll()
        #expect(try space.stores[0].read { try $0.task(task.id)?.start } == start)
      }
      try space.expectEqualStores()
    }
  }

  @Test func editsOfDifferentFieldsBothStay() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.update(id) { $0.title = "two" } }
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.notes = "notes" } }
      try space.exchangeAll()
      let task = try #require(try space.stores[0].read { try $0.task(id) })
      #expect(task.title == "two" && task.notes == "notes")
      try space.expectEqualStores()
    }
  }

  /// The time of a change is that of its field, not that of the last one before the exchange.
  @Test func theLaterEditOfAFieldWinsWhateverElseWasEdited() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.update(id) { $0.title = "earlier" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.title = "later" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try space.stores[0].writeAndWait { _ = try $0.update(id) { $0.notes = "last" } }
      try space.exchangeAll()
      #expect(try space.stores[0].read { try $0.task(id) }?.title == "later")
      try space.expectEqualStores()
    }
  }

  @Test func aCompletionOfATaskThatWasDeletedElsewhereCounts() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { try $0.delete(id) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try space.stores[1].writeAndWait { _ = try $0.complete(id) }
      try space.exchangeAll()
      for store in space.stores {
        #expect(try store.read { try $0.task(id) } == nil)
        #expect(try store.read { try $0.statistics().completed.allTime } == 1)
      }
      try space.expectEqualStores()
    }
  }

  @Test func aTaskInAListThatWasDeletedElsewhereIsInTheInboxEverywhere() throws {
    try withReplicas(2) { space in
      let list = try space.stores[0].writeAndWait { try $0.addList(name: "Home").id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { try $0.deleteList(list) }
      let id = try space.stores[1].writeAndWait { try $0.add("one", to: .inbox) { $0.listID = list }.id }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.map(\.id) } == [id]) }
      try space.expectEqualStores()
    }
  }

  @Test func anEditBeforeADeletionDoesNotBringTheTaskBack() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { transaction in
        try transaction.update(id) { $0.title = "two" }
        try transaction.delete(id)
      }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) } == nil) }
    }
  }

  @Test func anotherTimeOfCompletionReplacesTheFirstOne() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { transaction in
        let id = try transaction.add("one", to: .inbox).id
        try transaction.complete(id)
        return id
      }
      try space.exchangeAll()
      let other = try OffsetTimestamp(space.clock.now.adding(seconds: -5_000), utcOffsetInMinutes: 60)
      try space.stores[1].writeAndWait { _ = try $0.complete(id, at: other) }
      try space.exchangeAll()
      for store in space.stores {
        #expect(try store.read { try $0.task(id) }?.completedAt == other)
        #expect(try store.read { try $0.statistics().completed.allTime } == 1)
      }
      try space.expectEqualStores()
    }
  }

  @Test func aSubtaskThatLeavesItsParentStaysInItsList() throws {
    try withReplicas(2) { space in
      let (parent, list) = try space.stores[0].writeAndWait { transaction in
        (try transaction.add("parent", to: .inbox).id, try transaction.addList(name: "Home").id)
      }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.move(parent, toList: list) }
      let id = try space.stores[1].writeAndWait { try $0.add("part", to: .inbox) { $0.parentID = parent }.id }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.parentID = nil } }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.listID == list) }
      try space.expectEqualStores()
    }
  }

  @Test func tasksThatWouldBeTooDeepAreAtTheTop() throws {
    try withReplicas(2) { space in
      let chains = try space.stores.map { store in
        try store.writeAndWait { transaction in
          var ids: [UUID] = []
          for number in 0..<6 {
            ids.append(try transaction.add("\(number)", to: .inbox) { $0.parentID = ids.last }.id)
          }
          return ids
        }
      }
      try space.exchangeAll()
      // Each is fine by itself.
      try space.stores[0].writeAndWait { _ = try $0.update(chains[0][0]) { $0.parentID = chains[1][2] } }
      let top = try space.stores[1].writeAndWait { try $0.add("top", to: .inbox).id }
      try space.stores[1].writeAndWait { _ = try $0.update(chains[1][0]) { $0.parentID = top } }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.task(chains[0][5]) }?.parentID == nil) }
      try space.expectEqualStores()
    }
  }

  /// The completion of the earlier life counts, as it does without synchronisation.
  @Test(arguments: [false, true]) func aCompletedTaskThatIsDeletedAndCreatedAgainKeepsItsCompletion(
    _ isDeliveredBetween: Bool
  ) throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.complete(id) }
      if isDeliveredBetween { try space.exchangeAll() }
      try space.stores[0].writeAndWait { try $0.delete(id) }
      if isDeliveredBetween { try space.exchangeAll() }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try space.stores[0].writeAndWait { _ = try $0.add("again", to: .inbox, id: id) }
      try space.exchangeAll()
      for store in space.stores {
        #expect(try store.read { try $0.task(id) }?.isCompleted == false)
        #expect(try store.read { try $0.statistics().completed.allTime } == 1)
      }
      try space.stores[1].writeAndWait { _ = try $0.complete(id) }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 2) }
      try space.stores[0].writeAndWait { _ = try $0.delete(id) }
      try space.stores[0].writeAndWait { _ = try $0.undo() }
      try space.exchangeAll()
      try space.expectEqualStores()
    }
  }

  @Test func purgedCompletionsAreGoneEverywhere() throws {
    try withReplicas(2) { space in
      let ids = try space.stores[0].writeAndWait { transaction in
        try (0..<3).map { try transaction.add("\($0)", to: .inbox).id }
      }
      try space.stores[0].writeAndWait { transaction in for id in ids { _ = try transaction.complete(id) } }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { transaction in for id in ids.dropLast() { try transaction.delete(id) } }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 1) }
      try space.expectEqualStores()
    }
  }

  @Test func undoRestoresTheFieldsThatNobodyHasChangedSince() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { transaction in
        try transaction.add("one", to: .inbox) { ($0.tags, $0.notes) = (["a", "b"], "old") }.id
      }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { transaction in
        _ = try transaction.update(id) {
          ($0.title, $0.priority, $0.tags, $0.notes) = ("two", .high, ["a", "c"], "new")
        }
      }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { transaction in
        _ = try transaction.update(id) {
          ($0.title, $0.tags, $0.dueDay) = ("three", ["a", "c", "d"], CalendarDay(clamping: 5))
        }
      }
      try space.exchangeAll()
      let result = try space.stores[0].writeAndWait { try $0.undo() }
      #expect(result.keptFields == [id: ["text"]])
      try space.exchangeAll()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(id) })
        #expect((task.title, task.priority, task.notes) == ("three", .none, "old"))
        #expect(task.tags == ["a", "b", "d"])
        #expect(task.dueDay == CalendarDay(clamping: 5))
      }
      try space.expectEqualStores()
    }
  }

  /// The one that completed it had not seen that the other one had started it.
  @Test func aReopenedTaskIsInTheStateThatItsDeviceShows() throws {
    try withReplicas(3) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.state = .active } }
      try space.stores[2].writeAndWait { _ = try $0.complete(id) }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.reopen(id) }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.state == .notStarted) }
      try space.expectEqualStores()
    }
  }

  @Test func undoOfManyTasksLeavesTheOneThatAnotherDeviceHasChanged() throws {
    try withReplicas(2) { space in
      let ids = try space.stores[0].writeAndWait { transaction in
        try (0..<4).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { transaction in for id in ids { try transaction.complete(id) } }
      try space.exchangeAll()
      let later = try OffsetTimestamp(space.clock.now.adding(seconds: -50), utcOffsetInMinutes: 0)
      try space.stores[1].writeAndWait { _ = try $0.complete(ids[0], at: later) }
      try space.exchangeAll()
      let result = try space.stores[0].writeAndWait { try $0.undo() }
      #expect(Set(result.keptFields.keys) == [ids[0]])
      try space.exchangeAll()
      for store in space.stores {
        #expect(try store.read { try $0.view(.completed(nil)).tasks.map(\.id) } == [ids[0]])
      }
      try space.expectEqualStores()
    }
  }

  @Test func undoOfACompletionLeavesWhatOthersHaveEdited() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.complete(id) }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.title = "two" } }
      try space.exchangeAll()
      try space.stores[0].writeAndWait { _ = try $0.undo() }
      try space.exchangeAll()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(id) })
        #expect(task.title == "two" && !task.isCompleted)
        #expect(try store.read { try $0.statistics().completed.allTime } == 0)
      }
      try space.expectEqualStores()
    }
  }

  @Test func undoTakesBackLocalWritesOnly() throws {
    try withReplicas(2) { space in
      let id = try space.stores[0].writeAndWait { try $0.add("one", to: .inbox).id }
      try space.exchangeAll()
      try space.stores[1].writeAndWait { _ = try $0.update(id) { $0.title = "two" } }
      try space.exchangeAll()
      #expect(throws: TallyError.self) { try space.stores[0].writeAndWait { _ = try $0.undo() } }
      try space.stores[1].writeAndWait { _ = try $0.undo() }
      try space.exchangeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.title == "one") }
    }
  }

  @Test func randomWritesOnSeveralStoresEndInTheSameTasksAndStatistics() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomWritesOnSeveralStores"))
    for _ in 0..<Self.historyCount {
      try withReplicas(Int.random(in: 2...4, using: &random)) { space in
        for _ in 0..<80 {
          try space.write(using: &random)
          if random.oneIn(5) { try space.exchange(using: &random) }
        }
        try space.exchangeAll()
        try space.expectEqualStores()
      }
    }
  }

  /// `make test-long` sets more.
  private static let historyCount =
    ProcessInfo.processInfo.environment["TALLY_SYNC_STORES"].flatMap { Int($0) } ?? 8

  private func withReplicas(_ count: Int, _ body: (inout StoreSpace) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      var space = try StoreSpace(count, in: directory)
      try body(&space)
      for store in space.stores {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }
}
