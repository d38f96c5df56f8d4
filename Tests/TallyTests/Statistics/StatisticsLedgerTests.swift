import Foundation
import Tally
import TallyTestSupport
import Testing

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

  @Test func aDeletedListKeepsItsCountWithoutAName() throws {
    try withCompletedTask { store, _, list in
      try store.writeAndWait { try $0.deleteList(list.id) }
      let counts = try store.statistics().byList
      #expect(counts.map(\.listID) == [list.id])
      #expect(counts.map(\.name) == [nil])
      var options = StatisticsOptions()
      options.listID = list.id
      #expect(try store.statistics(options).completed.allTime == 1)
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
