import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// A series has values of its own: what happens to one task of it concerns that task.
@Suite struct TaskSeriesTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }
  private static func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  /// A store in a time zone at an instant, with pills every day at a local time, due and reminded of then.
  private static func withPills(
    at first: String, every phrase: String = "every day", in zone: String = "Europe/Berlin", now: String,
    _ body: (TaskStore, TaskItem, TestClock) throws -> Void
  ) throws {
    let clock = TestClock(try instant(now))
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.calendar.timeZone = try #require(TimeZone(identifier: zone))
    try withStore(configuration) { store in
      let task = try store.writeAndWait { transaction in
        try transaction.add("Pills") { task in
          task.recurrence = try Recurrence(phrase: phrase)
          task.dueDate = try instant(first)
          task.reminderDate = try instant(first)
          task.tags = ["health"]
        }
      }
      try body(store, task, clock)
    }
  }

  /// Closes the open task of a series at an instant, and returns the next one.
  private static func complete(
    _ task: TaskItem, at now: String, _ clock: TestClock, in store: TaskStore, in zone: String? = nil
  ) throws -> TaskItem {
    clock.now = try instant(now)
    return try store.writeAndWait { transaction in
      if let zone {
        var calendar = transaction.calendar
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        transaction.countDays(in: calendar, startingAtMinute: 0)
      }
      try transaction.complete(task.id)
      return try #require(try transaction.successor(of: task))
    }
  }

  @Test func everyFieldOfOneTaskStaysWithThatTask() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Trip")
        try transaction.update(task.id) { task in
          (task.title, task.notes, task.priority) = ("Pills, twice", "with water", .high)
          (task.tags, task.listID) = (["trip"], list.id)
          task.attributes["dose"] = .integer(2)
          task.dueDate = try Self.instant("2026-05-04T21:30:00+02:00")
        }
      }
      let next = try Self.complete(task, at: "2026-05-04T20:00:00Z", clock, in: store)
      #expect(next.title == "Pills" && next.notes == nil && next.priority == .none && next.tags == ["health"])
      #expect(next.listID == nil && next.attributes.isEmpty)
      #expect(next.dueDate == (try Self.instant("2026-05-05T09:00:00+02:00")))
      #expect(next.reminderDate == next.dueDate)
    }
  }

  @Test func aChangeOfTheSeriesHoldsFromNowOn() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      // What was changed of this task alone stays with it.
      try store.writeAndWait { try $0.update(task.id) { $0.notes = "today with food" } }
      let edited = try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) { task in
          (task.title, task.priority) = ("Vitamins", .low)
          task.dueDate = try Self.instant("2026-05-04T10:15:00+02:00")
        }
      }
      // The reminder moves as far as the due time.
      #expect(edited.reminderDate == edited.dueDate && edited.notes == "today with food")
      var next = try Self.complete(task, at: "2026-05-04T09:00:00Z", clock, in: store)
      #expect(next.title == "Vitamins" && next.priority == .low && next.notes == nil)
      let due = try Self.instant("2026-05-05T10:15:00+02:00")
      #expect(next.dueDate == due && next.reminderDate == due)
      next = try Self.complete(next, at: "2026-05-05T09:00:00Z", clock, in: store)
      let dueThen = try Self.instant("2026-05-06T10:15:00+02:00")
      #expect(next.dueDate == dueThen && next.title == "Vitamins")
    }
  }

  /// What one task has alone stays there when the series changes, and becomes that of the series when a person says so.
  @Test func anEditOfTheSeriesTakesNothingElseFromItsTask() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let later = try Self.instant("2026-05-04T11:00:00+02:00")
      try store.writeAndWait { transaction in
        try transaction.update(task.id) { task in
          (task.title, task.notes, task.dueDate) = ("Vitamins", "with food", later)
          task.tags.insert("trip")
          (task.attributes["dose"], task.attributes["left"]) = (.integer(2), .integer(9))
        }
        try transaction.updateSeries(of: task.id) { task in
          task.tags.insert("daily")
          task.attributes["left"] = .integer(8)
        }
      }
      let before = try #require(try store.read { try $0.task(task.id) })
      #expect(before.tags == ["daily", "health", "trip"] && before.attributes["left"] == .integer(8))
      // The open task has these values already.
      try store.writeAndWait { transaction in
        let same = try transaction.updateSeries(of: task.id) { task in
          (task.title, task.dueDate) = ("Vitamins", later)
        }
        #expect(same == before)
      }
      let change = try #require(try store.read { try $0.history(limit: 1) }.first)
      #expect(change.tasks.isEmpty && change.series.map { $0.after?.template.title } == ["Vitamins"])
      let next = try Self.complete(task, at: "2026-05-04T20:00:00Z", clock, in: store)
      #expect(next.title == "Vitamins" && next.notes == nil && next.tags == ["daily", "health"])
      #expect(next.attributes == ["left": .integer(8)])
      #expect(next.dueDate == (try Self.instant("2026-05-05T11:00:00+02:00")))
    }
  }

  /// A task that was moved alone comes back to its day, or its series comes to it.
  @Test(arguments: [("2026-05-04", "2026-05-11"), ("2026-05-06", "2026-05-13"), ("2026-05-07", "2026-05-14")])
  func aTaskThatWasMovedAloneAndItsSeriesMeet(day: String, next: String) throws {
    try Self.withPills(
      at: "2026-05-04T09:00:00+02:00", every: "every monday", now: "2026-05-04T06:00:00Z"
    ) { store, task, clock in
      let alone = try Self.instant("2026-05-06T09:00:00+02:00")
      let together = try Self.instant("\(day)T09:00:00+02:00")
      try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.dueDate = alone }
        let open = try transaction.updateSeries(of: task.id) { $0.dueDate = together }
        let occurrence = try Self.day(day)
        #expect(open.dueDate == together && open.series?.occurrence == occurrence)
        #expect(open.reminderDate == together)
      }
      let following = try Self.complete(task, at: "\(day)T05:00:00Z", clock, in: store)
      #expect(following.dueDate == (try Self.instant("\(next)T09:00:00+02:00")))
    }
  }

  /// A series of a number of tasks has as many when it moves.
  @Test(arguments: [
    ("every day for 4 times", "2026-05-05", 4), ("every monday for 4 times", "2026-05-12", 4),
    ("every monday for 2 times", "2026-05-13", 2), ("every monday and friday for 3 times", "2026-05-06", 3),
    ("every monday and friday for 2 times", "2026-05-07", 2), ("every monday and friday for 2 times", "2026-05-11", 2),
    ("every day except 2026-05-05 for 6 times", "2026-05-08", 5),
  ])
  func aSeriesThatMovesEndsAfterAsManyTasks(phrase: String, day: String, count: Int) throws {
    try Self.withPills(
      at: "2026-05-04T09:00:00+02:00", every: phrase, now: "2026-05-04T06:00:00Z"
    ) { store, task, clock in
      var open = try Self.complete(task, at: "2026-05-04T06:00:00Z", clock, in: store)
      let moved = try Self.instant("\(day)T09:00:00+02:00")
      open = try store.writeAndWait { [open] in try $0.updateSeries(of: open.id) { $0.dueDate = moved } }
      #expect(open.dueDate == moved)
      var made = 2
      while let next = try store.writeAndWait({ [open] transaction in
        _ = try transaction.complete(open.id)
        return try transaction.successor(of: open)
      }), made < 20 {
        (open, made) = (next, made + 1)
      }
      #expect(made == count, "\(open.recurrence?.text ?? "")")
    }
  }

  /// A day that the rule does not give is not one of its number, on the way there and back.
  @Test func aSeriesThatMovesAwayAndBackHasAsManyTasks() throws {
    try Self.withPills(
      at: "2026-05-04T09:00:00+02:00", every: "every monday and thursday for 3 times", now: "2026-05-04T06:00:00Z"
    ) { store, task, _ in
      for (day, rule) in [("05", "COUNT=2"), ("06", "COUNT=2"), ("04", "COUNT=3"), ("07", "COUNT=3")] {
        let due = try Self.instant("2026-05-\(day)T09:00:00+02:00")
        let open = try store.writeAndWait { try $0.updateSeries(of: task.id) { $0.dueDate = due } }
        #expect(open.recurrence?.text.contains(rule) == true, "\(day): \(open.recurrence?.text ?? "")")
      }
    }
  }

  /// A new rule goes on from the day to which the task was moved alone, with or without its series.
  @Test(arguments: [false, true]) func aNewRuleGoesOnFromTheDayOfTheTask(inSeries: Bool) throws {
    try Self.withPills(
      at: "2026-05-04T09:00:00+02:00", every: "every monday", now: "2026-05-04T06:00:00Z"
    ) { store, task, clock in
      let alone = try Self.instant("2026-05-06T09:00:00+02:00")
      let rule = try Recurrence(phrase: "every wednesday")
      let open = try store.writeAndWait { transaction in
        try transaction.update(task.id) { ($0.title, $0.dueDate) = ("Vitamins", alone) }
        let change = { (task: inout TaskItem) in (task.title, task.recurrence) = ("Vitamins", rule) }
        return inSeries ? try transaction.updateSeries(of: task.id, change) : try transaction.update(task.id, change)
      }
      #expect(open.dueDate == alone && open.series?.start.iso8601 == "2026-05-06")
      let next = try Self.complete(task, at: "2026-05-06T08:00:00Z", clock, in: store)
      #expect(next.dueDate == (try Self.instant("2026-05-13T09:00:00+02:00")))
      #expect(next.title == (inSeries ? "Vitamins" : "Pills"))
    }
  }

  /// The day of a series is one in its zone: a time that is on another day there moves the series.
  @Test func aSeriesOfAnotherZoneMovesByTheDaysOfThatZone() throws {
    try Self.withPills(
      at: "2026-05-04T20:00:00-07:00", every: "every monday", in: "America/Los_Angeles", now: "2026-05-04T06:00:00Z"
    ) { store, task, clock in
      let due = try Self.instant("2026-05-05T21:00:00+02:00")
      try store.writeAndWait { transaction in
        try transaction.setTimeZone(TimeZone(identifier: "America/Los_Angeles"), ofSeriesWith: task.id)
        var calendar = transaction.calendar
        calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        transaction.countDays(in: calendar, startingAtMinute: 0)
        try transaction.updateSeries(of: task.id) { $0.dueDate = due }
      }
      let next = try Self.complete(task, at: "2026-05-05T10:00:00Z", clock, in: store, in: "Europe/Berlin")
      #expect(next.dueDate == (try Self.instant("2026-05-12T21:00:00+02:00")))
      #expect(next.recurrence?.text == "FREQ=WEEKLY;BYDAY=TU")
    }
  }

  /// A rule without weekdays follows the day of the series.
  @Test func aSeriesThatMovesToAnotherDayGoesOnFromThere() throws {
    try Self.withPills(
      at: "2026-05-04T09:00:00+02:00", every: "every week", now: "2026-05-04T06:00:00Z"
    ) { store, task, clock in
      try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id) { $0.dueDate = try Self.instant("2026-05-06T08:00:00+02:00") }
      }
      let next = try Self.complete(task, at: "2026-05-06T05:00:00Z", clock, in: store)
      #expect(next.dueDate == (try Self.instant("2026-05-13T08:00:00+02:00")))
      #expect(next.series?.id == task.id && next.series?.index == 1)
    }
  }

  /// Clocks skip the time on one day: 02:30 in Berlin, midnight in Cairo and Santiago, half an hour on Lord Howe.
  @Test(
    arguments: [
      ("Europe/Berlin", "2026-03-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"),
      ("Africa/Cairo", "2026-04-23T00:00:00+02:00", "2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"),
      ("America/Santiago", "2026-09-05T00:15:00-04:00", "2026-09-06T01:15:00-03:00", "2026-09-07T00:15:00-03:00"),
      ("Australia/Lord_Howe", "2026-10-03T02:10:00+10:30", "2026-10-04T02:40:00+11:00", "2026-10-05T02:10:00+11:00"),
    ])
  func aTimeThatClocksSkipIsBackOnTheNextDay(zone: String, first: String, skipped: String, back: String) throws {
    try Self.withPills(at: first, in: zone, now: first) { store, task, clock in
      let moved = try Self.complete(task, at: first, clock, in: store)
      #expect(moved.dueDate == (try Self.instant(skipped)))
      #expect(moved.reminderDate == moved.dueDate)
      let next = try Self.complete(moved, at: skipped, clock, in: store)
      #expect(next.dueDate == (try Self.instant(back)))
      #expect(next.reminderDate == next.dueDate)
    }
  }

  @Test func theTimeIsThatOfTheClocksWhereThePersonIs() throws {
    try Self.withPills(at: "2026-11-10T09:00:00+01:00", now: "2026-11-10T07:00:00Z") { store, task, clock in
      let there = try Self.complete(task, at: "2026-11-10T14:30:00Z", clock, in: store, in: "America/New_York")
      #expect(there.dueDate == (try Self.instant("2026-11-11T09:00:00-05:00")))
      let home = try Self.complete(there, at: "2026-11-11T20:00:00Z", clock, in: store)
      #expect(home.dueDate == (try Self.instant("2026-11-12T09:00:00+01:00")))
      // A zone of its own keeps the series where it is.
      try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: "Europe/Berlin"), ofSeriesWith: home.id) }
      let fixed = try Self.complete(home, at: "2026-11-12T15:00:00Z", clock, in: store, in: "America/New_York")
      #expect(fixed.dueDate == (try Self.instant("2026-11-13T09:00:00+01:00")))
    }
  }

  @Test func anotherZoneMovesAllTimesOfTheOpenTaskUnlessAPersonHasChangedThem() throws {
    try Self.withPills(at: "2026-11-10T09:00:00+01:00", now: "2026-11-10T07:00:00Z") { store, task, _ in
      let early = try Self.instant("2026-11-10T08:00:00+01:00")
      let late = try Self.instant("2026-11-10T10:00:00+01:00")
      try store.writeAndWait { transaction in
        try transaction.updateSeries(of: task.id, keepingReminder: true) {
          $0.otherReminders = [.at(early), .at(late)]
        }
        try transaction.update(task.id, keepingReminder: true) { $0.dueDate = late }
        try transaction.setTimeZone(TimeZone(identifier: "Asia/Tokyo"), ofSeriesWith: task.id)
      }
      let moved = try #require(try store.read { try $0.task(task.id) })
      #expect(moved.dueDate == late)
      #expect(moved.reminderDate == (try Self.instant("2026-11-10T09:00:00+09:00")))
      let others = [try Self.instant("2026-11-10T08:00:00+09:00"), try Self.instant("2026-11-10T10:00:00+09:00")]
      #expect(moved.otherReminders.compactMap(\.instant) == others)
    }
  }

  /// Of a closed task, it used to move the times of those to come, but not of the open one.
  @Test func theZoneOfASeriesIsSetByAnyOfItsTasks() throws {
    try Self.withPills(at: "2026-11-10T09:00:00+01:00", now: "2026-11-10T07:00:00Z") { store, task, clock in
      let open = try Self.complete(task, at: "2026-11-10T08:30:00Z", clock, in: store)
      try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: "Asia/Tokyo"), ofSeriesWith: task.id) }
      let moved = try #require(try store.read { try $0.task(open.id) })
      #expect(moved.dueDate == (try Self.instant("2026-11-11T09:00:00+09:00")))
      #expect(try store.read { try $0.task(task.id)?.dueDate } == task.dueDate)
      // Nothing is left that could have a time.
      try store.writeAndWait { try $0.delete(open.id) }
      expect(.invalidRecurrence) { try store.writeAndWait { try $0.setTimeZone(.gmt, ofSeriesWith: task.id) } }
      #expect(try store.read { try $0.storedSeries(task.id) } == nil)
    }
  }

  @Test func theHistoryHasTheZoneOfASeriesAndWhoseItIs() throws {
    try Self.withPills(at: "2026-11-10T09:00:00+01:00", now: "2026-11-10T07:00:00Z") { store, task, clock in
      let other = try store.writeAndWait { try $0.add("Other") }
      // The person is there: no time moves, and no task changes.
      try store.writeAndWait { try $0.setTimeZone(TimeZone(identifier: "Europe/Berlin"), ofSeriesWith: task.id) }
      let change = try #require(try store.read { try $0.history(limit: 1).first })
      #expect(change.tasks.isEmpty && change.series.map(\.after?.timeZoneIdentifier) == ["Europe/Berlin"])
      #expect(change.series.map(\.before?.timeZoneIdentifier) == [nil])
      let open = try Self.complete(task, at: "2026-11-10T08:30:00Z", clock, in: store)
      try store.writeAndWait { try $0.updateSeries(of: open.id) { $0.title = "All pills" } }
      #expect(try store.read { try $0.history(limit: 1).first?.series.isEmpty } == true, "the task says it")
      for (id, isOfSeries) in [(task.id, true), (open.id, true), (other.id, false)] {
        let own = try store.read { try $0.history(of: id) }
        #expect(own.contains { $0.id == change.id } == isOfSeries)
      }
      try store.writeAndWait { try $0.delete(task.id) }
      #expect(try store.read { try $0.history(of: task.id) }.contains { $0.id == change.id }, "of a deleted task, too")
      try store.writeAndWait { try $0.delete(open.id) }
      #expect(try store.read { try $0.history(limit: 1).first?.series.isEmpty } == true, "the series has ended with it")
    }
  }

  /// What follows a task that is done late: the first occurrence after it whose time is still to come.
  @Test(
    arguments: [
      ("2026-05-05T06:30:00Z", "2026-05-05", 0), ("2026-05-05T07:30:00Z", "2026-05-06", 1),
      ("2026-05-08T05:00:00Z", "2026-05-08", 3), ("2026-05-03T05:00:00Z", "2026-05-05", 0),
    ] as [(String, String, Int)])
  func doneLateItStandsForWhatHasPassed(done: String, next: String, skippedCount: Int) throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-03T04:00:00Z") { store, task, clock in
      let following = try Self.complete(task, at: done, clock, in: store)
      #expect(following.dueDate == (try Self.instant("\(next)T09:00:00+02:00")))
      #expect(try store.read { try $0.skippedDays(between: task, and: following) }.count == skippedCount)
    }
  }

  @Test func aSkippedDayIsLeftOutAndCanComeBack() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, _ in
      let next = try store.writeAndWait { transaction in
        try transaction.skip(task.id)
        return try #require(try transaction.successor(of: task))
      }
      let series = try #require(try store.read { try $0.series(of: next) })
      let day = try Self.day("2026-05-04")
      #expect(series.skippedDays == [day] && series.time == "09:00")
      #expect(next.dueDate == (try Self.instant("2026-05-05T09:00:00+02:00")))
      try store.writeAndWait { try $0.reopen(task.id) }
      let open = try store.read { try $0.view(.all).tasks }
      #expect(open.map(\.id) == [task.id])
      #expect(try store.read { try $0.series(of: open[0])?.skippedDays } == [])
    }
  }

  @Test func oneTaskCanBeDeletedAndTheSeriesGoesOn() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      try store.writeAndWait { try $0.update(task.id) { $0.title = "just today" } }
      try store.writeAndWait { try $0.deleteOccurrence(task.id) }
      let next = try #require(try store.read { try $0.view(.all).tasks.first })
      let due = try Self.instant("2026-05-05T09:00:00+02:00")
      #expect(next.title == "Pills" && next.dueDate == due)
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["just today"])
      // Deleting the task itself ends the series.
      try store.writeAndWait { try $0.delete(task.id) }
      #expect(try store.read { try $0.storedSeries() }.isEmpty)
      try store.writeAndWait { _ = try $0.undo() }
      let again = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      #expect(again.title == "Pills")
    }
  }

  /// The task before a deleted one is reopened and done again: the series has gone on already.
  @Test(arguments: [
    ("FREQ=DAILY", 1), ("FREQ=DAILY", 20), ("after 2 days", 2), ("after 1 week", 9), ("FREQ=HOURLY;INTERVAL=6", 7),
  ])
  func aSeriesBeyondDeletedTasksHasOneOpenTask(rule: String, count: Int) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let later = transaction.now.adding(seconds: 3_600)
        let first = try transaction.add("Water", to: .today) { task in
          task.recurrence = try Recurrence(text: rule)
          task.reminderDate = later
        }
        try transaction.complete(first.id)
        var open = try #require(try transaction.successor(of: first))
        for _ in 0..<count {
          try transaction.deleteOccurrence(open.id)
          open = try #require(try transaction.successor(of: open))
        }
        // Nobody has touched the one beyond the deleted ones.
        try transaction.reopen(first.id)
        #expect(try transaction.view(.all).tasks.map(\.id) == [first.id])
        try transaction.complete(first.id)
        let place = try #require(first.series)
        open = try #require(try transaction.task(after: place))
        try transaction.start(open.id)
        try transaction.reopen(first.id)
        let done = try transaction.complete(first.id)
        #expect(try transaction.view(.all).tasks.filter(\.isOpen).map(\.id) == [open.id])
        #expect(try transaction.openTask(ofSeriesWith: done)?.id == open.id)
        #expect(try transaction.updateSeries(of: first.id) { $0.title = "Water all" }.id == open.id)
      }
    }
  }

  /// A day that a person has left out has not passed.
  @Test func aDayThatIsLeftOutIsNotAmongThoseThatHavePassed() throws {
    try Self.withPills(at: "2026-03-27T09:00:00+01:00", now: "2026-03-27T07:00:00Z") { store, task, clock in
      try store.writeAndWait { transaction in
        var series = try #require(try transaction.series(of: task))
        series.skippedDays = [try Self.day("2026-03-28"), try Self.day("2026-03-30")]
        try transaction.write(series)
      }
      let next = try Self.complete(task, at: "2026-03-29T12:00:00Z", clock, in: store)
      let passed = try store.read { transaction in
        let closed = try #require(try transaction.task(task.id))
        return try transaction.skippedDays(between: closed, and: next)
      }
      #expect(next.dueDay(in: .gmt) == (try Self.day("2026-03-31")))
      #expect(passed == [try Self.day("2026-03-29")])
    }
  }

  @Test func aSeriesFollowsItsListIntoAnother() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let lists = try store.writeAndWait { transaction in
        let lists = [try transaction.addList(name: "Health"), try transaction.addList(name: "Home")]
        try transaction.updateSeries(of: task.id) { $0.listID = lists[0].id }
        try transaction.mergeList(lists[0].id, into: lists[1].id)
        return lists
      }
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      #expect(next.listID == lists[1].id)
    }
  }

  @Test func undoRestoresTheSeriesWithItsTask() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      try store.writeAndWait { try $0.updateSeries(of: task.id) { $0.title = "Vitamins" } }
      try store.writeAndWait { _ = try $0.undo() }
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      #expect(next.title == "Pills")
      try store.writeAndWait { _ = try $0.undo() }
      try store.writeAndWait { try $0.updateSeries(of: task.id) { $0.title = "Vitamins" } }
      try store.writeAndWait { _ = try $0.undo() }
      try store.writeAndWait { _ = try $0.redo() }
      let later = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      #expect(later.title == "Vitamins")
    }
  }

  /// A store of an earlier version and a document have no series: a task describes its own.
  @Test func aSeriesThatIsNotStoredIsWhatItsTaskSays() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      try store.writeAndWait { try $0.endSeries(task.id) }
      try store.writeAndWait { try $0.update(task.id) { $0.title = "just today" } }
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      let due = try Self.instant("2026-05-05T09:00:00+02:00")
      #expect(next.title == "Pills" && next.dueDate == due)
    }
  }

  /// A parent completes the sub-tasks of its own occurrence, and takes the others along.
  @Test func aRepeatingSubtaskOfTheNextOccurrenceMovesThere() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let part = try store.writeAndWait { transaction in
        try transaction.add("Glass of water") { part in
          part.parentID = task.id
          part.recurrence = try Recurrence(phrase: "every day")
          part.dueDay = try Self.day("2026-05-04")
        }
      }
      let partNext = try Self.complete(part, at: "2026-05-04T06:30:00Z", clock, in: store)
      let next = try Self.complete(task, at: "2026-05-04T06:40:00Z", clock, in: store)
      #expect(try store.read { try $0.task(partNext.id)?.isOpen } == true)
      #expect(try store.read { try $0.subtasks(of: next.id).map(\.id) } == [partNext.id])
      #expect(try store.read { try $0.view(.completed(nil)).tasks.count } == 2)
      // Reopening takes both back.
      try store.writeAndWait { try $0.reopen(task.id) }
      #expect(try store.read { try $0.task(partNext.id)?.parentID } == task.id)
      #expect(try store.read { try $0.task(next.id) } == nil)
    }
  }

  @Test func aSeriesThatCannotBeReadIsAFaultAndItsTaskGoesOn() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      try store.writeAndWait { try $0.write(Array(#"{"task":{}}"#.utf8), forKey: TaskSeries.key(of: task.id)) }
      #expect(try store.verify().faults.map(\.kind) == [.unreadableRecord])
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      #expect(next.dueDate == (try Self.instant("2026-05-05T09:00:00+02:00")))
      try store.writeAndWait { try $0.endSeries(task.id) }
    }
  }

  /// A caller may catch the error and commit.
  @Test func whatIsRefusedLeavesNoDayOut() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      try store.writeAndWait { transaction in
        expect(.inconsistentTask) { try transaction.skip(task.id) }
        try transaction.update(next.id) { $0.notes = "another change" }
      }
      #expect(try store.read { try $0.storedSeries(task.id)?.skippedDays } == [])
      // A day that was done is not left out when its task is deleted, and the series goes on.
      try store.writeAndWait { try $0.deleteOccurrence(task.id) }
      let series = try #require(try store.read { try $0.storedSeries(task.id) })
      #expect(series.skippedDays == [] && series.template.title == "Pills")
    }
  }

  /// Only the open task speaks for those that follow.
  @Test func aClosedTaskThatLosesItsRuleDoesNotEndTheSeries() throws {
    try Self.withPills(at: "2026-05-04T09:00:00+02:00", now: "2026-05-04T06:00:00Z") { store, task, clock in
      let next = try Self.complete(task, at: "2026-05-04T07:30:00Z", clock, in: store)
      try store.writeAndWait { try $0.update(next.id) { $0.title = "just today" } }
      try store.writeAndWait { try $0.update(task.id) { $0.recurrence = nil } }
      let later = try Self.complete(next, at: "2026-05-05T07:30:00Z", clock, in: store)
      #expect(later.title == "Pills")
    }
  }

  @Test func aTaskThatDoesNotRepeatHasNothingToSkip() throws {
    try withStore { (store: TaskStore) throws in
      let task = try store.writeAndWait { try $0.add("once") }
      expect(.invalidRecurrence) { try store.writeAndWait { _ = try $0.skip(task.id) } }
      expect(.invalidRecurrence) { try store.writeAndWait { _ = try $0.deleteOccurrence(task.id) } }
      expect(.invalidRecurrence) { try store.writeAndWait { try $0.setTimeZone(.gmt, ofSeriesWith: task.id) } }
      #expect(try store.read { try $0.task(task.id) } == task)
    }
  }
}
