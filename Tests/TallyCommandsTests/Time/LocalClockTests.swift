import Foundation
import Tally
import Testing

@testable import TallyCommands

/// Saturday, 21 November 2026, 15:00 in Istanbul.
private func localClock(_ zone: String = "Europe/Istanbul", now: String = "2026-11-21T12:00:00Z") throws -> LocalClock {
  LocalClock(now: try Timestamp(iso8601: now), in: try #require(NamedTimeZone(iana: zone)))
}

struct DayReadingTests {
  private func day(_ text: String, looking direction: DateReference.Direction = .forward) throws -> String {
    try localClock().day(text, of: "--on", looking: direction).iso8601
  }

  @Test(
    arguments: [
      ("today", "2026-11-21"), ("Tomorrow", "2026-11-22"), ("yesterday", "2026-11-20"), ("sunday", "2026-11-22"),
      ("friday", "2026-11-27"), ("FRI", "2026-11-27"), ("2028-02-29", "2028-02-29"), ("+3d", "2026-11-24"),
      ("in 2 weeks", "2026-12-05"), ("25 nov", "2026-11-25"), ("eom", "2026-11-30"), ("next monday", "2026-11-23"),
    ] as [(String, String)])
  func wordsAndDatesNameDays(text: String, expected: String) throws {
    #expect(try day(text) == expected)
  }

  @Test func weekdayOfTodayIsAWeekAheadWhenPlanning() throws {
    #expect(try day("saturday") == "2026-11-28")
  }

  @Test func weekdayLooksBackUpToTodayWhenLookingBack() throws {
    #expect(try day("saturday", looking: .backward) == "2026-11-21")
    #expect(try day("sunday", looking: .backward) == "2026-11-15")
  }

  @Test func todayIsTheLocalDay() throws {
    #expect(try localClock("Pacific/Auckland").today.iso8601 == "2026-11-22")
    #expect(try localClock("America/New_York", now: "2026-11-21T03:00:00Z").today.iso8601 == "2026-11-20")
  }

  @Test func weeksBeginWhereTheClockSays() throws {
    let zone = try #require(NamedTimeZone(iana: "UTC"))
    let now = try Timestamp(iso8601: "2026-11-21T12:00:00Z")
    #expect(try LocalClock(now: now, in: zone, firstWeekday: { 1 }).day("eow", of: "--on").iso8601 == "2026-11-21")
    #expect(try LocalClock(now: now, in: zone, firstWeekday: { 2 }).day("eow", of: "--on").iso8601 == "2026-11-22")
  }

  /// The locale takes milliseconds to load.
  @Test func onlyWeeksAskWhereTheyBegin() throws {
    struct Asked: Error {}
    let zone = try #require(NamedTimeZone(iana: "UTC"))
    let clock = LocalClock(
      now: try Timestamp(iso8601: "2026-11-21T12:00:00Z"), in: zone, firstWeekday: { throw Asked() })
    for text in ["tomorrow", "friday", "25 nov", "+3d", "eom"] { _ = try clock.day(text, of: "--on") }
    for text in ["eow", "next friday", "next week"] {
      #expect(throws: (any Error).self) { try clock.day(text, of: "--on") }
    }
  }

  @Test(arguments: ["", "soon", "2026-13-01", "2026-02-30", "2026-11-21x", "٢٠٢٦-١١-٢١", "17:00", "2h"])
  func anythingElseIsRefusedAsUsage(text: String) throws {
    #expect { try day(text) } throws: {
      CommandFailure($0).status == .usage && CommandFailure($0).code == "invalidDay"
    }
  }

  @Test func slipOfTheFingerIsGuessedAndQuoted() throws {
    #expect { try day("tomorow") } throws: {
      CommandFailure($0).remedy.contains("'tomorrow'") && CommandFailure($0).message == "--on: “tomorow” is not a day"
    }
  }
}

struct InstantReadingTests {
  private func instant(
    _ text: String, _ bareDay: TimeOfBareDay = .required, looking direction: DateReference.Direction = .forward
  ) throws -> String {
    try localClock().instant(text, of: "--at", bareDay: bareDay, looking: direction).iso8601
  }

  @Test(
    arguments: [
      ("tomorrow 09:30", "2026-11-22T06:30:00Z"), ("2026-12-01 0:05", "2026-11-30T21:05:00Z"),
      ("2026-11-25T10:00:00+01:00", "2026-11-25T09:00:00Z"), ("2026-11-25T10:00Z", "2026-11-25T10:00:00Z"),
      ("friday at 9", "2026-11-27T06:00:00Z"), ("17:00", "2026-11-21T14:00:00Z"), ("2h", "2026-11-21T14:00:00Z"),
      ("1d12h", "2026-11-23T00:00:00Z"), ("10m", "2026-11-21T12:10:00Z"), ("tonight", "2026-11-21T17:00:00Z"),
    ] as [(String, String)])
  func daysWithTimesAndInstantsAreRead(text: String, expected: String) throws {
    #expect(try instant(text) == expected)
  }

  @Test func timeOfWorkDoneIsTheLatest() throws {
    #expect(try instant("fri 14:00", looking: .backward) == "2026-11-20T11:00:00Z")
    #expect(try instant("17:00", looking: .backward) == "2026-11-20T14:00:00Z")
  }

  @Test func bareDayOfADueDateStaysADay() throws {
    #expect(try localClock().date("today", of: "--due") == .day(try CalendarDay(iso8601: "2026-11-21")))
    #expect(
      try localClock().date("today 9:00", of: "--due") == .instant(try Timestamp(iso8601: "2026-11-21T06:00:00Z")))
  }

  @Test func bareDayRemindsAtNine() throws {
    #expect(try instant("tomorrow", .morning) == "2026-11-22T06:00:00Z")
  }

  @Test func bareDayIsRefusedWhereATimeIsNeeded() throws {
    #expect { try instant("today") } throws: { CommandFailure($0).code == "invalidInstant" }
  }

  @Test func timeLeftOutByAClockChangeMovesForward() throws {
    // Berlin, 29 March 2026: 02:00 becomes 03:00.
    let local = try localClock("Europe/Berlin")
    #expect(
      try local.instant("2026-03-29 02:30", of: "--at", bareDay: .required).iso8601 == "2026-03-29T01:30:00Z")
  }

  @Test(arguments: ["", "friday 25:00", "friday 9:5", "2026-11-25T10:00", "2026-02-30 10:00", "sometime"])
  func anythingElseIsRefusedAsUsage(text: String) throws {
    #expect { try instant(text, .morning) } throws: { CommandFailure($0).status == .usage }
  }

  @Test func wallTimeIsWhatWasAskedForOnEveryQuarterOfAYearWithClockChanges() throws {
    let local = try localClock("Australia/Lord_Howe")
    for dayNumber in 0..<365 {
      let day = try CalendarDay(year: 2026, month: 1, day: 1).adding(days: dayNumber)
      for quarter in 0..<96 {
        let (hour, minute) = (quarter / 4, quarter % 4 * 15)
        let shown = local.wallTime(at: day.instant(atMinute: 60 * hour + minute, in: local.timeZone))
        // Half an hour is left out on 4 October.
        if day.iso8601 == "2026-10-04", hour == 2, minute < 30 { continue }
        #expect((shown.day, shown.hour, shown.minute, shown.second) == (day, hour, minute, 0))
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

struct NightTests {
  /// Days begin at 04:00; a time to come is named as people type it.
  @Test(arguments: [
    ("02:00", "2026-11-22T02:00:00Z", "today 02:00"), ("02:00", "2026-11-21T03:00:00Z", "yesterday 03:00"),
    ("02:00", "2026-11-22T03:30:00Z", "today 03:30"), ("02:00", "2026-11-22T09:00:00Z", "tomorrow 09:00"),
    ("02:00", "2026-11-20T03:00:00Z", "Fri 20 Nov 03:00"), ("12:00", "2026-11-23T02:00:00Z", "tomorrow 02:00"),
    ("12:00", "2026-11-22T02:00:00Z", "yesterday 02:00"), ("12:00", "2026-11-22T23:59:59Z", "today"),
  ])
  func aNightIsNamedByTheDayBefore(now: String, instant: String, name: String) throws {
    let clock = LocalClock(
      now: try Timestamp(iso8601: "2026-11-22T\(now):00Z"), in: .utc, beginningDaysAtMinute: 240)
    #expect(try clock.relativeName(of: Timestamp(iso8601: instant)) == name)
  }
}
