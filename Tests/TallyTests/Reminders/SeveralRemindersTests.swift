import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallyEngine

/// Several reminders of a task, at instants and before its dates.
@Suite struct SeveralRemindersTests {
  private static let amsterdam = ReminderModel.amsterdam

  private static func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  /// Words, the anchor if they name none, what they mean, and the canonical words.
  @Test(arguments: [
    ("1 day before", "P1D", Int?.none, "1 day before it is due"),
    ("2 hours before", "PT2H", nil, "2 hours before it is due"),
    ("9:00 on the day", "P0D", 540, "09:00 on the day it is due"),
    ("9:00 the day before", "P1D", 540, "09:00 the day before it is due"),
    ("the day before at 9", "P1D", 540, "09:00 the day before it is due"),
    ("on the day before 9am", "P1D", 540, "09:00 the day before it is due"),
    ("18:30 2 weeks before", "P14D", 1_110, "18:30 14 days before it is due"),
    ("1h30m before", "PT1H30M", nil, "1h30m before it is due"), ("1d2h before", "P1DT2H", nil, "1d2h before it is due"),
    ("half an hour before it is due", "PT30M", nil, "30 minutes before it is due"),
    ("1 day before it is planned", "P1D", nil, "1 day before its day"),
    ("9:00 the day before it is scheduled", "P1D", 540, "09:00 the day before its day"),
    ("30 minutes before it is planned", "PT30M", nil, "30 minutes before its day"),
    ("a week before its day", "P7D", nil, "1 week before its day"), ("7:15 on its day", "P0D", 435, "07:15 on its day"),
    ("when due", "P0D", nil, "when it is due"), ("day before at 9", "P1D", 540, "09:00 the day before it is due"),
  ])
  func wordsMeanADistance(words: String, distance: String, minute: Int?, canonical: String) throws {
    let reminder = try Reminder(text: words)
    #expect(reminder.relative?.distance == distance)
    #expect(reminder.relative?.minuteOfDay == minute)
    #expect(reminder.relative?.anchor == (canonical.hasSuffix("its day") ? .scheduled : .due))
    #expect(reminder.text == canonical)
    #expect(try Reminder(text: canonical) == reminder)
    #expect(try Reminder(text: words, of: .scheduled).relative?.anchor == (words.contains("due") ? .due : .scheduled))
  }

  @Test(arguments: [
    "1 month before", "before", "9:00 2 hours before", "tomorrow", "1 day before tomorrow", "30 seconds before", "",
    "on the day it rains", "9999 days before", "1 day after", "1 day before it is", "25:00 on the day",
  ])
  func otherWordsAreNone(words: String) {
    #expect((try? Reminder(text: words)) == nil)
  }

  @Test func everyDistanceComesBackFromWordsDocumentsAndBytes() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "SeveralRemindersTests"))
    for _ in 0..<2_000 {
      let minute = generator.oneIn(2) ? Int.random(in: 0..<1_440, using: &generator) : nil
      let relative = try RelativeReminder(
        daysBefore: Int.random(in: 0...(generator.oneIn(3) ? 3_650 : 8), using: &generator),
        minutesBefore: minute != nil || generator.oneIn(3) ? 0 : Int.random(in: 0...3_000, using: &generator),
        generator.oneIn(2) ? .due : .scheduled, atMinute: minute)
      let reminder = Reminder.before(relative)
      #expect(try Reminder(text: reminder.text) == reminder, "\(reminder.text)")
      let entry = QuickEntry.parse("Call friday remind me \(relative)", reference: try DateExpressionTests.reference())
      #expect(entry.relativeReminders == [relative] && entry.title == "Call", "\(relative)")
      #expect(Reminder(storedBytes: reminder.storedBytes) == reminder)
      #expect(try JSONDecoder().decode(Reminder.self, from: JSONEncoder().encode(reminder)) == reminder)
    }
  }

  @Test(arguments: [
    #"{"before":"P1D"}"#, #"{"before":"PT90M","of":"due"}"#, #"{"before":"P1W","of":"scheduled","at":"23:59"}"#,
    #"{"at":"2026-11-21T12:00:00Z"}"#,
  ])
  func documentsOfOthersAreRead(json: String) throws {
    _ = try JSONDecoder().decode(Reminder.self, from: Data(json.utf8))
  }

  @Test(arguments: [
    #"{}"#, #"{"before":"P"}"#, #"{"before":"PT"}"#, #"{"before":"1D","of":"due"}"#, #"{"of":"due"}"#,
    #"{"before":"P1D","of":"dueDate"}"#, #"{"before":"P1D","of":"due","at":"9:00"}"#, #"{"before":"PT1H1D"}"#,
    #"{"before":"P1D","of":"due","at":"24:00"}"#, #"{"before":"PT2H","of":"due","at":"09:00"}"#, #"{"before":"P1M"}"#,
    #"{"before":"P99999D","of":"due"}"#, #"{"before":"P1DT","of":"due"}"#, #"{"at":"09:00"}"#, #"{"before":"P-1D"}"#,
  ])
  func otherDocumentsAreRefused(json: String) {
    #expect((try? JSONDecoder().decode(Reminder.self, from: Data(json.utf8))) == nil)
  }

  /// The instants of relative reminders, in Amsterdam, around the change of clocks on 29 March 2026: for a due time, or
  /// for a due day.
  @Test(arguments: [
    ("1 day before", "2026-03-29T10:00:00+02:00", "2026-03-28T10:00:00+01:00"),
    ("24 hours before", "2026-03-29T10:00:00+02:00", "2026-03-28T09:00:00+01:00"),
    ("9:00 on the day", "2026-03-29T10:00:00+02:00", "2026-03-29T09:00:00+02:00"),
    ("9:00 the day before", "2026-03-30T00:30:00+02:00", "2026-03-29T09:00:00+02:00"),
    ("1 day before", "2026-03-29T23:59:59+02:00", "2026-03-28T09:00:00+01:00"),
    ("2:30 on the day", "2026-03-29", "2026-03-29T03:30:00+02:00"),
    ("1 day before", "2026-03-29", "2026-03-28T09:00:00+01:00"),
    ("2 hours before", "2026-03-29", "2026-03-29T07:00:00+02:00"),
    ("1d2h before", "2026-03-30T10:00:00+02:00", "2026-03-29T08:00:00+02:00"),
  ])
  func aRelativeReminderIsInLocalTime(words: String, due: String, expected: String) throws {
    var task = TaskItem(title: "x", createdAt: .earliest)
    try task.setDue(due)
    task.otherReminders = [try Reminder(text: words)]
    #expect(task.reminderInstants(in: Self.amsterdam) == [try Self.instant(expected)])
    #expect(ReminderModel.instants(of: task, in: Self.amsterdam).map(\.instant) == [try Self.instant(expected)])
  }

  @Test func theReminderDateStaysAsLongAsItIsAmongThem() throws {
    var task = TaskItem(title: "x", createdAt: .earliest)
    let (early, late) = (Timestamp(clamping: 1_000_000), Timestamp(clamping: 2_000_000))
    task.reminders = [.at(late)]
    #expect(task.reminderDate == late && task.otherReminders.isEmpty && task.isOfFirstVersion)
    task.reminders = [.at(early), .at(late)]
    #expect(task.reminderDate == late, "what an earlier version knows does not change")
    #expect(Array(task.otherReminders) == [.at(early)])
    #expect(!task.isOfFirstVersion)
    task.reminders = [.at(early)]
    #expect(task.reminderDate == early && task.extrasBox == nil)
    task.reminders = []
    #expect(task.reminderDate == nil)
  }

  @Test func aDueDayIsOfThePersonsZoneWhicheverItIsWhenItIsAsked() throws {
    let clock = TestClock(try Self.instant("2026-11-20T00:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("x") { task in
          task.dueDay = try CalendarDay(iso8601: "2026-11-25")
          task.reminders = [try Reminder(text: "9:00 the day before"), try Reminder(text: "9:00 on the day")]
        }
      }
      for (zone, instants) in [
        ("Europe/Amsterdam", ["2026-11-24T08:00:00Z", "2026-11-25T08:00:00Z"]),
        ("Pacific/Kiritimati", ["2026-11-23T19:00:00Z", "2026-11-24T19:00:00Z"]),
        ("Pacific/Niue", ["2026-11-24T20:00:00Z", "2026-11-25T20:00:00Z"]),
      ] {
        let timeZone = try #require(TimeZone(identifier: zone))
        let expected = try instants.map(Self.instant)
        let found = try store.read { transaction in
          var calendar = transaction.calendar
          calendar.timeZone = timeZone
          transaction.countDays(in: calendar, startingAtMinute: 0)
          return (
            try transaction.scheduledReminders(), try transaction.scheduledReminders(from: expected[1]),
            try transaction.scheduledReminders(to: expected[1]), try transaction.pendingReminders().count
          )
        }
        #expect(found.0.map(\.date) == expected, "\(zone)")
        #expect(found.1.map(\.date) == [expected[1]], "\(zone)")
        #expect(found.2.map(\.date) == [expected[0]], "\(zone)")
        #expect(found.3 == 1)
      }
    }
  }

  @Test func aMoveTakesThemAllAlongAndSaysSo() throws {
    let clock = TestClock(try Self.instant("2026-11-20T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      let (before, after) = try store.writeAndWait { transaction in
        let before = try transaction.add("x") { task in
          task.scheduledDate = try CalendarDay(iso8601: "2026-11-25")
          task.reminders = try [
            "2026-11-25T10:00:00+01:00", "2026-11-25T18:00:00+01:00", "2026-11-22T10:00:00+01:00",
            "1 day before its day",
            "1 day before it is due",
          ].map { try Reminder(text: $0) }
        }
        return (before, try transaction.schedule(before.id, on: try CalendarDay(iso8601: "2026-11-27")))
      }
      let moved = try ["2026-11-27T10:00:00+01:00", "2026-11-27T18:00:00+01:00"].map(Self.instant)
      let stayed = try Self.instant("2026-11-22T10:00:00+01:00")
      let relative = try Self.instant("2026-11-26T09:00:00+01:00")
      #expect(after.reminderInstants(in: Self.amsterdam) == [stayed, relative] + moved)
      let moves = after.reminderMoves(from: before, in: Self.amsterdam)
      #expect(moves.count == 4, "one before a date that the task does not have did not move")
      let expected: [ReminderMove] = [.stayed(at: stayed), .moved(to: relative)] + moved.map { .moved(to: $0) }
      #expect(Set(moves) == Set(expected))
      let bare = try store.writeAndWait { try $0.schedule(before.id, on: nil) }
      let ended = try #require(try Reminder(text: "1 day before its day").relative)
      #expect(bare.reminderMoves(from: after, in: Self.amsterdam).contains(.ended(ended)))
      let kept = try store.writeAndWait { transaction in
        try transaction.update(before.id, keepingReminder: true) { $0.scheduledDate = .earliest }
      }
      #expect(kept.otherReminders == bare.otherReminders)
      try checkInvariants(of: store)
    }
  }

  @Test func theNextOccurrenceKeepsRelativeOnesAndMovesTheOthers() throws {
    let clock = TestClock(try Self.instant("2026-11-20T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      let task = try store.writeAndWait { transaction in
        try transaction.add("x") { task in
          task.scheduledDate = try CalendarDay(iso8601: "2026-11-20")
          task.recurrence = try Recurrence(text: "FREQ=WEEKLY")
          task.reminders = try [
            "2026-11-20T10:00:00+01:00", "2026-11-20T18:00:00+01:00", "2026-11-19T10:00:00+01:00", "7:00 on its day",
          ].map { try Reminder(text: $0) }
        }
      }
      // What has passed is replaced for this time only: that of yesterday and that of this morning.
      let snoozed = try store.writeAndWait { try $0.snooze(task.id, until: clock.now.adding(seconds: 600)) }
      #expect(snoozed.isReminderSnoozed)
      #expect(snoozed.reminderInstants(in: Self.amsterdam).count == 3)
      #expect(snoozed.ownAttributes.isEmpty)
      let next = try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        return try #require(try transaction.successor(of: task))
      }
      let expected = try [
        "2026-11-26T10:00:00+01:00", "2026-11-27T07:00:00+01:00", "2026-11-27T10:00:00+01:00",
        "2026-11-27T18:00:00+01:00",
      ].map(Self.instant)
      #expect(next.reminderInstants(in: Self.amsterdam) == expected)
      #expect(!next.isReminderSnoozed && next.attributes.isEmpty)
      try checkInvariants(of: store)
    }
  }

  @Test func aSnoozeReplacesWhatHasPassedOrElseTheNextOne() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let (now, soon) = (clock.now, clock.now.adding(seconds: 60))
      func hours(_ count: Int64) -> Timestamp { now.adding(seconds: 3_600 * count) }
      func add(_ offsets: [Int64]) throws -> UUID {
        try store.writeAndWait { try $0.add("x") { $0.reminders = offsets.map { .at(hours($0)) } } }.id
      }
      func instants(_ id: UUID) throws -> [Timestamp] {
        try #require(try store.read { try $0.task(id) }).reminderInstants(in: .gmt)
      }
      let passed = try add([-5, -1, 3, 4])
      #expect(try store.read { try $0.missedReminders(since: .earliest) }.map(\.id) == [passed], "once")
      try store.writeAndWait { _ = try $0.snooze(passed, until: soon) }
      #expect(try instants(passed) == [soon, hours(3), hours(4)])
      #expect(try store.read { try $0.missedReminders(since: .earliest) }.isEmpty)
      let coming = try add([2, 3])
      try store.writeAndWait { _ = try $0.snooze(coming, until: hours(9)) }
      #expect(try instants(coming) == [hours(3), hours(9)])
      try store.writeAndWait { _ = try $0.dismissReminder(of: coming) }
      #expect(try instants(coming) == [hours(9)])
      try store.writeAndWait { _ = try $0.dismissReminder(of: coming) }
      #expect(try instants(coming) == [])
      try checkInvariants(of: store)
    }
  }

  @Test func aSnoozedRelativeReminderComesBackWithItsDate() throws {
    let clock = TestClock(try Self.instant("2026-11-25T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      let before = try Reminder(text: "1 day before")
      let due = try Self.instant("2026-11-26T08:00:00Z")
      let task = try store.writeAndWait { transaction in
        try transaction.add("x") { ($0.dueDate, $0.reminders) = (due, [before]) }
      }
      clock.now = clock.now.adding(seconds: 60)
      let until = clock.now.adding(seconds: 600)
      let snoozed = try store.writeAndWait { try $0.snooze(task.id, until: until) }
      #expect(snoozed.reminders == [.at(until)])
      let planned = try store.writeAndWait { try $0.schedule(task.id, on: try CalendarDay(iso8601: "2026-11-30")) }
      #expect(planned.reminders == [.at(until)], "its date has not moved")
      let moved = try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.dueDate = due.adding(seconds: 7 * 86_400) }
      }
      #expect(moved.reminders.contains(before))
      #expect(moved.attributes.isEmpty)
      try checkInvariants(of: store)
    }
  }

  @Test func filtersFindAnyOfThem() throws {
    let clock = TestClock(try Self.instant("2026-11-20T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("several") { task in
          task.dueDay = try CalendarDay(iso8601: "2026-11-25")
          task.reminders = [
            .at(try Self.instant("2026-12-24T10:00:00+01:00")), try Reminder(text: "9:00 the day before"),
          ]
        }
        _ = try transaction.add("none")
      }
      for (filter, count) in [
        ("reminder=2026-11-24", 1), ("reminder=2026-12-24 is:open", 1), ("reminder=2026-11-25", 0),
        ("has:reminder is:open", 1), ("not has:reminder", 1), ("reminder<2026-11-25 is:open", 1),
      ] {
        let found = try store.read {
          try $0.view(.matching(try TaskFilter(text: filter), by: TaskOrder(.place))).tasks.count
        }
        #expect(found == count, "\(filter)")
      }
    }
  }

  @Test func theIndexGivesATaskOnceAndInEveryZone() throws {
    let clock = TestClock(try Self.instant("2026-11-20T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Pacific/Kiritimati")) { store in
      try store.writeAndWait { transaction in
        for number in 0..<500 { _ = try transaction.add("\(number)") }
        _ = try transaction.add("several") { task in
          task.dueDay = try CalendarDay(iso8601: "2026-11-25")
          task.reminders = try ["9:00 the day before", "18:00 the day before", "1 hour before"].map {
            try Reminder(text: $0)
          }
        }
      }
      for (filter, count) in [
        ("has:reminder is:open", 1), ("reminder=2026-11-24 is:open", 1), ("reminder=2026-11-25 is:open", 1),
        ("reminder=2026-11-23 is:open", 0), ("reminder<2026-11-25 is:open", 1), ("reminder>2026-11-25 is:open", 0),
      ] {
        let filter = try TaskFilter(text: filter)
        let query = TaskQuery(filter, by: TaskOrder(.place))
        let (found, explanation, counted) = try store.read { transaction in
          (try transaction.tasks(query).tasks.count, try transaction.explain(query), try transaction.count(filter))
        }
        #expect(found == count && counted == count, "\(filter.text)")
        #expect(explanation.index == "byReminder")
      }
    }
  }

  @Test func aPartOfTheNextOccurrenceHasThemAsFarAway() throws {
    let clock = TestClock(try Self.instant("2026-11-20T08:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Amsterdam")) { store in
      let parts = try store.writeAndWait { transaction in
        let parent = try transaction.add("x", to: .today) { $0.recurrence = try Recurrence(text: "FREQ=WEEKLY") }
        _ = try transaction.add("part") { task in
          task.parentID = parent.id
          task.reminders = try [
            "2026-11-19T10:00:00+01:00", "2026-11-20T10:00:00+01:00", "1 day before its day",
          ].map { try Reminder(text: $0) }
        }
        try transaction.complete(parent.id)
        return try transaction.subtasks(of: try #require(try transaction.successor(of: parent)).id)
      }
      let expected = try [
        "2026-11-26T10:00:00+01:00", "2026-11-27T10:00:00+01:00", "1 day before its day",
      ].map { try Reminder(text: $0) }
      #expect(parts.map { Set($0.reminders) } == [Set(expected)])
    }
  }

  @Test func aStoreOfOtherTasksStaysWhatEarlierVersionsOpen() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let id = try store.writeAndWait { try $0.add("x") { $0.reminders = [.at(clock.now)] } }.id
      #expect(try store.read { try !$0.header().requiredFeatures.contains(.taskLife) })
      #expect(try !store.exportedText().contains("\"reminders\""))
      try store.writeAndWait { _ = try $0.update(id) { $0.reminders.append(.at(clock.now.adding(seconds: 60))) } }
      #expect(try store.read { try $0.header().requiredFeatures.contains(.taskLife) })
      let times = try store.exportedText().components(separatedBy: "\"reminders\"").last?.components(
        separatedBy: "\"at\"")
      #expect(times?.count == 3, "a document has both in one place")
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.task(id) }?.reminders == [.at(clock.now)])
    }
  }

  @Test func moreThanATaskCanHaveAreRefused() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let many = (0..<33).map { Reminder.at(clock.now.adding(seconds: $0)) }
      _ = try store.writeAndWait { try $0.add("x") { $0.reminders = many } }
      expect(.valueOutOfRange) {
        try store.writeAndWait { _ = try $0.add("x") { $0.reminders = many + [.at(.earliest)] } }
      }
    }
  }
}
