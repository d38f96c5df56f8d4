import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// What a change of a series, and of one of its closed tasks, does to the tasks that follow.
@Suite struct SeriesEditTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  private static func openTask(
    of task: TaskItem, in transaction: borrowing StoreWriteTransaction
  ) throws -> TaskItem {
    let stored = try #require(try transaction.task(task.id))
    return try #require(try transaction.openTask(ofSeriesWith: stored))
  }

  /// A store in Amsterdam on Saturday, 21 November 2026, with a clock that can be moved.
  private func withStore(_ body: (TaskStore, TestClock) throws -> Void) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-11-21T12:00:00Z"))
    try TallyTestSupport.withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      try body(store, clock)
    }
  }

  // MARK: A series moves to another day.

  @Test(
    arguments: [
      ("FREQ=WEEKLY;BYDAY=MO", "2026-11-25", "FREQ=WEEKLY;BYDAY=WE"),
      ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;COUNT=9", "2026-11-27", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;COUNT=9"),
      ("FREQ=DAILY;BYDAY=TU", "2026-11-25", "FREQ=DAILY;BYDAY=WE"),
      ("FREQ=MONTHLY;BYDAY=2TU", "2026-12-16", "FREQ=MONTHLY;BYDAY=3WE"),
      ("FREQ=MONTHLY;BYDAY=2TU", "2026-12-31", "FREQ=MONTHLY;BYDAY=-1TH"),
      ("FREQ=MONTHLY;BYDAY=-1FR", "2026-12-17", "FREQ=MONTHLY;BYDAY=-3TH"),
      ("FREQ=YEARLY;BYDAY=20MO", "2027-01-06", "FREQ=YEARLY;BYDAY=1WE"),
      ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2027-04-03", "FREQ=YEARLY;BYMONTH=4;BYDAY=-4SA"),
      ("FREQ=MONTHLY;BYMONTHDAY=15", "2026-12-01", "FREQ=MONTHLY;BYMONTHDAY=1"),
      ("FREQ=MONTHLY;BYMONTHDAY=15", "2026-12-30", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1"),
      ("FREQ=MONTHLY;BYMONTHDAY=15", "2026-12-31", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-12-29", "FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1"),
      ("FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "2026-12-05", "FREQ=MONTHLY;BYMONTHDAY=5"),
      ("FREQ=MONTHLY;BYMONTHDAY=30", "2026-12-31", "FREQ=MONTHLY;BYMONTHDAY=31"),
      ("FREQ=MONTHLY", "2026-12-31", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("FREQ=YEARLY", "2028-02-29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"),
      ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "2027-03-05", "FREQ=YEARLY"),
      ("FREQ=YEARLY;BYMONTHDAY=15", "2028-02-29", "FREQ=YEARLY;BYMONTHDAY=29"),
      // Several days, a day that the rule gives, and what follows from the start.
      ("FREQ=WEEKLY;BYDAY=MO,TH", "2026-11-25", "FREQ=WEEKLY;BYDAY=MO,TH"),
      ("FREQ=MONTHLY;BYMONTHDAY=1,15", "2026-12-09", "FREQ=MONTHLY;BYMONTHDAY=1,15"),
      ("FREQ=MONTHLY;BYMONTH=6,12;BYMONTHDAY=4", "2027-01-07", "FREQ=MONTHLY;BYMONTH=6,12;BYMONTHDAY=4"),
      ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-12-09", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
      ("FREQ=WEEKLY;BYDAY=MO", "2026-12-07", "FREQ=WEEKLY;BYDAY=MO"),
      ("FREQ=WEEKLY", "2026-11-26", "FREQ=WEEKLY"), ("FREQ=DAILY;INTERVAL=3", "2026-11-26", "FREQ=DAILY;INTERVAL=3"),
      ("after 4 days", "2026-11-26", "after 4 days"),
    ] as [(String, String, String)])
  func aRuleOfOneDayMovesAlong(rule: String, day: String, expected: String) throws {
    try withStore { store, _ in
      let to = try Self.day(day)
      let task = try store.writeAndWait { transaction in
        try transaction.add("Bins") { $0.recurrence = try Recurrence(text: rule) }
      }
      let moved = try store.writeAndWait { try $0.updateSeries(of: task.id) { $0.scheduledDate = to } }
      #expect(moved.recurrence?.text == expected && moved.series?.occurrence == to)
      let stored = try store.read { try $0.series(of: moved) }
      #expect(stored?.recurrence.text == expected)
      // Of this task alone, nothing moves along.
      let alone = try store.writeAndWait { try $0.update(task.id) { $0.scheduledDate = try to.adding(days: 1) } }
      #expect(alone.recurrence?.text == expected && alone.series?.start == to)
    }
  }

  @Test func aRuleGivenWithAnotherDayIsTheOneThatIsGiven() throws {
    try withStore { store, _ in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Bins") { $0.recurrence = try Recurrence(phrase: "every monday") }
      }
      let moved = try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) {
          ($0.recurrence, $0.scheduledDate) = (try Recurrence(phrase: "every tuesday"), try Self.day("2026-11-26"))
        }
      }
      #expect(moved.recurrence?.text == "FREQ=WEEKLY;BYDAY=TU")
    }
  }

  /// A planned day beside the due date does not move the series.
  @Test func aDayThatIsPlannedForADueTaskLeavesTheRule() throws {
    try withStore { store, _ in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Bins") { task in
          (task.recurrence, task.dueDay) = (try Recurrence(phrase: "every monday"), try Self.day("2026-11-30"))
        }
      }
      let next = try store.writeAndWait { transaction in
        let planned = try transaction.updateSeries(of: task.id) { $0.scheduledDate = try Self.day("2026-11-27") }
        #expect(planned.recurrence == task.recurrence && planned.series == task.series)
        try transaction.complete(task.id)
        return try #require(try transaction.successor(of: planned))
      }
      #expect(next.dueDay == (try Self.day("2026-12-07")))
      #expect(next.scheduledDate == (try Self.day("2026-12-04")))
    }
  }

  @Test func aSeriesDoesNotMoveBeyondTheEndOfItsRule() throws {
    try withStore { store, _ in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Bins") { $0.recurrence = try Recurrence(text: "FREQ=WEEKLY;BYDAY=MO;UNTIL=20261214") }
      }
      let error = #expect(throws: TallyError.self) {
        try store.writeAndWait { transaction in
          _ = try transaction.updateSeries(of: task.id) { $0.scheduledDate = try Self.day("2026-12-18") }
        }
      }
      #expect(error?.code == .invalidRecurrence)
      let moved = try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) { $0.scheduledDate = try Self.day("2026-12-11") }
      }
      #expect(moved.recurrence?.text == "FREQ=WEEKLY;BYDAY=FR;UNTIL=20261214")
    }
  }

  // MARK: A closed task stands for the open one.

  @Test func aClosedTaskStandsForTheOpenOneOfItsSeries() throws {
    try withStore { store, clock in
      let first = try store.writeAndWait { transaction in
        try transaction.add("Water", to: .today) { $0.recurrence = try Recurrence(phrase: "every day") }
      }
      for _ in 0..<2 {
        try store.writeAndWait { transaction in
          let open = try Self.openTask(of: first, in: transaction)
          try transaction.complete(open.id)
        }
        clock.now = clock.now.adding(seconds: 86_400)
      }
      let changed = try store.writeAndWait { try $0.updateSeries(of: first.id) { $0.title = "Water all" } }
      #expect(changed.series?.index == 2 && changed.title == "Water all" && changed.isOpen)
      let closed = try store.read { try $0.task(first.id) }
      #expect(closed?.title == "Water")
    }
  }

  @Test(arguments: ["every week", "every 3 days after completion", "FREQ=DAILY;COUNT=3"])
  func aClosedTaskGetsNoOtherRuleWhileItsSeriesGoesOn(rule: String) throws {
    try withStore { store, _ in
      let rule = try Recurrence(phrase: rule)
      let task = try store.writeAndWait { transaction in
        let task = try transaction.add("Water", to: .today) { $0.recurrence = try Recurrence(phrase: "every day") }
        try transaction.complete(task.id)
        return task
      }
      try store.writeAndWait { transaction in
        let error = #expect(throws: TallyError.self) { try transaction.update(task.id) { $0.recurrence = rule } }
        #expect(error?.code == .invalidRecurrence)
        let next = try #require(try transaction.successor(of: task))
        #expect(try transaction.update(next.id) { $0.recurrence = rule }.recurrence == rule)
        // What is no rule can be changed, and the rule can be removed.
        #expect(try transaction.update(task.id) { $0.title = "Done" }.title == "Done")
        #expect(try transaction.update(task.id) { $0.recurrence = nil }.recurrence == nil)
      }
    }
  }

  @Test func aSeriesWithoutAnOpenTaskCannotBeChanged() throws {
    try withStore { store, _ in
      try store.writeAndWait { transaction in
        let task = try transaction.add("Once", to: .today) {
          $0.recurrence = try Recurrence(text: "FREQ=DAILY;COUNT=1")
        }
        try transaction.complete(task.id)
        do {
          try transaction.updateSeries(of: task.id) { $0.title = "Twice" }
          Issue.record("was changed")
        } catch let error as TallyError {
          #expect(error.code == .invalidRecurrence && error.remedy.contains("Reopen"))
        }
        // It has no open task, so it may get a rule that goes on when it is reopened.
        let rule = try Recurrence(phrase: "every week")
        #expect(try transaction.update(task.id) { $0.recurrence = rule }.recurrence == rule)
        try transaction.reopen(task.id)
        #expect(try transaction.updateSeries(of: task.id) { $0.title = "Twice" }.title == "Twice")
      }
    }
  }

  // MARK: What is given up early does not come back on its day.

  @Test(arguments: [("skip", "2026-12-04"), ("cancel", "2026-12-04"), ("drop", "2026-12-04"), ("done", "2026-11-24")])
  func aTaskAfterCompletionThatIsGivenUpCountsFromItsDay(act: String, day: String) throws {
    try withStore { store, _ in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Plants") { task in
          (task.recurrence, task.scheduledDate) = (try Recurrence(phrase: "after 3 days"), try Self.day("2026-12-01"))
        }
      }
      let next = try store.writeAndWait { transaction in
        switch act {
        case "skip": try transaction.skip(task.id)
        case "cancel": try transaction.cancel(task.id)
        case "drop": try transaction.deleteOccurrence(task.id)
        default: try transaction.complete(task.id)
        }
        return try #require(try transaction.successor(of: task))
      }
      #expect(next.scheduledDate == (try Self.day(day)))
    }
  }

  /// One that is late counts from the day on which it is given up.
  @Test func aLateTaskThatIsGivenUpCountsFromToday() throws {
    try withStore { store, clock in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Plants", to: .today) { $0.recurrence = try Recurrence(phrase: "after 2 weeks") }
      }
      clock.now = clock.now.adding(seconds: 9 * 86_400)
      let next = try store.writeAndWait { transaction in
        try transaction.skip(task.id)
        return try #require(try transaction.successor(of: task))
      }
      #expect(next.scheduledDate == (try Self.day("2026-12-14")))
    }
  }

  // MARK: Dates that belong together.

  @Test(arguments: [("2026-11-23", true), ("2026-11-26", false)])
  func theOtherDatesMoveToTheFirstDayOfTheRule(planned: String, isNew: Bool) throws {
    try withStore { store, _ in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let words = isNew ? "every friday" : "every friday starting 27 november"
        let task = try transaction.add("Report") { task in
          task.scheduledDate = try Self.day(planned)
          task.dueDate = try Self.day(planned).adding(days: 1).instant(atMinute: 1_020, in: reference.timeZone)
          task.reminderDate = try Self.day(planned).instant(atMinute: 540, in: reference.timeZone)
          try WrittenRecurrence(words, reference: reference).apply(to: &task, isNew: isNew, reference: reference)
        }
        #expect(task.scheduledDate == (try Self.day("2026-11-27")))
        #expect(task.dueDate == (try Timestamp(iso8601: "2026-11-28T16:00:00Z")))
        #expect(task.reminderDate == (try Timestamp(iso8601: "2026-11-27T08:00:00Z")))
      }
    }
  }

  /// A task that is only due moves its due date, and is not planned for a day that nobody has named.
  @Test func aDueDateMovesToTheDayFromWhichTheRuleStarts() throws {
    try withStore { store, _ in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let task = try transaction.add("Report") { task in
          task.dueDay = try Self.day("2026-11-24")
          let words = try WrittenRecurrence("every tuesday starting 3 december", reference: reference)
          words.apply(to: &task, reference: reference)
        }
        #expect(task.dueDay == (try Self.day("2026-12-08")))
        #expect(task.scheduledDate == nil)
      }
    }
  }

  // MARK: Sub-tasks that repeat.

  /// A daily sub-task of a weekly task begins anew in each week, however far it has gone on.
  @Test(arguments: 0...2)
  func aRepeatingSubtaskBeginsAsInTheFirstWeek(times: Int) throws {
    try withStore { store, clock in
      let (task, part) = try store.writeAndWait { transaction in
        let task = try transaction.add("Sprint") { task in
          (task.recurrence, task.scheduledDate) = (try Recurrence(phrase: "every week"), try Self.day("2026-11-23"))
        }
        let part = try transaction.add("Stand-up") { part in
          (part.recurrence, part.parentID) = (try Recurrence(phrase: "every 2 days"), task.id)
          part.dueDate = try Timestamp(iso8601: "2026-11-24T09:00:00Z")
        }
        return (task, part)
      }
      for _ in 0..<times {
        try store.writeAndWait { transaction in
          let open = try Self.openTask(of: part, in: transaction)
          clock.now = try #require(open.dueDate)
          try transaction.complete(open.id)
        }
      }
      // No part is left for a later day: all are closed with the task.
      clock.now = try Timestamp(iso8601: "2026-11-30T22:00:00Z")
      let copies = try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        let next = try #require(try transaction.successor(of: task))
        return try transaction.subtasks(of: next.id)
      }
      let due = try #require(copies.first?.dueDate)
      #expect(copies.count == 1)
      #expect(due == (try Timestamp(iso8601: "2026-12-01T09:00:00Z")))
    }
  }

  // MARK: Snoozed relative reminders.

  @Test(arguments: [nil, "every day", "every 3 days after completion"])
  func aSnoozedRelativeReminderRingsOnceAfterAMove(rule: String?) throws {
    try withStore { store, _ in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Call") { task in
          task.recurrence = try rule.map { try Recurrence(phrase: $0) }
          task.dueDate = try Timestamp(iso8601: "2026-11-21T15:00:00Z")
          let relative = try #require(try RelativeReminder(words: "2 hours before", of: .due))
          task.reminders = [.before(relative)]
        }
      }
      let snoozed = try store.writeAndWait {
        try $0.snooze(task.id, until: try Timestamp(iso8601: "2026-11-21T14:00:00Z"))
      }
      #expect(snoozed.reminderInstants(in: .gmt) == [try Timestamp(iso8601: "2026-11-21T14:00:00Z")])
      let moved = try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.dueDate = try Timestamp(iso8601: "2026-11-22T18:00:00Z") }
      }
      #expect(moved.reminderInstants(in: .gmt) == [try Timestamp(iso8601: "2026-11-22T16:00:00Z")])
      #expect(!moved.isReminderSnoozed && moved.reminders == task.reminders)
    }
  }
}
