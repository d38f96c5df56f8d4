import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// A series day by day, in zones whose clocks do unusual things: each row is a rule for what becomes of an occurrence.
@Suite struct SeriesTableTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }
  private static func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  /// A store in a zone, with a clock that begins at an instant.
  private func withStore(
    in zone: String, at now: String, _ body: (TaskStore, TestClock) throws -> Void
  ) throws {
    let clock = TestClock(try Self.instant(now))
    try TallyTestSupport.withStore(.testing(clock: clock, timeZone: zone)) { store in try body(store, clock) }
  }

  private func add(
    _ rule: String, due: String, to store: TaskStore, _ change: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    try store.writeAndWait { transaction in
      try transaction.add("Pills") { task in
        task.recurrence = try (try? Recurrence(phrase: rule)) ?? Recurrence(text: rule)
        try task.setDue(due)
        try change(&task)
      }
    }
  }

  /// Completes a task at an instant, and returns the next one; `nil` if the series has ended.
  private func next(
    after task: TaskItem, at now: String, _ clock: TestClock, in store: TaskStore, zone: String? = nil
  ) throws -> TaskItem? {
    clock.now = try Self.instant(now)
    return try store.writeAndWait { transaction in
      if let zone {
        var calendar = transaction.calendar
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        transaction.countDays(in: calendar, startingAtMinute: 0)
      }
      try transaction.complete(task.id)
      return try transaction.successor(of: try #require(try transaction.task(task.id)))
    }
  }

  // MARK: A change of one task concerns that task.

  /// A snooze over the end of the day, on a night when the clocks change.
  @Test(
    arguments: [
      ("Australia/Lord_Howe", "2026-10-03T22:00:00+10:30", "2026-10-04T02:35:00+11:00", "2026-10-04T22:00:00+11:00"),
      ("America/Havana", "2026-03-07T23:00:00-05:00", "2026-03-08T01:10:00-04:00", "2026-03-08T23:00:00-04:00"),
      ("Antarctica/Troll", "2026-10-24T22:00:00+02:00", "2026-10-25T01:30:00Z", "2026-10-25T22:00:00Z"),
      ("America/Sao_Paulo", "2018-11-03T23:30:00-03:00", "2018-11-04T01:15:00-02:00", "2018-11-04T23:30:00-02:00"),
    ] as [(String, String, String, String)])
  func aSnoozePastMidnightIsForOneTask(zone: String, first: String, snoozed: String, back: String) throws {
    try withStore(in: zone, at: first) { store, clock in
      let reminder = try Self.instant(first)
      let task = try add("every day", due: String(first.prefix(10)), to: store) { $0.reminderDate = reminder }
      let until = try Self.instant(snoozed)
      try store.writeAndWait { _ = try $0.snooze(task.id, until: until) }
      let next = try #require(try next(after: task, at: snoozed, clock, in: store))
      #expect(next.reminderDate == (try Self.instant(back)))
      #expect(next.dueDay == (try Self.day(String(back.prefix(10)))))
    }
  }

  /// A task that is moved, planned elsewhere or due at another time once.
  @Test(arguments: ["2026-05-05T23:30:00+12:45", "2026-05-09T09:00:00+12:45", "2026-05-05T00:15:00+12:45"])
  func aMoveIsForOneTask(due: String) throws {
    try withStore(in: "Pacific/Chatham", at: "2026-05-04T20:00:00Z") { store, clock in
      let task = try add("every tuesday", due: "2026-05-05T09:00:00+12:45", to: store)
      let moved = try Self.instant(due)
      try store.writeAndWait { _ = try $0.update(task.id) { ($0.dueDate, $0.priority) = (moved, .high) } }
      let next = try #require(try next(after: task, at: "2026-05-05T21:00:00Z", clock, in: store))
      #expect(next.dueDate == (try Self.instant("2026-05-12T09:00:00+12:45")) && next.priority == .none)
    }
  }

  // MARK: A time inside a change of the clock.

  /// The first task, the one whose time does not exist, and the one after it.
  @Test(
    arguments: [
      // Midnight does not exist in Havana, and did not in São Paulo; the day begins at one.
      ("America/Havana", "2026-03-07T00:30:00-05:00", "2026-03-08T01:30:00-04:00", "2026-03-09T00:30:00-04:00"),
      ("America/Sao_Paulo", "2018-11-03T00:00:00-03:00", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"),
      ("Asia/Beirut", "2026-03-28T00:45:00+02:00", "2026-03-29T01:45:00+03:00", "2026-03-30T00:45:00+03:00"),
      // Two hours are missing in Troll, half an hour on Lord Howe.
      ("Antarctica/Troll", "2026-03-28T02:30:00Z", "2026-03-29T04:30:00+02:00", "2026-03-30T02:30:00+02:00"),
      ("Australia/Lord_Howe", "2026-10-03T02:00:00+10:30", "2026-10-04T02:30:00+11:00", "2026-10-05T02:00:00+11:00"),
      // The whole of 30 December 2011 is missing in Apia: its task is a day later.
      ("Pacific/Apia", "2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00", "2011-12-31T09:00:00+14:00"),
    ] as [(String, String, String, String)])
  func aTimeThatDoesNotExistIsLaterOnThatDayAlone(zone: String, first: String, skipped: String, back: String) throws {
    try withStore(in: zone, at: first) { store, clock in
      let task = try add("every day", due: first, to: store)
      let moved = try #require(try next(after: task, at: first, clock, in: store))
      #expect(moved.dueDate == (try Self.instant(skipped)))
      let next = try #require(try next(after: moved, at: skipped, clock, in: store))
      #expect(next.dueDate == (try Self.instant(back)))
      #expect(next.series?.index == 2)
    }
  }

  /// A time that comes twice is the first of the two, and the distance of the days stays.
  @Test(
    arguments: [
      ("America/Havana", "2026-10-31T00:30:00-04:00", "2026-11-01T00:30:00-04:00", "2026-11-02T00:30:00-05:00"),
      ("Australia/Lord_Howe", "2026-04-04T01:45:00+11:00", "2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"),
      ("Antarctica/Troll", "2026-10-24T02:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00Z"),
      ("America/Sao_Paulo", "2018-02-16T23:30:00-02:00", "2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"),
    ] as [(String, String, String, String)])
  func aTimeThatComesTwiceIsTheFirst(zone: String, first: String, twice: String, after: String) throws {
    try withStore(in: zone, at: first) { store, clock in
      let task = try add("every day", due: first, to: store)
      let second = try #require(try next(after: task, at: first, clock, in: store))
      #expect(second.dueDate == (try Self.instant(twice)))
      let third = try #require(try next(after: second, at: twice, clock, in: store))
      #expect(third.dueDate == (try Self.instant(after)))
    }
  }

  // MARK: The time is that of the clocks where the person is.

  @Test(
    arguments: [
      ("Asia/Kathmandu", "2026-03-28T09:00:00+05:45"), ("Pacific/Kiritimati", "2026-03-29T09:00:00+14:00"),
      ("Pacific/Pago_Pago", "2026-03-28T09:00:00-11:00"), ("Australia/Lord_Howe", "2026-03-28T09:00:00+11:00"),
    ] as [(String, String)])
  func nineInTheMorningIsNineWhereTheTaskIsDone(zone: String, due: String) throws {
    try withStore(in: "Europe/Berlin", at: "2026-03-27T06:00:00Z") { store, clock in
      let task = try add("every day", due: "2026-03-27T09:00:00+01:00", to: store)
      let there = try #require(try next(after: task, at: "2026-03-27T19:30:00Z", clock, in: store, zone: zone))
      #expect(there.dueDate == (try Self.instant(due)))
      // A series of a zone is at the same instant, wherever the person is.
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: "Europe/Berlin"), ofSeriesWith: task.id) }
      let fixed = try #require(try next(after: task, at: "2026-03-27T19:30:00Z", clock, in: store, zone: zone))
      #expect(fixed.dueDate == (try Self.instant("2026-03-28T09:00:00+01:00")))
    }
  }

  // MARK: What is done late.

  /// When a task of Monday, 25 May is done, and the day of the next one, in Kathmandu.
  @Test(
    arguments: [
      ("every monday", "2026-05-25T17:00:00+05:45", "2026-06-01T16:59:00+05:45", "2026-06-01"),
      ("every monday", "2026-05-25T17:00:00+05:45", "2026-06-01T17:01:00+05:45", "2026-06-08"),
      ("every weekday", "2026-05-25", "2026-05-29T23:59:00+05:45", "2026-05-29"),
      ("every weekday", "2026-05-25", "2026-05-30T00:01:00+05:45", "2026-06-01"),
      ("FREQ=MONTHLY;BYMONTHDAY=25", "2026-05-25", "2026-08-26T12:00:00+05:45", "2026-09-25"),
      ("after 3 days", "2026-05-25", "2026-06-10T23:59:00+05:45", "2026-06-13"),
      ("every day", "2026-05-25", "2026-05-20T12:00:00+05:45", "2026-05-26"),
    ] as [(String, String, String, String)])
  func theNextTaskIsTheFirstWhoseTimeHasNotPassed(rule: String, due: String, done: String, next: String) throws {
    try withStore(in: "Asia/Kathmandu", at: "2026-05-19T00:00:00Z") { store, clock in
      let task = try add(rule, due: due, to: store)
      let following = try #require(try self.next(after: task, at: done, clock, in: store))
      #expect(following.dueDay(in: clock.zone("Asia/Kathmandu")) == (try Self.day(next)))
      #expect(following.series?.index == 1)
    }
  }

  // MARK: A repeating sub-task and its repeating parent.

  @Test func aWeeklyParentTakesTheDailySubtaskOfTomorrowAlong() throws {
    try withStore(in: "America/Havana", at: "2026-03-07T14:00:00Z") { store, clock in
      let parent = try add("every saturday", due: "2026-03-07", to: store)
      let part = try add("every day", due: "2026-03-07", to: store) { $0.parentID = parent.id }
      // The sub-task of Sunday, when the day begins at one, is still to come.
      let sunday = try #require(try next(after: part, at: "2026-03-07T15:00:00Z", clock, in: store))
      let nextParent = try #require(try next(after: parent, at: "2026-03-07T16:00:00Z", clock, in: store))
      let tasks = try store.read { try $0.tasks(TaskQuery(.all, by: .place)).tasks }
      let parts = tasks.filter { $0.parentID == nextParent.id }
      #expect(parts.map(\.id) == [sunday.id] && parts.map(\.isOpen) == [true], "nobody has done it")
      #expect(nextParent.dueDay?.iso8601 == "2026-03-14")
      #expect(tasks.count { $0.isCompleted } == 2)
    }
  }

  // MARK: Months that are too short.

  /// The first three days by words, which clamp, and by a rule, which does not.
  @Test(
    arguments: [
      ("every month", "2027-01-30", "2027-01-30 2027-02-28 2027-03-30"),
      ("every month", "2028-01-29", "2028-01-29 2028-02-29 2028-03-29"),
      ("every 3 months", "2026-11-30", "2026-11-30 2027-02-28 2027-05-30"),
      ("every 6 months", "2026-08-31", "2026-08-31 2027-02-28 2027-08-31"),
      ("every year", "2028-02-29", "2028-02-29 2029-02-28 2030-02-28"),
      ("FREQ=MONTHLY;INTERVAL=6", "2026-08-31", "2026-08-31 2027-08-31 2028-08-31"),
      ("FREQ=YEARLY", "2028-02-29", "2028-02-29 2032-02-29 2036-02-29"),
    ] as [(String, String, String)])
  func wordsClampToTheLastDayAndRulesSkip(rule: String, start: String, days: String) throws {
    let first = try Self.day(start)
    let recurrence =
      try (try? Recurrence(text: rule)) ?? Recurrence(phrase: rule).inWords(beginningOn: first)
    try withStore(in: "Pacific/Apia", at: "2026-05-04T20:00:00Z") { store, clock in
      var task = try add(recurrence.text, due: start, to: store)
      for day in days.split(separator: " ").map(String.init) {
        #expect(task.dueDay?.iso8601 == day)
        task = try #require(try next(after: task, at: "\(day)T00:00:00Z", clock, in: store))
      }
    }
  }

  // MARK: What is left out.

  /// A day that is left out counts for a number of tasks, and its deletion keeps the series going.
  @Test(arguments: [false, true])
  func aSkippedDayCountsAndTheRestGoesOn(deletes: Bool) throws {
    try withStore(in: "America/Sao_Paulo", at: "2018-11-02T12:00:00Z") { store, clock in
      let first = try add("FREQ=DAILY;COUNT=3", due: "2018-11-03T00:00:00-03:00", to: store)
      let second = try #require(try next(after: first, at: "2018-11-02T13:00:00Z", clock, in: store))
      let third = try store.writeAndWait { transaction in
        if deletes { try transaction.deleteOccurrence(second.id) } else { try transaction.skip(second.id) }
        return try #require(try transaction.successor(of: second))
      }
      #expect(third.dueDate == (try Self.instant("2018-11-05T00:00:00-02:00")))
      #expect(try store.read { try $0.storedSeries(first.id)?.skippedDays } == [try Self.day("2018-11-04")])
      #expect(try next(after: third, at: "2018-11-05T03:00:00Z", clock, in: store) == nil)
    }
  }

  /// Another rule keeps the days that are left out as far as it gives them.
  @Test func anotherRuleKeepsTheDaysThatItGives() throws {
    try withStore(in: "Europe/Berlin", at: "2026-05-04T06:00:00Z") { store, _ in
      let task = try add("every day", due: "2026-05-04T09:00:00+02:00", to: store)
      try store.writeAndWait { transaction in
        var series = try #require(try transaction.storedSeries(task.id))
        series.skippedDays = try ["2026-05-03", "2026-05-08", "2026-05-11"].map(Self.day)
        try transaction.write(series)
        try transaction.updateSeries(of: task.id) { $0.title = "Vitamins" }
        #expect(try transaction.storedSeries(task.id)?.skippedDays.count == 3)
        try transaction.updateSeries(of: task.id) { $0.recurrence = try Recurrence(phrase: "every monday") }
        #expect(try transaction.storedSeries(task.id)?.skippedDays == [try Self.day("2026-05-11")])
        try transaction.updateSeries(of: task.id) { $0.recurrence = try Recurrence(text: "after 2 days") }
        #expect(try transaction.storedSeries(task.id)?.skippedDays == [])
      }
    }
  }

  // MARK: Weekday habits.

  /// The first days from Saturday, 21 November 2026.
  @Test(
    arguments: [
      ("every weekday except wednesday", "2026-11-23 2026-11-24 2026-11-26 2026-11-27"),
      ("every 29 february and 1 march", "2027-02-28 2027-03-01 2028-02-29"),
      ("every last sunday of march and october", "2027-03-28 2027-10-31 2028-03-26"),
      ("every last weekday of the month until 31 december", "2026-11-30 2026-12-31"),
      ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "2026-11-27 2026-12-30 2027-01-28"),
      ("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;EXDATE=20271125", "2026-11-26 2028-11-23"),
    ] as [(String, String)])
  func theDaysOfHabits(rule: String, days: String) throws {
    try withStore(in: "Antarctica/Troll", at: "2026-11-21T09:00:00Z") { store, _ in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let written = try WrittenRecurrence(rule, reference: reference)
        let task = try transaction.add("habit") { written.apply(to: &$0, isNew: true, reference: reference) }
        var day = try #require(task.scheduledDate)
        guard case .rule(let found)? = task.recurrence else { return }
        for expected in days.split(separator: " ") {
          #expect(day.iso8601 == String(expected))
          guard let next = found.next(after: day, from: try #require(task.series).start) else { break }
          day = next
        }
      }
    }
  }

  @Test(arguments: ["FREQ=MINUTELY;INTERVAL=8", "after 8 hours", "every 90 minutes", "every day except holidays"])
  func whatCannotBeSaidIsAnError(rule: String) throws {
    let reference = DateReference(
      now: try Self.instant("2026-11-21T09:00:00Z"), calendar: .init(identifier: .gregorian))
    expect(.invalidRecurrence) { _ = try WrittenRecurrence(rule, reference: reference) }
  }
}

extension TestClock {
  /// A zone by its name.
  fileprivate func zone(_ name: String) -> TimeZone { TimeZone(identifier: name) ?? .gmt }
}
