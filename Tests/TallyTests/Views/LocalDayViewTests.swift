import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Days that do not begin at midnight, or not at all.
@Suite struct LocalDayViewTests {
  /// Clocks went from 23:59:59 on the 3rd to 01:00 on the 4th.
  @Test func aDayWithoutMidnightBeginsWhenTheClocksChange() throws {
    let clock = TestClock(try Timestamp(iso8601: "2018-11-04T02:59:59.999999Z"))
    try withStore(.testing(clock: clock, timeZone: "America/Sao_Paulo")) { store in
      let day = try CalendarDay(iso8601: "2018-11-04")
      try store.writeAndWait { transaction in
        _ = try transaction.add("the 3rd", to: .today)
        for instant in ["2018-11-04T02:59:59Z", "2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z", "2018-11-05T02:00:00Z"]
        {
          _ = try transaction.add(TaskDraft(title: instant, dueDate: try Timestamp(iso8601: instant)))
        }
      }
      #expect(try titles(of: .due(on: day), in: store) == ["2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z"])
      #expect(try Set(titles(of: .today, in: store)) == ["the 3rd", "2018-11-04T02:59:59Z"])
      clock.now = clock.now.adding(microseconds: 1)
      #expect(try store.read { $0.today } == day)
      #expect(try titles(of: .today, in: store) == ["2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z"])
      #expect(try titles(of: .past, in: store) == ["the 3rd"])
    }
  }

  /// Apia crossed the date line: after 2011-12-29 came the 31st.
  @Test func aDayThatWasLeftOutIsNeverToday() throws {
    let clock = TestClock(try Timestamp(iso8601: "2011-12-30T09:59:59Z"))
    try withStore(.testing(clock: clock, timeZone: "Pacific/Apia")) { store in
      let skipped = try CalendarDay(iso8601: "2011-12-30")
      try store.writeAndWait { transaction in
        #expect(transaction.today.iso8601 == "2011-12-29")
        _ = try transaction.add(TaskDraft(title: "skipped", scheduledDate: skipped))
        _ = try transaction.add(TaskDraft(title: "due at the end", dueDate: transaction.now))
        _ = try transaction.add(TaskDraft(title: "due at the change", dueDate: transaction.now.adding(seconds: 1)))
      }
      #expect(try titles(of: .upcoming, in: store) == ["skipped"])
      #expect(try titles(of: .due(on: skipped), in: store).isEmpty)
      #expect(try titles(of: .due(on: try skipped.adding(days: -1)), in: store) == ["due at the end"])
      #expect(try titles(of: .due(on: try skipped.adding(days: 1)), in: store) == ["due at the change"])
      clock.now = clock.now.adding(seconds: 1)
      #expect(try store.read { $0.today }.iso8601 == "2011-12-31")
      #expect(try titles(of: .past, in: store) == ["skipped"])
    }
  }

  /// Regression: where clocks went from 00:01 back to 23:01, an hour of the 6th was counted in the 7th.
  @Test func anHourThatComesTwiceBelongsToTheDayOnTheClock() throws {
    let clock = TestClock(try Timestamp(iso8601: "2010-11-01T12:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "America/St_Johns")) { store in
      let instants = [
        "2010-11-07T02:29:59Z", "2010-11-07T02:30:00Z", "2010-11-07T02:30:59Z", "2010-11-07T02:31:00Z",
        "2010-11-07T03:29:59Z", "2010-11-07T03:30:00Z", "2010-11-08T03:29:59Z", "2010-11-08T03:30:00Z",
      ]
      try store.writeAndWait { transaction in
        for instant in instants {
          _ = try transaction.add(TaskDraft(title: instant, dueDate: try Timestamp(iso8601: instant)))
        }
      }
      for day in 5...9 {
        let day = try CalendarDay(year: 2010, month: 11, day: day)
        let expected = try instants.filter { instant in
          CalendarDay(containing: try Timestamp(iso8601: instant), in: store.configuration.calendar) == day
        }
        #expect(try titles(of: .due(on: day), in: store) == expected, "\(day)")
      }
    }
  }

  @Test func theFirstAndTheLastDayHaveViews() throws {
    for (instant, isFirst) in [(Timestamp.earliest, true), (.latest, false)] {
      try withStore(.testing(clock: TestClock(instant), timeZone: "GMT")) { store in
        try store.writeAndWait { _ = try $0.add(TaskDraft(title: "edge", scheduledDate: $0.today, dueDate: $0.now)) }
        let today = try store.read { $0.today }
        #expect(today == (isFirst ? .earliest : .latest))
        #expect(try titles(of: .today, in: store) == ["edge"])
        #expect(try titles(of: .due(on: today), in: store) == ["edge"])
        #expect(try titles(of: .past, in: store).isEmpty)
        #expect(try titles(of: .upcoming, in: store).isEmpty)
        let tomorrow = code { try store.writeAndWait { _ = try $0.add("tomorrow", to: .upcoming) } }
        #expect(tomorrow == (isFirst ? nil : .valueOutOfRange))
      }
    }
  }
}
