import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Completing a task that repeats makes the next one; now is noon of Saturday, 2026-11-21, in Istanbul.
@Suite struct RepeatingTaskTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  /// Adds a task for today that repeats, due at 17:00 and with a reminder at 09:00 on the day before.
  static func add(
    _ recurrence: String = "FREQ=WEEKLY", to transaction: inout StoreWriteTransaction, parent: UUID? = nil
  ) throws -> TaskItem {
    let list = try transaction.lists().first ?? transaction.addList(name: "Home")
    return try transaction.add("Water the plants", to: .today) { task in
      task.recurrence = try Recurrence(phrase: recurrence)
      task.notes = "Both rooms"
      task.dueDate = try Timestamp(iso8601: "2026-11-21T17:00:00+03:00")
      task.reminderDate = try Timestamp(iso8601: "2026-11-20T09:00:00+03:00")
      task.tags = ["home", "green"]
      task.priority = .high
      task.listID = list.id
      task.parentID = parent
      task.attributes = ["estimate": .integer(10)]
    }
  }

  @Test func completingMakesTheNextTaskInTheSameTransaction() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try transaction.complete(Self.add(to: &transaction).id)
        let next = try #require(try transaction.successor(of: task))
        var expected = task
        expected.id = next.id
        expected.state = .notStarted
        expected.completedAt = nil
        expected.scheduledDate = try Self.day("2026-11-28")
        expected.dueDate = try Timestamp(iso8601: "2026-11-28T17:00:00+03:00")
        expected.reminderDate = try Timestamp(iso8601: "2026-11-27T09:00:00+03:00")
        expected.series = RecurrenceSeries(
          id: task.id, start: try Self.day("2026-11-21"), occurrence: try Self.day("2026-11-28"), index: 1)
        expected.updatedAt = next.updatedAt
        #expect(next == expected)
        #expect(next.id == expected.series?.taskID && next.id != task.id)
        #expect(try transaction.taskCount == 2)
      }
    }
  }

  /// A way to complete a task, by a name for messages.
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let complete: @Sendable (UUID, inout StoreWriteTransaction) throws -> Void
  }

  static let ways = [
    Way(testDescription: "complete") { try $1.complete($0) },
    Way(testDescription: "complete in the past") {
      try $1.complete($0, at: OffsetTimestamp(Timestamp(iso8601: "2026-11-21T00:00:00+03:00"), in: .gmt))
    },
    Way(testDescription: "set the state") { try $1.setState(.completed, of: $0) },
    Way(testDescription: "tap twice") { id, transaction in
      try transaction.advanceState(of: id)
      try transaction.advanceState(of: id)
    },
    Way(testDescription: "update") { try $1.update($0) { $0.state = .completed } },
  ]

  @Test(arguments: ways) func everyWayToCompleteMakesTheNextTask(way: Way) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try Self.add("every day", to: &transaction)
        try way.complete(task.id, &transaction)
        #expect(try transaction.successor(of: task)?.scheduledDate == Self.day("2026-11-22"))
        #expect(try transaction.taskCount == 2)
      }
    }
  }

  @Test func aTaskAddedAsCompletedMakesTheNextTask() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("Water the plants") { task in
          task.recurrence = try Recurrence(phrase: "every 3 days after completion")
          task.state = .completed
        }
        #expect(task.scheduledDate == nil)
        #expect(try transaction.successor(of: task)?.scheduledDate == Self.day("2026-11-24"))
      }
    }
  }

  @Test func aTaskWrittenAsGivenMakesNone() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        var task = try Self.add(to: &transaction)
        try transaction.delete(task.id)
        (task.state, task.completedAt) = (.completed, OffsetTimestamp(transaction.now, in: .gmt))
        try transaction.insert(contentsOf: [task])
        #expect(try transaction.taskCount == 1)
      }
    }
  }

  @Test(
    arguments: [
      ("every day", "2026-11-24", "2026-11-24"), ("every day", "2026-11-21", "2026-11-22"),
      ("every saturday", "2026-12-20", "2026-12-26"), ("every saturday", "2026-11-19", "2026-11-28"),
      ("every 3 days after completion", "2026-12-20", "2026-12-23"),
    ] as [(String, String, String)])
  func missedOccurrencesDoNotPileUp(recurrence: String, today: String, next: String) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try Self.add(recurrence, to: &$0) }
      clock.now = try Timestamp(iso8601: "\(today)T12:00:00+03:00")
      try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        let successor = try #require(try transaction.successor(of: task))
        #expect(try successor.scheduledDate == Self.day(next))
        #expect(try successor.dueDate == Timestamp(iso8601: "\(next)T17:00:00+03:00"))
        #expect(try transaction.taskCount == 2)
      }
    }
  }

  @Test func aSeriesEndsWithItsRule() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        var task = try Self.add("every day, 2 times", to: &transaction)
        try transaction.complete(task.id)
        task = try #require(try transaction.successor(of: task))
        try transaction.complete(task.id)
        #expect(try transaction.successor(of: task) == nil)
        #expect(try transaction.taskCount == 2)
      }
    }
  }

  /// One that ends today is a rule of one occurrence; a task that is done already may have had any.
  @Test func aRuleThatHasEndedIsRefused() throws {
    let ended = try Recurrence(text: "FREQ=DAILY;UNTIL=20261120")
    try withStore { (store: TaskStore) throws in
      expect(.invalidRecurrence) { try store.writeAndWait { _ = try $0.add("Water") { $0.recurrence = ended } } }
      let task = try store.writeAndWait { transaction in
        try transaction.add("Water") { $0.recurrence = try Recurrence(text: "FREQ=DAILY;UNTIL=20261121") }
      }
      #expect(task.scheduledDate == (try Self.day("2026-11-21")))
      expect(.invalidRecurrence) { try store.writeAndWait { _ = try $0.update(task.id) { $0.recurrence = ended } } }
      try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        try transaction.update(task.id) { $0.recurrence = ended }
      }
    }
  }

  @Test func aRulePlansATaskThatHasNoDay() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let monday = try transaction.add("Review") { $0.recurrence = try Recurrence(phrase: "every monday") }
        #expect(try monday.scheduledDate == Self.day("2026-11-23"))
        #expect(monday.series == RecurrenceSeries(startingWith: monday.id, on: try Self.day("2026-11-23")))
        let due = try transaction.add("Pay") { task in
          task.recurrence = try Recurrence(phrase: "monthly")
          task.dueDay = try Self.day("2026-11-30")
        }
        #expect(due.scheduledDate == nil)
        try transaction.complete(due.id)
        let next = try #require(try transaction.successor(of: due))
        #expect(try next.dueDay == Self.day("2026-12-30") && next.scheduledDate == nil)
      }
    }
  }

  @Test func aRuleDoesNotPlanATaskThatIsDoneAlready() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("Review") { task in
          task.recurrence = try Recurrence(phrase: "every monday")
          task.state = .completed
        }
        #expect(task.scheduledDate == nil)
        #expect(try transaction.successor(of: task)?.scheduledDate == Self.day("2026-11-23"))
      }
    }
  }

  @Test func aSeriesBeginsAtTheDayThatItsFirstTaskGetsLater() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let added = try transaction.add("Water the plants") { $0.recurrence = try Recurrence(phrase: "after 3 days") }
        #expect(try added.series?.start == Self.day("2026-11-21"))
        let planned = try transaction.schedule(added.id, on: Self.day("2026-12-10"))
        #expect(planned.series == RecurrenceSeries(startingWith: added.id, on: try Self.day("2026-12-10")))
        // Moved once more, it has only been put off.
        let moved = try transaction.schedule(added.id, on: Self.day("2026-12-12"))
        #expect(moved.series == planned.series)
      }
    }
  }

  @Test func aSeriesGoesOnByAnotherRecurrence() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let first = try Self.add("every day", to: &transaction)
        try transaction.complete(first.id)
        let second = try #require(try transaction.successor(of: first))
        let changed = try transaction.update(second.id) { $0.recurrence = try Recurrence(phrase: "every week") }
        let day = try Self.day("2026-11-22")
        #expect(changed.series == RecurrenceSeries(id: first.id, start: day, occurrence: day, index: 1))
        let stopped = try transaction.update(second.id) { $0.recurrence = nil }
        #expect(stopped.series == nil)
        try transaction.complete(second.id)
        #expect(try transaction.taskCount == 2)
      }
    }
  }

  @Test func theNextTaskKeepsItsPositionInAList() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let tasks = try (0..<3).map { _ in try Self.add(to: &transaction) }
        try transaction.complete(tasks[1].id)
        let next = try #require(try transaction.successor(of: tasks[1]))
        let list = try #require(tasks[0].listID)
        let open = try transaction.view(.list(list)).tasks.filter { !$0.isCompleted }
        #expect(open.map(\.id) == [tasks[0].id, next.id, tasks[2].id])
      }
    }
  }
}
