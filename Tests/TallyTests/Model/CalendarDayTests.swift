import Foundation
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

struct CalendarDayTests {
  @Test(
    arguments: [
      ("1970-01-01", 0, 4), ("1969-12-31", -1, 3), ("2026-11-21", 20_778, 6), ("2024-02-29", 19_782, 4),
      ("0001-01-01", -719_162, 1), ("9999-12-31", 2_932_896, 5),
    ] as [(String, Int32, Int)])
  func daysHaveTheirNumberAndWeekday(text: String, dayNumber: Int32, weekday: Int) throws {
    let day = try CalendarDay(iso8601: text)
    #expect(day.dayNumber == dayNumber)
    #expect(day.weekday == weekday)
    #expect(day.iso8601 == text)
    #expect(try CalendarDay(year: day.year, month: day.month, day: day.day) == day)
  }

  @Test(arguments: [
    "", "2026-11", "2026-11-2", "2026-1-21", "20261121", "2026-11-211", "2026-11-21T", "2026/11/21", "2026-02-30",
    "2026-04-31", "2026-00-10", "2026-13-10", "2026-10-00", "2026-10-32", "-001-01-01", " 2026-11-21", "2026-11-21\n",
  ])
  func everythingElseIsRefused(text: String) {
    let error = #expect(throws: TallyError.self) { try CalendarDay(iso8601: text) }
    #expect(error?.code == .invalidDay)
  }

  @Test func daysOutsideTheRangeAreRefused() throws {
    let attempts: [() throws -> CalendarDay] = [
      { try CalendarDay(iso8601: "0000-12-31") }, { try CalendarDay(dayNumber: .max) },
      { try CalendarDay(year: 10_000, month: 1, day: 1) }, { try CalendarDay(year: .min, month: 1, day: 1) },
      { try CalendarDay.latest.adding(days: 1) }, { try CalendarDay.earliest.adding(days: -1) },
      { try CalendarDay.latest.adding(days: .max) },
    ]
    for attempt in attempts {
      let error = #expect(throws: TallyError.self) { try attempt() }
      #expect(error?.code == .valueOutOfRange)
    }
  }

  @Test func extremeComponentsAreRefusedAndDoNotTrap() {
    for (month, day) in [(Int.max, 1), (Int.min, 1), (1, Int.max), (2, Int.min)] {
      let error = #expect(throws: TallyError.self) { try CalendarDay(year: 2026, month: month, day: day) }
      #expect(error?.code == .invalidDay)
    }
  }

  @Test func orderIsThatOfTheText() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "orderIsThatOfTheText"))
    for _ in 0..<5_000 {
      let first = try CalendarDay(dayNumber: .random(in: CivilDate.dayNumbers, using: &generator))
      let second = try CalendarDay(dayNumber: .random(in: CivilDate.dayNumbers, using: &generator))
      #expect((first < second) == (first.iso8601 < second.iso8601))
      #expect(try first.adding(days: Int(second.dayNumber - first.dayNumber)) == second)
    }
  }
}

/// Local days compared with Foundation's calendar, which computes the same zones in another way.
struct CalendarDayTimeZoneTests {
  /// Zones with the days around which their clocks changed oddly.
  static let changes: [(zone: String, day: String)] = [
    ("Europe/Istanbul", "2016-03-27"),  // forward at 03:00
    ("Europe/Istanbul", "2015-11-08"),  // back at 04:00
    ("Europe/Istanbul", "1978-06-29"),  // the standard offset changed at midnight
    ("America/Sao_Paulo", "2018-11-04"),  // forward at midnight: the day begins at 01:00
    ("America/Sao_Paulo", "2019-02-17"),  // back at midnight: the day before is 25 hours long
    ("Pacific/Apia", "2011-12-30"),  // skipped
    ("Pacific/Apia", "1892-07-05"),  // 4 July came twice
    ("Australia/Lord_Howe", "2026-04-05"),  // back by half an hour
    ("Australia/Lord_Howe", "2026-10-04"),  // forward by half an hour
    ("Africa/Monrovia", "1972-01-07"),  // forward by 44 minutes and 30 seconds at midnight
    ("America/St_Johns", "2006-04-02"),  // forward at 00:01
    ("Asia/Manila", "1844-12-31"),  // skipped, from 15:56:08 behind to 8:03:52 ahead
    ("UTC", "2026-11-21"),
  ]

  @Test(arguments: changes)
  func daysAroundAChangeBeginWhereTheirFirstInstantIs(zone: String, day: String) throws {
    let timeZone = try #require(TimeZone(identifier: zone))
    let center = try CalendarDay(iso8601: day)
    for distance in -3...3 {
      let day = try center.adding(days: distance)
      let start = day.start(in: timeZone)
      #expect(CalendarDay(containing: start, in: timeZone) >= day, "\(day)")
      #expect(CalendarDay(containing: start.adding(microseconds: -1), in: timeZone) < day, "\(day)")
    }
  }

  @Test(arguments: changes.filter { $0.zone != "Asia/Manila" && $0.day > "1900" })
  func startsAgreeWithFoundation(zone: String, day: String) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    let center = try CalendarDay(iso8601: day)
    for distance in -3...3 {
      let day = try center.adding(days: distance)
      let noon = DateComponents(year: day.year, month: day.month, day: day.day, hour: 12)
      let date = try #require(calendar.date(from: noon))
      // A skipped day has no noon of its own to ask Foundation with.
      guard calendar.component(.day, from: date) == day.day else { continue }
      #expect(try day.start(in: calendar) == Timestamp(calendar.startOfDay(for: date)), "\(day)")
    }
  }

  @Test(arguments: changes.filter { $0.day > "1900" })
  func containingAgreesWithFoundation(zone: String, day: String) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    let start = try CalendarDay(iso8601: day).adding(days: -2).start(in: calendar)
    for quarter in 0..<400 {
      let instant = start.adding(seconds: Int64(quarter) * 900 + 7)
      let parts = calendar.dateComponents([.year, .month, .day], from: instant.date)
      let expected = try CalendarDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
      #expect(CalendarDay(containing: instant, in: calendar) == expected, "\(instant)")
    }
  }

  @Test func wellKnownStartsAreExact() throws {
    let expected = [
      ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"),
      ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z"),
      ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"),
      ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"),
      ("Europe/Istanbul", "2026-11-21", "2026-11-20T21:00:00Z"),
      ("Australia/Lord_Howe", "2026-04-06", "2026-04-05T13:30:00Z"),
    ]
    for (zone, day, start) in expected {
      let timeZone = try #require(TimeZone(identifier: zone))
      #expect(try CalendarDay(iso8601: day).start(in: timeZone).iso8601 == start)
    }
  }

  @Test func theLastMicrosecondOfADayBelongsToIt() throws {
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    let midnight = try Timestamp(iso8601: "2026-11-21T05:00:00Z")
    #expect(CalendarDay(containing: midnight.adding(microseconds: -1), in: zone).iso8601 == "2026-11-20")
    #expect(CalendarDay(containing: midnight, in: zone).iso8601 == "2026-11-21")
  }

  @Test func theEndsOfTheRangeStayInside() throws {
    for hours in [-12, 14] {
      let zone = try #require(TimeZone(secondsFromGMT: hours * 3_600))
      #expect(CalendarDay(containing: .earliest, in: zone) == .earliest)
      #expect(CalendarDay(containing: .latest, in: zone) == .latest)
      #expect(CalendarDay.earliest.start(in: zone) <= CalendarDay.earliest.start(in: .gmt).adding(seconds: 12 * 3_600))
    }
  }

  @Test func aDateLiesInADayOfItsTimeZone() throws {
    let date = Date(timeIntervalSince1970: 1_795_262_400)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    #expect(CalendarDay(date, in: calendar).iso8601 == "2026-11-21")
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 13 * 3_600))
    #expect(CalendarDay(date, in: calendar).iso8601 == "2026-11-22")
    #expect(CalendarDay(Date(timeIntervalSince1970: 1e15), in: calendar) == .latest)
  }
}
