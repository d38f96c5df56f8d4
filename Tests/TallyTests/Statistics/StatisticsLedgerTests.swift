import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The effect on the statistics of changing a task after its completion.
@Suite struct StatisticsLedgerTests {
  private func withCompletedTask(_ body: (TaskStore, TaskItem, TaskList) throws -> Void) throws {
    try withStore { store in
      let (task, list) = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "work")
        let task = try transaction.add("task", to: .list(list.id))
        return (try transaction.complete(task.id), list)
      }
      try body(store, task, list)
    }
  }

  @Test func aDeletedTasksCompletionStaysUntilItIsPurged() throws {
    try withCompletedTask { store, task, _ in
      try store.writeAndWait { try $0.delete(task.id) }
      #expect(try store.statistics().completed.today == 1)
      #expect(try store.writeAndWait { try $0.purgeCompletions(before: .latest) } == 1)
      #expect(try store.statistics().completed.allTime == 0)
      #expect(try store.statistics().series.buckets.allSatisfy { $0.created == 0 })
    }
  }

  @Test func reopeningTakesACompletionBackAndCompletingAgainCountsOnce() throws {
    try withCompletedTask { store, task, _ in
      try store.writeAndWait { try $0.reopen(task.id) }
      #expect(try store.statistics().completed.allTime == 0)
      #expect(try store.statistics().open.total == 1)
      try store.writeAndWait { try $0.complete(task.id) }
      #expect(try store.statistics().completed.allTime == 1)
    }
  }

  @Test func aMovedTaskCountsWhereItWasCompleted() throws {
    try withCompletedTask { store, task, list in
      try store.writeAndWait { try $0.move(task.id, toList: nil) }
      #expect(try store.statistics().byList.map(\.listID) == [list.id])
    }
  }

  @Test func aDeletedListKeepsItsCountAndItsLastName() throws {
    try withCompletedTask { store, _, list in
      try store.writeAndWait { try $0.renameList(list.id, to: "Renamed") }
      try store.writeAndWait { try $0.deleteList(list.id) }
      #expect(
        try store.statistics().byList == [ListCount(listID: list.id, name: "Renamed", isDeleted: true, completed: 1)])
      var options = StatisticsOptions()
      options.listID = list.id
      #expect(try store.statistics(options).completed.allTime == 1)
    }
  }

  @Test func aCompletionKeepsItsTagsAndPriorityWhenTheTaskChangesOrGoes() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        try [["Home", "tax"], ["HOME"], []].map { tags in
          let task = try transaction.add("task", to: .inbox) { task in
            task.tags = TagSet(tags)
            task.priority = tags.isEmpty ? .none : .high
          }
          return try transaction.complete(task.id).id
        }
      }
      try store.writeAndWait { transaction in
        try transaction.update(ids[0]) { ($0.tags, $0.priority) = (["later"], .low) }
        try transaction.delete(ids[1])
      }
      let statistics = try store.statistics()
      #expect(statistics.byTag.map(\.tag) == ["Home", "tax"])
      #expect(statistics.byTag.map(\.completed) == [2, 1])
      #expect(statistics.byPriority.map(\.priority) == [.high, .none])
      #expect(statistics.byPriority.map(\.completed) == [2, 1])
    }
  }

  @Test func deletingAnOpenTaskTakesItsCreationBack() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("task", to: .inbox) }
      #expect(try store.statistics().series.buckets.last?.created == 1)
      try store.writeAndWait { try $0.delete(task.id) }
      #expect(try store.statistics().series.buckets.last?.created == 0)
    }
  }

  @Test func aDeletedTaskHasOnlyWhatTheLedgerKeeps() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        try ["pay rent", "pay tax"].map { title in
          let task = try transaction.add(title, to: .inbox) { ($0.tags, $0.notes) = (["home"], "soon") }
          return try transaction.complete(task.id).id
        }
      }
      try store.writeAndWait { transaction in
        try transaction.delete(ids[0])
        try transaction.update(ids[1]) { $0.tags = ["office"] }
      }
      let expected = [
        "#home": 2, "#office": 0, "#home -is:open": 2, "title~pay": 1, "has:notes": 1, "-has:notes": 1, "#home tax": 1,
        "is:done completed=today": 2, "is:open": 0, "is:parent": 0, "list:inbox": 2,
      ]
      for (text, count) in expected {
        var options = StatisticsOptions()
        options.filter = try TaskFilter(text: text)
        let statistics = try store.statistics(options)
        #expect(statistics.completed.today == count, "\(text)")
        #expect(statistics.path == (["#home", "#office"].contains(text) ? .counters : .ledger), "\(text)")
        #expect(statistics.byTag == (count == 0 ? [] : [TagCount(tag: "home", completed: count)]), "\(text)")
      }
    }
  }

  @Test func aListOfTheFilterThatDoesNotExistIsRefused() throws {
    try withStore { store in
      var options = StatisticsOptions()
      options.filter = .list("nowhere")
      let error = #expect(throws: TallyError.self) { try store.statistics(options) }
      #expect(error?.code == .listNotFound)
    }
  }

  @Test func impossibleQuestionsAreRefused() throws {
    try withStore { store in
      var options = StatisticsOptions()
      options.dayStartInMinutes = 1_440
      #expect(throws: TallyError.self) { try store.statistics(options) }
      options = StatisticsOptions()
      options.listID = UUID()
      #expect(throws: TallyError.self) { try store.statistics(options) }
      options = StatisticsOptions()
      options.from = try CalendarDay(year: 2026, month: 2, day: 1)
      options.to = try CalendarDay(year: 2026, month: 1, day: 1)
      #expect(throws: TallyError.self) { try store.statistics(options) }
    }
  }

  @Test(arguments: [Timestamp.earliest, .latest])
  func bothEndsOfTimeCanBeAskedAbout(now: Timestamp) throws {
    try withCompletedTask { store, _, _ in
      for unit in Series.Unit.allCases {
        var options = StatisticsOptions()
        options.unit = unit
        let statistics = try store.statistics(asOf: now, options)
        #expect(statistics.completed.allTime == 1)
        #expect(statistics.completed.thisYear == 0)
      }
    }
  }
}
