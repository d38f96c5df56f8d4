import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Where the reminder of a task goes that gets another day, due day or due time.
@Suite struct ReminderMoveTests {
  /// The dates of a task: days, or an instant where one may be due.
  struct Dates: Equatable, Sendable {
    var day: String?
    var due: String?
    var reminder: String?
  }

  /// A change of dates in Amsterdam, where clocks go forward on 29 March and back on 25 October 2026.
  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let before: Dates
    let day: String?
    let due: String?
    let reminder: String
    /// Whether the answer says that it stays.
    var stays = false
  }

  static let examples = [
    Example(
      testDescription: "the planned day takes it along over a clock change, and 9:00 stays 9:00",
      before: Dates(day: "2026-03-28", reminder: "2026-03-28T08:00:00Z"), day: "2026-03-29", due: nil,
      reminder: "2026-03-29T07:00:00Z"),
    Example(
      testDescription: "back over the change in autumn",
      before: Dates(day: "2026-10-26", reminder: "2026-10-26T08:00:00Z"), day: "2026-10-24", due: nil,
      reminder: "2026-10-24T07:00:00Z"),
    Example(
      testDescription: "a time that the clock skips moves forward",
      before: Dates(day: "2026-03-28", reminder: "2026-03-28T01:30:00Z"), day: "2026-03-29", due: nil,
      reminder: "2026-03-29T01:30:00Z"),
    Example(
      testDescription: "a due day takes it along",
      before: Dates(due: "2026-05-01", reminder: "2026-05-01T07:00:00Z"), day: nil, due: "2026-05-04",
      reminder: "2026-05-04T07:00:00Z"),
    Example(
      testDescription: "a quarter of an hour before the due time stays that, on another day",
      before: Dates(due: "2026-05-01T15:00:00Z", reminder: "2026-05-01T14:45:00Z"), day: nil,
      due: "2026-05-02T08:00:00Z", reminder: "2026-05-02T07:45:00Z"),
    Example(
      testDescription: "and on the same day",
      before: Dates(due: "2026-05-01T15:00:00Z", reminder: "2026-05-01T14:45:00Z"), day: nil,
      due: "2026-05-01T16:00:00Z", reminder: "2026-05-01T15:45:00Z"),
    Example(
      testDescription: "a due time that becomes a day keeps the time of the reminder",
      before: Dates(due: "2026-05-01T15:00:00Z", reminder: "2026-05-01T07:00:00Z"), day: nil, due: "2026-05-03",
      reminder: "2026-05-03T07:00:00Z"),
    Example(
      testDescription: "a due day that gets a time moves nothing",
      before: Dates(due: "2026-05-01", reminder: "2026-05-01T07:00:00Z"), day: nil, due: "2026-05-01T15:00:00Z",
      reminder: "2026-05-01T07:00:00Z"),
    Example(
      testDescription: "nor does one on another day then stay, as no day has moved",
      before: Dates(due: "2026-05-01T15:00:00Z", reminder: "2026-04-30T07:00:00Z"), day: nil, due: "2026-05-01",
      reminder: "2026-04-30T07:00:00Z"),
    Example(
      testDescription: "the planned day goes before the due one",
      before: Dates(day: "2026-05-01", due: "2026-05-01", reminder: "2026-05-01T07:00:00Z"), day: "2026-05-02",
      due: "2026-05-05", reminder: "2026-05-02T07:00:00Z"),
    Example(
      testDescription: "a reminder on the due day does not follow the planned one",
      before: Dates(day: "2026-05-01", due: "2026-05-03", reminder: "2026-05-03T07:00:00Z"), day: "2026-05-02",
      due: "2026-05-03", reminder: "2026-05-03T07:00:00Z"),
    Example(
      testDescription: "one on another day stays",
      before: Dates(day: "2026-05-01", reminder: "2026-04-30T07:00:00Z"), day: "2026-05-02", due: nil,
      reminder: "2026-04-30T07:00:00Z", stays: true),
    Example(
      testDescription: "one whose day is removed stays",
      before: Dates(day: "2026-05-01", reminder: "2026-05-01T07:00:00Z"), day: nil, due: nil,
      reminder: "2026-05-01T07:00:00Z", stays: true),
    Example(
      testDescription: "one that was there before the day stays",
      before: Dates(reminder: "2026-05-01T07:00:00Z"), day: "2026-05-02", due: nil, reminder: "2026-05-01T07:00:00Z",
      stays: true),
    Example(
      testDescription: "the day is that of the person, not of UTC",
      before: Dates(day: "2026-05-02", reminder: "2026-05-01T22:30:00Z"), day: "2026-05-03", due: nil,
      reminder: "2026-05-02T22:30:00Z"),
  ]

  private static let amsterdam = ReminderModel.amsterdam

  private static func task(_ dates: Dates) throws -> TaskItem {
    var task = TaskItem(title: "x", createdAt: .earliest)
    try set(dates.day, dates.due, of: &task)
    task.reminderDate = try dates.reminder.map(Timestamp.init(iso8601:))
    return task
  }

  private static func set(_ day: String?, _ due: String?, of task: inout TaskItem) throws {
    task.scheduledDate = try day.map(CalendarDay.init(iso8601:))
    try task.setDue(due)
  }

  @Test(arguments: examples)
  func aReminderFollowsItsDay(example: Example) throws {
    let old = try Self.task(example.before)
    var new = old
    try Self.set(example.day, example.due, of: &new)
    new.moveReminder(from: old, in: Self.amsterdam)
    #expect(new.reminderDate?.iso8601 == example.reminder)
    let reminder = try #require(new.reminderDate)
    let expected: ReminderMove? =
      reminder != old.reminderDate ? .moved(to: reminder) : example.stays ? .stayed(at: reminder) : nil
    #expect(new.reminderMove(from: old, in: Self.amsterdam) == expected)
  }

  /// Random tasks whose dates are near each other, in zones with clock changes of an hour, half an hour and a day.
  @Test(arguments: [
    "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Santiago", "UTC",
    "Africa/Casablanca",
  ])
  func randomRemindersGoWhereTheModelSays(zoneName: String) throws {
    let zone = try #require(TimeZone(identifier: zoneName))
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "ReminderMoveTests \(zoneName)"))
    var movedCount = 0
    for _ in 0..<2_000 {
      let base = Timestamp(clampingSeconds: .random(in: 1_262_304_000...1_924_905_600, using: &generator))
      let old = try Self.randomTask(around: base, zone, using: &generator)
      var new = try Self.randomTask(around: base, zone, using: &generator)
      if generator.oneIn(3) { (new.dueDate, new.dueDay) = (old.dueDate, old.dueDay) }
      if generator.oneIn(3) { new.scheduledDate = old.scheduledDate }
      new.reminderDate = old.reminderDate
      let reminder = try #require(old.reminderDate)
      let expected = ReminderModel.reminder(reminder, from: old, to: new, in: zone)
      new.moveReminder(from: old, in: zone)
      #expect(new.reminderDate == expected, "\(old) to \(new)")
      if expected != reminder { movedCount += 1 }
    }
    #expect(movedCount > 200, "reminders that move are part of the test")
  }

  private static func randomTask(
    around base: Timestamp, _ zone: TimeZone, using generator: inout SeededGenerator
  ) throws -> TaskItem {
    func instant() -> Timestamp {
      base.adding(microseconds: .random(in: -150_000_000_000...150_000_000_000, using: &generator))
    }
    func day() -> CalendarDay { CalendarDay(containing: instant(), in: zone) }
    var task = TaskItem(title: "x", createdAt: .earliest)
    if !generator.oneIn(4) { task.scheduledDate = day() }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: task.dueDate = instant()
    case 1: task.dueDay = day()
    default: break
    }
    task.reminderDate = instant()
    return task
  }
}

/// The same in a store; now is noon of Saturday, 2026-11-21, in Istanbul.
extension ReminderMoveTests {
  /// A way to move a task from today to tomorrow.
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let move: @Sendable (UUID, inout StoreWriteTransaction) throws -> Void
  }

  static let ways = [
    Way(testDescription: "schedule") { try $1.schedule($0, on: $1.today.adding(days: 1)) },
    Way(testDescription: "move to upcoming") { try $1.move($0, to: .upcoming) },
    Way(testDescription: "update") { id, transaction in
      let tomorrow = try transaction.today.adding(days: 1)
      try transaction.update(id) { $0.scheduledDate = tomorrow }
    },
    Way(testDescription: "a new value for all of the task") { id, transaction in
      var task = try #require(try transaction.task(id))
      task.scheduledDate = try transaction.today.adding(days: 1)
      let new = task
      try transaction.update(id) { $0 = new }
    },
  ]

  private func add(to transaction: inout StoreWriteTransaction) throws -> TaskItem {
    let reminder = transaction.now.adding(seconds: 3_600)
    return try transaction.add("Call", to: .today) { $0.reminderDate = reminder }
  }

  @Test(arguments: ways)
  func everyWayToMoveATaskTakesItsReminderAlongAndUndoBringsBothBack(way: Way) throws {
    try withStore(.testing(clock: .noon)) { store in
      let task = try store.writeAndWait { try add(to: &$0) }
      try store.writeAndWait { try way.move(task.id, &$0) }
      let moved = try #require(try store.read { try $0.task(task.id) })
      #expect(moved.scheduledDate == (try task.scheduledDate?.adding(days: 1)))
      #expect(moved.reminderDate == task.reminderDate?.adding(seconds: 86_400))
      try checkInvariants(of: store)
      try store.writeAndWait { _ = try $0.undo() }
      let back = try #require(try store.read { try $0.task(task.id) })
      #expect(back.scheduledDate == task.scheduledDate && back.reminderDate == task.reminderDate)
      try checkInvariants(of: store)
    }
  }

  @Test func aReminderOfTheSameCommandWinsEvenIfItIsTheOldOne() throws {
    try withStore(.testing(clock: .noon)) { store in
      let task = try store.writeAndWait { try add(to: &$0) }
      let (tomorrow, later) = try store.read { (try $0.today.adding(days: 1), $0.now.adding(seconds: 7_200)) }
      for (reminder, keeps) in [(task.reminderDate, true), (later, false), (later, true), (nil, false)] {
        try store.writeAndWait { transaction in
          let moved = try transaction.update(task.id, keepingReminder: keeps) {
            ($0.scheduledDate, $0.reminderDate) = (tomorrow, reminder)
          }
          #expect(moved.reminderDate == reminder)
        }
        try store.writeAndWait { _ = try $0.undo() }
      }
      try checkInvariants(of: store)
    }
  }

  @Test func theZoneIsThatOfTheTransaction() throws {
    try withStore(.testing(clock: .noon)) { store in
      try store.writeAndWait { transaction in
        // 23:30 of today in Istanbul is already tomorrow in Tokyo.
        let reminder = transaction.now.adding(seconds: 11 * 3_600 + 1_800)
        let task = try transaction.add("Call", to: .today) { $0.reminderDate = reminder }
        var calendar = transaction.calendar
        calendar.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        transaction.countDays(in: calendar, startingAtMinute: 0)
        let day = try #require(task.scheduledDate)
        let moved = try transaction.schedule(task.id, on: try day.adding(days: 1))
        #expect(moved.reminderDate == reminder)
        #expect(moved.reminderMove(from: task, in: calendar.timeZone) == nil, "it is on the new day there")
      }
    }
  }
}
