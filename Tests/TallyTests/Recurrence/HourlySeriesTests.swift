import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Series that repeat by hours; each is in Berlin, where clocks change on 29 March and on 25 October 2026.
@Suite struct HourlySeriesTests {
  private static func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  /// Adds pills that are due first at an instant, which is now.
  private func withPills(
    at first: String = "2026-05-04T09:00:00+02:00", every rule: String,
    _ body: (TaskStore, TaskItem, TestClock) throws -> Void
  ) throws {
    let clock = TestClock(try Self.instant(first))
    try withStore(.testing(clock: clock, timeZone: "Europe/Berlin")) { store in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Pills") { task in
          task.recurrence = try Recurrence(phrase: rule)
          task.dueDate = clock.now
        }
      }
      try body(store, task, clock)
    }
  }

  private func allTasks(in store: TaskStore) throws -> [TaskItem] {
    try store.read { try $0.tasks(TaskQuery(.all, by: .place)).tasks }
  }

  /// Completes the open tasks of a series one after another when they are due, and returns when they were due.
  private func times(of task: TaskItem, _ count: Int, in store: TaskStore, _ clock: TestClock) throws -> [String] {
    var (open, times) = (Optional(task), [String]())
    while let task = open, times.count < count {
      let due = try #require(task.dueDate)
      times.append(due.iso8601)
      clock.now = max(clock.now, due)
      open = try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        return try transaction.successor(of: task)
      }
    }
    return times
  }

  /// The times are those of a clock: a step over a change of clocks takes an hour less or more.
  @Test(
    arguments: [
      ("every 8 hours", "2026-03-28T21:00:00+01:00", "2026-03-29T03:00:00Z 2026-03-29T11:00:00Z 2026-03-29T19:00:00Z"),
      ("every 8 hours", "2026-10-24T21:00:00+02:00", "2026-10-25T04:00:00Z 2026-10-25T12:00:00Z 2026-10-25T20:00:00Z"),
      // The clock has no 02:30, which is 03:30 then, once.
      ("every hour", "2026-03-29T01:30:00+01:00", "2026-03-29T01:30:00Z 2026-03-29T02:30:00Z 2026-03-29T03:30:00Z"),
      // It has 02:30 twice, and the first one counts.
      ("every hour", "2026-10-25T01:30:00+02:00", "2026-10-25T00:30:00Z 2026-10-25T02:30:00Z 2026-10-25T03:30:00Z"),
      ("every 36 hours", "2026-05-04T09:00:00+02:00", "2026-05-05T19:00:00Z 2026-05-07T07:00:00Z 2026-05-08T19:00:00Z"),
      // Saturday at 21:00, and then no Sunday.
      (
        "every 6 hours except sunday", "2026-05-09T15:00:00+02:00",
        "2026-05-09T19:00:00Z 2026-05-11T01:00:00Z 2026-05-11T07:00:00Z"
      ),
      (
        "every 12 hours except 5 may 2026", "2026-05-04T09:00:00+02:00",
        "2026-05-04T19:00:00Z 2026-05-06T07:00:00Z 2026-05-06T19:00:00Z"
      ),
    ])
  func theStepsAreTimesOnTheClock(phrase: String, first: String, next: String) throws {
    try withPills(at: first, every: phrase) { store, task, clock in
      let times = try times(of: task, 4, in: store, clock)
      #expect(times.dropFirst().joined(separator: " ") == next)
    }
  }

  @Test(
    arguments: [
      ("every 12 hours, 3 times", 3), ("every 8 hours until 5 may 2026", 5), ("every 8 hours, 1 time", 1),
      // The days that are left out count, those of other weekdays do not (RFC 5545).
      ("every 12 hours, 5 times, except 5 may 2026", 3), ("every 12 hours on monday, 4 times", 4),
    ])
  func aRuleEnds(phrase: String, count: Int) throws {
    try withPills(every: phrase) { store, task, clock in
      let found = try times(of: task, 10, in: store, clock)
      #expect(found.count == count)
    }
  }

  /// Whoever completes it when, the next task has the same id, and the steps that have passed are skipped.
  @Test func whatIsDoneLateSkipsTheStepsThatHavePassed() throws {
    var ids: Set<UUID> = []
    for (now, due, skipped, step) in [
      ("2026-05-04T08:00:00Z", "2026-05-04T15:00:00Z", 0, 1), ("2026-05-04T16:30:00Z", "2026-05-04T23:00:00Z", 1, 2),
      ("2026-05-06T16:30:00Z", "2026-05-06T23:00:00Z", 7, 8),
    ] {
      try withPills(every: "every 8 hours") { store, task, clock in
        // The stores share the id of the first task.
        let id = UUID(uuidString: "00000000-0000-7000-8000-000000000001") ?? task.id
        let first = try store.writeAndWait { transaction in
          try transaction.add("Tea", id: id) { ($0.recurrence, $0.dueDate) = (task.recurrence, task.dueDate) }
        }
        clock.now = try Self.instant(now)
        let (next, places) = try store.writeAndWait { transaction in
          let done = try transaction.complete(first.id)
          let next = try #require(try transaction.successor(of: done))
          return (next, try transaction.skippedPlaces(between: done, and: next))
        }
        #expect(next.dueDate == (try Self.instant(due)) && places.count == skipped)
        #expect(next.series?.index == 1 && next.series?.step == step)
        ids.insert(next.id)
      }
    }
    #expect(ids.count == 1)
  }

  @Test func leavingOneOutLeavesTheOthersOfTheDay() throws {
    for isDeleted in [false, true] {
      try withPills(every: "every 4 hours") { store, task, clock in
        let next = try store.writeAndWait { transaction in
          if isDeleted { try transaction.deleteOccurrence(task.id) } else { try transaction.skip(task.id) }
          return try #require(try transaction.successor(of: task))
        }
        #expect(next.dueDate == (try Self.instant("2026-05-04T13:00:00+02:00")))
        #expect(try store.read { try $0.series(of: next) }?.skippedDays == [])
        try store.writeAndWait { _ = try $0.undo() }
        #expect(try store.read { try $0.view(.all).tasks } == [task])
        // Also what was skipped and is reopened is there alone.
        try store.writeAndWait { transaction in
          try transaction.skip(task.id)
          try transaction.reopen(task.id)
        }
        #expect(try store.read { try $0.view(.all).tasks.map(\.id) } == [task.id])
      }
    }
  }

  @Test func aChangeOfOneTaskIsForThatTask() throws {
    try withPills(every: "every 8 hours") { store, task, clock in
      let next = try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.dueDate = try Self.instant("2026-05-04T11:30:00+02:00") }
        try transaction.complete(task.id)
        return try #require(try transaction.successor(of: task))
      }
      #expect(next.dueDate == (try Self.instant("2026-05-04T17:00:00+02:00")))
    }
  }

  /// The series goes on from the task's new time, or by the new rule from its time.
  @Test func aChangeOfTheSeriesHoldsFromThisTaskOn() throws {
    try withPills(every: "every 8 hours") { store, task, clock in
      let next = try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        let second = try #require(try transaction.successor(of: task))
        try transaction.updateSeries(of: second.id) { $0.dueDate = try Self.instant("2026-05-04T18:30:00+02:00") }
        try transaction.update(second.id) { $0.recurrence = try Recurrence(phrase: "every 3 hours") }
        return try #require(try transaction.task(second.id))
      }
      let times = try times(of: next, 3, in: store, clock)
      #expect(times == ["2026-05-04T16:30:00Z", "2026-05-04T19:30:00Z", "2026-05-04T22:30:00Z"])
    }
  }

  @Test func itsTimesAreThoseOfAZone() throws {
    try withPills(every: "every 8 hours") { store, task, clock in
      try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: "America/New_York"), ofSeriesWith: task.id) }
      let open = try #require(try store.read { try $0.task(task.id) })
      #expect(try times(of: open, 2, in: store, clock) == ["2026-05-04T13:00:00Z", "2026-05-04T21:00:00Z"])
    }
  }

  @Test func remindersAndPartsMoveByTheHours() throws {
    try withPills(every: "every 8 hours") { store, task, clock in
      let (next, part) = try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) { task in
          task.otherReminders = [
            .at(try Self.instant("2026-05-04T08:45:00+02:00")), try Reminder(text: "10 minutes before"),
          ]
        }
        try transaction.add("Water") { part in
          (part.parentID, part.dueDate) = (task.id, try Self.instant("2026-05-04T08:50:00+02:00"))
        }
        try transaction.complete(task.id)
        let next = try #require(try transaction.successor(of: task))
        return (next, try #require(try transaction.subtasks(of: next.id).first))
      }
      let reminders = next.reminderInstants(in: try #require(TimeZone(identifier: "Europe/Berlin"))).map(\.iso8601)
      #expect(reminders == ["2026-05-04T14:45:00Z", "2026-05-04T14:50:00Z"])
      #expect(part.dueDate == (try Self.instant("2026-05-04T16:50:00+02:00")))
    }
  }

  @Test func aTimeIsNeeded() throws {
    try withPills(every: "every 8 hours") { store, task, _ in
      expect(.invalidRecurrence) {
        _ = try store.writeAndWait { try $0.add("Tea", to: .today) { $0.recurrence = task.recurrence } }
      }
      expect(.invalidRecurrence) {
        _ = try store.writeAndWait { try $0.updateSeries(of: task.id) { $0.dueDate = nil } }
      }
      expect(.invalidRecurrence) {
        _ = try store.writeAndWait { transaction in
          try transaction.update(task.id) { $0.recurrence = .afterCompletion(try RecurrenceInterval(8, .hour)) }
        }
      }
      _ = try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) { ($0.dueDate, $0.reminderDate) = (nil, task.dueDate) }
      }
    }
  }

  /// A document has the step of a place; a place of any other series is as it was.
  @Test func theStepIsStoredAndExported() throws {
    try withPills(every: "every 8 hours") { store, task, clock in
      _ = try times(of: task, 2, in: store, clock)
      let text = try store.exportedText()
      #expect(text.contains(/"index" ?: ?1,\s*"step" ?: ?1\b/), "\(text)")
      try withStore(.testing(clock: clock, timeZone: "Europe/Berlin")) { copy in
        try copy.importText(text)
        #expect(try allTasks(in: copy).map(\.series) == (try allTasks(in: store).map(\.series)))
        let next = try #require(try allTasks(in: copy).first { $0.isOpen })
        #expect(next.series?.step == 2)
        #expect(try times(of: next, 2, in: copy, clock).last == "2026-05-05T07:00:00Z")
      }
    }
    let place = RecurrenceSeries(id: UUID(), start: .earliest, occurrence: .latest, index: 7)
    #expect(FieldValue.series(place).storedBytes.count == 28)
    let plain = String(decoding: try JSONEncoder().encode(place), as: UTF8.self)
    #expect(!plain.contains("step"))
    let step = RecurrenceSeries(id: place.id, start: .earliest, occurrence: .latest, index: 7, step: 9)
    #expect(try FieldValue(.series, storedBytes: FieldValue.series(step).storedBytes).series == step)
    let json = try JSONEncoder().encode(step)
    #expect(try JSONDecoder().decode(RecurrenceSeries.self, from: json) == step)
  }

  /// A rule that no step satisfies ends, and so does a hostile number of steps.
  @Test func ruleWithoutOccurrencesEnds() throws {
    guard case .rule(let rule) = try Recurrence(text: "FREQ=HOURLY;INTERVAL=168;BYDAY=TU") else { return }
    let monday = try CalendarDay(iso8601: "2026-05-04")
    #expect(HourlySteps(of: rule, from: monday).next(after: 0) == nil)
    #expect(HourlySteps(of: rule, from: monday, atSecond: 3_600).next(after: Int(UInt32.max)) == nil)
    #expect(rule.occurrences(from: monday).first { _ in true } == nil)
    guard case .rule(let daily) = try Recurrence(text: "FREQ=HOURLY;INTERVAL=8;COUNT=4") else { return }
    #expect(daily.occurrences(from: monday).map(\.iso8601) == ["2026-05-04", "2026-05-05"])
    guard case .rule(let counted) = try Recurrence(text: "FREQ=HOURLY;BYMONTH=5;COUNT=9999") else { return }
    #expect(HourlySteps(of: counted, from: monday).next(after: Int(UInt32.max)) == nil)
  }
}
