import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Rules with parts that the first version of the program cannot read; now is noon of Saturday, 2026-11-21, in Istanbul.
struct NewRuleTests {
  /// The first series keeps older programs from opening the store, whatever its rule.
  @Test(
    arguments: [
      ("FREQ=MONTHLY;BYMONTHDAY=1,-1", true), ("after 3 days", true), ("FREQ=DAILY;EXDATE=20261224", false),
      ("FREQ=DAILY;BYMONTH=6", false), ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1", false), ("FREQ=YEARLY;BYYEARDAY=1", false),
      ("FREQ=YEARLY;BYWEEKNO=1", false),
    ] as [(String, Bool)])
  func aStoreNeedsThisVersionFromTheFirstSeries(text: String, isOfFirstVersion: Bool) throws {
    try withStore { store in
      func needsThisVersion() throws -> Bool {
        try store.read { try $0.header().requiredFeatures.contains(.taskLife) }
      }
      let recurrence = try Recurrence(text: text)
      #expect(recurrence.isOfFirstVersion == isOfFirstVersion)
      let id = try store.writeAndWait { try $0.add("rent").id }
      #expect(try !needsThisVersion())
      try store.writeAndWait { _ = try $0.update(id) { $0.recurrence = recurrence } }
      #expect(try needsThisVersion())
      #expect(try store.read { try $0.task(id)?.recurrence } == recurrence)
      try checkInvariants(of: store)
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.task(id)?.recurrence } == nil)
    }
  }

  @Test(
    arguments: [
      ("every month on the 30th", "2026-11-30 2026-12-30 2027-01-30 2027-02-28 2027-03-30"),
      ("every month starting 31 january", "2027-01-31 2027-02-28 2027-03-31 2027-04-30"),
      ("every 6 months starting 31 march", "2027-03-31 2027-09-30 2028-03-31"),
      ("every year starting 2028-02-29", "2028-02-29 2029-02-28 2030-02-28"),
      ("every day except 23 november", "2026-11-21 2026-11-22 2026-11-24"),
      ("every other monday", "2026-11-23 2026-12-07"), ("every 2 months on the 1st", "2026-12-01 2027-02-01"),
      ("every 31 december", "2026-12-31 2027-12-31"), ("every last weekday", "2026-11-30 2026-12-31 2027-01-29"),
      ("every 1 march and 15 september", "2027-03-01 2027-09-15 2028-03-01"),
      ("3 days after completion", "2026-11-21 2026-11-24"), ("every monday starting 2 march", "2027-03-08 2027-03-15"),
    ])
  func aTaskRepeatsOnTheDaysOfItsWords(phrase: String, days: String) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let written = try WrittenRecurrence(phrase, reference: reference)
        var task = try transaction.add("rent") { written.apply(to: &$0, isNew: true, reference: reference) }
        for day in days.split(separator: " ") {
          #expect(task.scheduledDate?.iso8601 == String(day), "\(task.recurrence?.text ?? "")")
          let isEarly = task.scheduledDate.map { $0 > transaction.today } ?? false
          // A task that counts from its completion is completed today.
          guard !isEarly || task.recurrence?.text.hasPrefix("after") == false else { continue }
          try transaction.complete(task.id)
          let done = try #require(try transaction.task(task.id))
          task = try #require(try transaction.successor(of: done))
        }
      }
    }
  }

  /// A rule without a day is refused for a new task and for one that exists; the start decides which rules have none.
  @Test(
    arguments: [
      ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", nil, true), ("FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31", nil, true),
      ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", nil, true), ("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=-3", "2026-12-07", true),
      ("FREQ=YEARLY;BYYEARDAY=1;BYMONTH=2", nil, true), ("FREQ=DAILY;UNTIL=20261201", "2026-12-02", true),
      ("FREQ=DAILY;UNTIL=20261121;EXDATE=20261121", nil, true),
      ("FREQ=DAILY;COUNT=1;EXDATE=20261202", "2026-12-02", true),
      ("FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30", "2027-02-01", true),
      ("FREQ=WEEKLY;BYDAY=FR;UNTIL=20261203", "2026-12-01", true),
      ("FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30", nil, false), ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", nil, false),
      ("FREQ=DAILY;UNTIL=20261202", "2026-12-02", false), ("FREQ=DAILY;COUNT=1", "2026-12-02", false),
    ] as [(String, String?, Bool)])
  func aRuleThatNeverGivesADayIsRefused(text: String, planned: String?, isRefused: Bool) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let recurrence = try Recurrence(text: text)
        let day = try planned.map { try CalendarDay(iso8601: $0) }
        let id = try transaction.add("rent") { $0.scheduledDate = day }.id
        func check(_ write: () throws -> TaskItem) throws {
          guard isRefused else { return #expect(try write().recurrence == recurrence) }
          let error = #expect(throws: TallyError.self) { try write() }
          #expect(error?.code == .invalidRecurrence && error?.message.contains("gives a day") == true)
        }
        try check { try transaction.update(id) { $0.recurrence = recurrence } }
        try check { try transaction.updateSeries(of: id) { $0.recurrence = recurrence } }
        try check { try transaction.add("rent") { ($0.scheduledDate, $0.recurrence) = (day, recurrence) } }
        let due = day.map { $0.instant(atMinute: 60, in: transaction.calendar.timeZone) }
        try check { try transaction.add("rent") { ($0.dueDate, $0.recurrence) = (due, recurrence) } }
        // A closed task may have had its days.
        _ = try transaction.add("rent") { ($0.scheduledDate, $0.recurrence, $0.state) = (day, recurrence, .completed) }
      }
    }
  }

  @Test func wordsThatEndBeforeTheyBeginAreRefused() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let written = try WrittenRecurrence("from 10 april to 1 april every day", reference: reference)
        #expect(throws: TallyError.self) {
          try transaction.add("rent") { written.apply(to: &$0, isNew: true, reference: reference) }
        }
      }
    }
  }

  /// A new task that is planned for a day begins with the first day of the rule from that day on; one that exists stays.
  @Test func thePlannedDayIsTheEarliestDay() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let reference = transaction.dateReference
        let written = try WrittenRecurrence("every monday", reference: reference)
        let tuesday = try CalendarDay(iso8601: "2026-12-01")
        for isNew in [false, true] {
          let task = try transaction.add("rent") { task in
            task.scheduledDate = tuesday
            written.apply(to: &task, isNew: isNew, reference: reference)
          }
          #expect(task.scheduledDate?.iso8601 == (isNew ? "2026-12-07" : "2026-12-01"))
          #expect(task.series?.start == task.scheduledDate)
        }
      }
    }
  }
}
