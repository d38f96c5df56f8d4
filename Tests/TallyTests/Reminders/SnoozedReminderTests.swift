import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// A snooze changes one task of a series; the next one has the reminder of the series.
@Suite struct SnoozedReminderTests {
  /// Pills on a day at a time, every day, in a zone.
  private static func withPills(
    _ reminder: String, zone: String = "Europe/Amsterdam", now: String,
    _ body: (TaskStore, TaskItem, TestClock) throws -> Void
  ) throws {
    let clock = TestClock(try Timestamp(iso8601: now))
    try withStore(.testing(clock: clock, timeZone: zone)) { store in
      let instant = try Timestamp(iso8601: reminder)
      let task = try store.writeAndWait { transaction in
        try transaction.add("Pills", to: .today) {
          $0.reminderDate = instant
          $0.recurrence = try Recurrence(phrase: "every day")
        }
      }
      try body(store, task, clock)
      try checkInvariants(of: store)
    }
  }

  private static func next(after task: TaskItem, in store: TaskStore) throws -> TaskItem {
    try store.writeAndWait { try $0.complete(task.id) }
    return try #require(try store.read { try $0.successor(of: task) })
  }

  /// An occurrence that is snoozed to other instants, in Amsterdam, and what the next one has.
  struct Example: Sendable {
    let reminder: String
    let snoozes: [String]
    let doneAt: String
    let next: String
  }

  @Test(arguments: [
    Example(
      reminder: "2026-05-04T09:00:00+02:00", snoozes: ["2026-05-04T11:30:00+02:00"],
      doneAt: "2026-05-04T11:31:00+02:00", next: "2026-05-05T09:00:00+02:00"),
    Example(
      reminder: "2026-05-04T22:00:00+02:00", snoozes: ["2026-05-05T07:00:00+02:00"],
      doneAt: "2026-05-05T07:01:00+02:00", next: "2026-05-05T22:00:00+02:00"),
    Example(
      reminder: "2026-05-04T09:00:00+02:00",
      snoozes: ["2026-05-04T09:10:00+02:00", "2026-05-04T09:20:00+02:00", "2026-05-06T08:00:00+02:00"],
      doneAt: "2026-05-04T10:00:00+02:00", next: "2026-05-05T09:00:00+02:00"),
    // Clocks go forward on the night, and back on another.
    Example(
      reminder: "2026-03-28T09:00:00+01:00", snoozes: ["2026-03-28T23:30:00+01:00"],
      doneAt: "2026-03-28T23:31:00+01:00", next: "2026-03-29T09:00:00+02:00"),
    Example(
      reminder: "2026-10-24T09:00:00+02:00", snoozes: ["2026-10-24T10:00:00+02:00"],
      doneAt: "2026-10-24T10:01:00+02:00", next: "2026-10-25T09:00:00+01:00"),
    // Snoozed back to where it was, a snooze is none.
    Example(
      reminder: "2026-05-04T09:00:00+02:00", snoozes: ["2026-05-04T10:00:00+02:00", "2026-05-04T09:00:00+02:00"],
      doneAt: "2026-05-04T09:30:00+02:00", next: "2026-05-05T09:00:00+02:00"),
  ])
  func theNextOccurrenceHasTheReminderOfTheSeries(example: Example) throws {
    let morning = "\(example.reminder.prefix(10))T06:00:00Z"
    try Self.withPills(example.reminder, now: morning) { store, task, clock in
      for text in example.snoozes {
        let instant = try Timestamp(iso8601: text)
        try store.writeAndWait { try $0.snooze(task.id, until: instant) }
        #expect(try store.read { try $0.task(task.id)?.reminderDate } == instant)
      }
      let isBack = example.snoozes.last == example.reminder
      #expect(try store.read { try $0.task(task.id)?.isReminderSnoozed } == !isBack)
      clock.now = try Timestamp(iso8601: example.doneAt)
      let next = try Self.next(after: task, in: store)
      #expect(next.reminderDate == (try Timestamp(iso8601: example.next)))
      #expect(next.attributes == [:], "the note is for one occurrence")
      // Reopened, the next one goes as untouched; done again, it is the same.
      try store.writeAndWait { try $0.reopen(task.id) }
      #expect(try store.read { try $0.task(next.id) } == nil)
      #expect(try Self.next(after: task, in: store).reminderDate == next.reminderDate)
    }
  }

  /// What becomes of a snoozed reminder when the task moves to Monday, 11 May, as days of May in Amsterdam.
  @Test(
    arguments: [
      // Put off within its day, it moves along; to a day before the new one, the reminder of the series holds.
      ("04T13:00", "11T13:00", true), ("05T07:00", "11T09:00", false), ("10T23:59", "11T09:00", false),
      // On the new day or after it, it is what was asked for.
      ("11T07:00", "11T07:00", true), ("12T08:00", "12T08:00", true),
    ] as [(String, String, Bool)])
  func aTaskThatMovesBeyondItsSnoozeKeepsAReminderOnItsDay(
    snoozed: String, reminder: String, staysSnoozed: Bool
  ) throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      let until = try Timestamp(iso8601: "2026-05-\(snoozed):00+02:00")
      let moved = try store.writeAndWait { transaction in
        try transaction.snooze(task.id, until: until)
        return try transaction.update(task.id) { $0.scheduledDate = try? CalendarDay(iso8601: "2026-05-11") }
      }
      #expect(moved.reminderDate == (try Timestamp(iso8601: "2026-05-\(reminder):00+02:00")))
      #expect(moved.isReminderSnoozed == staysSnoozed)
      // The next one has the time of the series in any case.
      #expect(try Self.next(after: moved, in: store).reminderDate?.iso8601.hasSuffix("T07:00:00Z") == true)
    }
  }

  @Test func aDismissedReminderComesAgainWithTheNextOccurrence() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      try store.writeAndWait { try $0.dismissReminder(of: task.id) }
      #expect(try store.read { try $0.pendingReminders() }.isEmpty)
      let next = try Self.next(after: task, in: store)
      #expect(next.reminderDate == (try Timestamp(iso8601: "2026-05-05T09:00:00+02:00")))
    }
  }

  @Test func aSeriesWithoutAReminderStaysOneWhenOneTaskOfItGetsOne() throws {
    try withStore(.testing(clock: .noon)) { store in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Plants", to: .today) { $0.recurrence = try Recurrence(phrase: "every day") }
      }
      try store.writeAndWait { try $0.snooze(task.id, until: $0.now.adding(seconds: 600)) }
      #expect(try Self.next(after: task, in: store).reminderDate == nil)
    }
  }

  /// What a person sets later ends the snooze, for this task or for the series.
  @Test(arguments: [false, true]) func anEditAfterASnoozeEndsIt(isForSeries: Bool) throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      let ten = try Timestamp(iso8601: "2026-05-04T10:00:00+02:00")
      try store.writeAndWait { _ = try $0.snooze(task.id, until: $0.now.adding(seconds: 9_000)) }
      let edited = try store.writeAndWait { transaction in
        isForSeries
          ? try transaction.updateSeries(of: task.id) { $0.reminderDate = ten }
          : try transaction.update(task.id) { $0.reminderDate = ten }
      }
      #expect(edited.attributes == [:] && edited.reminderDate == ten)
      let next = try Self.next(after: task, in: store)
      #expect(next.reminderDate == (try Timestamp(iso8601: "2026-05-05T\(isForSeries ? "10" : "09"):00:00+02:00")))
      #expect(next.attributes == [:])
    }
  }

  /// A program that does not know the note copies it to a task with another reminder.
  @Test func aNoteOfAnotherReminderIsIgnored() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      var foreign = try store.writeAndWait { try $0.snooze(task.id, until: $0.now.adding(seconds: 9_000)) }
      foreign.reminderDate = try Timestamp(iso8601: "2026-05-04T10:00:00+02:00")
      #expect(!foreign.isReminderSnoozed)
      let described = try #require(TaskSeries(describedBy: foreign, in: store.configuration.calendar.timeZone))
      #expect(described.time == "10:00")
    }
  }

  @Test(arguments: ["", "/", "x/y", "2026-05-04T07:00:00Z", "2026-05-04T07:00:00Z/2026-05-04T07:00:00Z/", "a/b/c"])
  func aNoteThatSaysNothingIsIgnored(text: String) throws {
    var task = TaskItem(title: "x", createdAt: .earliest)
    task.reminderDate = try Timestamp(iso8601: "2026-05-04T07:00:00Z")
    task.attributes[SnoozedReminder.attributeName] = .text(text)
    #expect(!task.isReminderSnoozed)
    task.endSnooze()
    #expect(task.reminderDate != nil && task.attributes.isEmpty)
  }

  @Test func movingASnoozedTaskMovesBothOfItsReminders() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let snoozed = try Timestamp(iso8601: "2026-05-04T11:30:00+02:00")
      try store.writeAndWait { try $0.snooze(task.id, until: snoozed) }
      let moved = try store.writeAndWait { try $0.schedule(task.id, on: $0.today.adding(days: 1)) }
      #expect(moved.reminderDate == (try Timestamp(iso8601: "2026-05-05T11:30:00+02:00")))
      #expect(moved.isReminderSnoozed)
      clock.now = try Timestamp(iso8601: "2026-05-05T12:00:00+02:00")
      let next = try Self.next(after: task, in: store)
      #expect(next.reminderDate == (try Timestamp(iso8601: "2026-05-06T09:00:00+02:00")))
    }
  }

  @Test func aPartOfARepeatingTaskIsSnoozedForOnce() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      let nine = try Timestamp(iso8601: "2026-05-04T09:00:00+02:00")
      let part = try store.writeAndWait { transaction in
        try transaction.add("With water") { ($0.parentID, $0.reminderDate) = (task.id, nine) }
      }
      try store.writeAndWait { try $0.snooze(part.id, until: nine.adding(seconds: 5_400)) }
      let next = try Self.next(after: task, in: store)
      let parts = try store.read { try $0.subtasks(of: next.id) }
      #expect(parts.map(\.reminderDate) == [nine.adding(seconds: 86_400)])
      #expect(parts.map(\.attributes) == [[:]])
    }
  }

  @Test func aTaskThatDoesNotRepeatGetsNoNote() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("Call") { $0.attributes = ["x": 1] }
        let snoozed = try transaction.snooze(task.id, until: transaction.now)
        #expect(snoozed.attributes == ["x": 1])
      }
    }
  }

  @Test func aTaskWithoutRoomForTheNoteIsSnoozedAllTheSame() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      let full = AttributeValue.text(String(repeating: "x", count: AttributeValue.maximumSizeInBytes - 40))
      try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.attributes["x"] = full }
        let snoozed = try transaction.snooze(task.id, until: transaction.now)
        #expect(snoozed.reminderDate == transaction.now)
        #expect(snoozed.attributes == ["x": full])
      }
    }
  }

  @Test func undoOfASnoozeBringsBackTheReminderAndLeavesNoNote() throws {
    try Self.withPills("2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      try store.writeAndWait { try $0.snooze(task.id, until: $0.now) }
      try store.writeAndWait { _ = try $0.undo() }
      let back = try #require(try store.read { try $0.task(task.id) })
      #expect(back.reminderDate == task.reminderDate && back.attributes == [:])
    }
  }
}
