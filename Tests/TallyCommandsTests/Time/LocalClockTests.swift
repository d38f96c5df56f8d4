import Foundation
import Tally
import Testing

@testable import TallyCommands

/// Saturday, 21 November 2026, 15:00 in Istanbul.
private func localClock(_ zone: String = "Europe/Istanbul", now: String = "2026-11-21T12:00:00Z") throws -> LocalClock {
  LocalClock(now: try Timestamp(iso8601: now), in: try #require(NamedTimeZone(iana: zone)))
}

struct DayReadingTests {
  @Test(arguments: [
    ("today", "2026-11-21"), ("Tomorrow", "2026-11-22"), ("yesterday", "2026-11-20"), ("sunday", "2026-11-22"),
    ("friday", "2026-11-27"), ("FRI", "2026-11-27"), ("2028-02-29", "2028-02-29"),
  ])
  func wordsAndDatesNameDays(text: String, day: String) throws {
    #expect(try localClock().day(text).iso8601 == day)
  }

  @Test func weekdayOfTodayIsAWeekAheadWhenPlanning() throws {
    #expect(try localClock().day("saturday").iso8601 == "2026-11-28")
  }

  @Test func weekdayLooksBackUpToTodayWhenLookingBack() throws {
    #expect(try localClock().day("saturday", weekdays: .latest).iso8601 == "2026-11-21")
    #expect(try localClock().day("sunday", weekdays: .latest).iso8601 == "2026-11-15")
  }

  @Test func todayIsTheLocalDay() throws {
    #expect(try localClock("Pacific/Auckland").today.iso8601 == "2026-11-22")
    #expect(try localClock("America/New_York", now: "2026-11-21T03:00:00Z").today.iso8601 == "2026-11-20")
  }

  @Test(arguments: ["", "soon", "2026-13-01", "2026-02-30", "21.11.2026", "2026-11-21x", "٢٠٢٦-١١-٢١"])
  func anythingElseIsRefusedAsUsage(text: String) throws {
    let local = try localClock()
    #expect { try local.day(text) } throws: { CommandFailure($0).status == .usage }
  }

  @Test func slipOfTheFingerIsGuessed() throws {
    let local = try localClock()
    #expect { try local.day("tomorow") } throws: { CommandFailure($0).remedy.contains("'tomorrow'") }
  }
}

struct InstantReadingTests {
  @Test(arguments: [
    ("tomorrow 09:30", "2026-11-22T06:30:00Z"), ("2026-12-01 0:05", "2026-11-30T21:05:00Z"),
    ("fri 14:00", "2026-11-20T11:00:00Z"), ("2026-11-25T10:00:00+01:00", "2026-11-25T09:00:00Z"),
    ("2026-11-25T10:00Z", "2026-11-25T10:00:00Z"),
  ])
  func daysWithTimesAndInstantsAreRead(text: String, instant: String) throws {
    #expect(try localClock().instant(text, bareDay: .mustBeGiven).iso8601 == instant)
  }

  @Test func bareDayIsDueUntilItsEnd() throws {
    let due = try localClock().instant("today", bareDay: .endOfDay)
    #expect(due.iso8601 == "2026-11-21T20:59:59.999999Z")
    #expect(CalendarDay(containing: due, in: try localClock().timeZone) == (try localClock().today))
  }

  @Test func bareDayEndsWhereAClockChangeBeginsTheNext() throws {
    // Beirut, 29 March 2026: midnight becomes 01:00, so that the 28th ends at 22:00 UTC.
    let due = try localClock("Asia/Beirut").instant("2026-03-28", bareDay: .endOfDay)
    #expect(due.iso8601 == "2026-03-28T21:59:59.999999Z")
  }

  @Test func bareDayRemindsAtNine() throws {
    #expect(try localClock().instant("tomorrow", bareDay: .morning).iso8601 == "2026-11-22T06:00:00Z")
  }

  @Test func bareDayIsRefusedWhereATimeIsNeeded() throws {
    let local = try localClock()
    #expect { try local.instant("today", bareDay: .mustBeGiven) } throws: { CommandFailure($0).status == .usage }
  }

  @Test func timeLeftOutByAClockChangeMovesForward() throws {
    // Berlin, 29 March 2026: 02:00 becomes 03:00.
    let local = try localClock("Europe/Berlin")
    #expect(try local.instant("2026-03-29 02:30", bareDay: .mustBeGiven).iso8601 == "2026-03-29T01:30:00Z")
    #expect(try local.instant("2026-03-29 01:59", bareDay: .mustBeGiven).iso8601 == "2026-03-29T00:59:00Z")
    #expect(try local.instant("2026-03-29 03:00", bareDay: .mustBeGiven).iso8601 == "2026-03-29T01:00:00Z")
  }

  @Test func timeThatComesTwiceIsTheFirst() throws {
    // Berlin, 25 October 2026: 03:00 becomes 02:00.
    let local = try localClock("Europe/Berlin")
    #expect(try local.instant("2026-10-25 02:30", bareDay: .mustBeGiven).iso8601 == "2026-10-25T00:30:00Z")
    #expect(try local.instant("2026-10-25 03:00", bareDay: .mustBeGiven).iso8601 == "2026-10-25T02:00:00Z")
  }

  @Test(arguments: ["", "14:00", "friday 25:00", "friday 9:5", "friday at 9", "2026-11-25T10:00", "2026-02-30 10:00"])
  func anythingElseIsRefusedAsUsage(text: String) throws {
    let local = try localClock()
    #expect { try local.instant(text, bareDay: .endOfDay) } throws: { CommandFailure($0).status == .usage }
  }

  @Test func wallTimeIsWhatWasAskedForOnEveryQuarterOfAYearWithClockChanges() throws {
    let local = try localClock("Australia/Lord_Howe")
    for dayNumber in 0..<365 {
      let day = try CalendarDay(year: 2026, month: 1, day: 1).adding(days: dayNumber)
      for quarter in 0..<96 {
        let (hour, minute) = (quarter / 4, quarter % 4 * 15)
        let shown = local.wallTime(at: local.instant(of: day, hour: hour, minute: minute))
        // Half an hour is left out on 4 October.
        if day.iso8601 == "2026-10-04", hour == 2, minute < 30 { continue }
        #expect(shown == WallTime(day: day, hour: hour, minute: minute, second: 0))
      }
    }
  }
}

struct DayNamingTests {
  @Test(arguments: [
    (0, "Today · Sat 21 Nov"), (1, "Tomorrow · Sun 22 Nov"), (-1, "Yesterday · Fri 20 Nov"), (4, "Wed 25 Nov"),
    (41, "Fri 1 Jan 2027"),
  ])
  func nearDaysHaveNamesAndOtherYearsAreSaid(ahead: Int, heading: String) throws {
    #expect(try localClock().heading(of: localClock().today.adding(days: ahead)) == heading)
  }

  @Test func lastSecondOfADayIsTheDay() throws {
    #expect(try localClock().relativeName(of: Timestamp(iso8601: "2026-11-22T20:59:59Z")) == "tomorrow")
    #expect(try localClock().relativeName(of: Timestamp(iso8601: "2026-11-22T20:59:00Z")) == "tomorrow 23:59")
  }
}
