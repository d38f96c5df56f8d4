import TestSupport
import Testing

@testable import Tally

struct RecurrenceOccurrencesTests {
  /// The examples of RFC 5545, section 3.8.5.3, that the subset covers, then others; the days are those of dateutil.
  ///
  /// A day without a year is in the year of the day before it. At least these days come first.
  static let examples: [(start: String, rule: String, days: String)] = [
    ("1997-09-02", "FREQ=DAILY;COUNT=10", "1997-09-02 09-03 09-04 09-05 09-06 09-07 09-08 09-09 09-10 09-11"),
    ("1997-09-02", "FREQ=DAILY;INTERVAL=2", "1997-09-02 09-04 09-06 09-08 09-10 09-12 09-14 09-16 09-18 09-20"),
    ("1997-09-02", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02 09-12 09-22 10-02 10-12"),
    ("1997-09-02", "FREQ=WEEKLY;COUNT=10", "1997-09-02 09-09 09-16 09-23 09-30 10-07 10-14 10-21 10-28 11-04"),
    (
      "1997-09-02", "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
      "1997-09-02 09-16 09-30 10-14 10-28 11-11 11-25 12-09 12-23 1998-01-06"
    ),
    (
      "1997-09-02", "FREQ=WEEKLY;UNTIL=19971006;WKST=SU;BYDAY=TU,TH",
      "1997-09-02 09-04 09-09 09-11 09-16 09-18 09-23 09-25 09-30 10-02"
    ),
    (
      "1997-09-01", "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971223;WKST=SU;BYDAY=MO,WE,FR",
      "1997-09-01 09-03 09-05 09-15 09-17 09-19 09-29 10-01 10-03 10-13"
    ),
    (
      "1997-09-02", "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
      "1997-09-02 09-04 09-16 09-18 09-30 10-02 10-14 10-16"
    ),
    (
      "1997-09-05", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
      "1997-09-05 10-03 11-07 12-05 1998-01-02 02-06 03-06 04-03 05-01 06-05"
    ),
    ("1997-09-05", "FREQ=MONTHLY;UNTIL=19971223;BYDAY=1FR", "1997-09-05 10-03 11-07 12-05"),
    (
      "1997-09-07", "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
      "1997-09-07 09-28 11-02 11-30 1998-01-04 01-25 03-01 03-29 05-03 05-31"
    ),
    ("1997-09-22", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09-22 10-20 11-17 12-22 1998-01-19 02-16"),
    (
      "1997-09-28", "FREQ=MONTHLY;BYMONTHDAY=-3",
      "1997-09-28 10-29 11-28 12-29 1998-01-29 02-26 03-29 04-28 05-29 06-28"
    ),
    (
      "1997-09-02", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
      "1997-09-02 09-15 10-02 10-15 11-02 11-15 12-02 12-15 1998-01-02 01-15"
    ),
    (
      "1997-09-30", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
      "1997-09-30 10-01 10-31 11-01 11-30 12-01 12-31 1998-01-01 01-31 02-01"
    ),
    (
      "1997-09-10", "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
      "1997-09-10 09-11 09-12 09-13 09-14 09-15 1999-03-10 03-11 03-12 03-13"
    ),
    (
      "1997-09-02", "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
      "1997-09-02 09-09 09-16 09-23 09-30 11-04 11-11 11-18 11-25 1998-01-06"
    ),
    (
      "1997-05-19", "FREQ=YEARLY;BYDAY=20MO",
      "1997-05-19 1998-05-18 1999-05-17 2000-05-15 2001-05-14 2002-05-20 2003-05-19 2004-05-17"
    ),
    (
      "1997-09-02", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
      "1998-02-13 03-13 11-13 1999-08-13 2000-10-13 2001-04-13 07-13 2002-09-13 12-13 2003-06-13"
    ),
    (
      "1997-09-13", "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
      "1997-09-13 10-11 11-08 12-13 1998-01-10 02-07 03-07 04-11 05-09 06-13"
    ),
    ("1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08-05 08-10 08-19 08-24"),
    ("1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08-05 08-17 08-19 08-31"),
    ("2007-01-15", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15 01-30 02-15 03-15 03-30"),
    ("2024-01-31", "FREQ=MONTHLY", "2024-01-31 03-31 05-31 07-31 08-31 10-31 12-31 2025-01-31 03-31 05-31"),
    (
      "2024-02-29", "FREQ=YEARLY",
      "2024-02-29 2028-02-29 2032-02-29 2036-02-29 2040-02-29 2044-02-29 2048-02-29 2052-02-29"
    ),
    (
      "2096-02-29", "FREQ=YEARLY",
      "2096-02-29 2104-02-29 2108-02-29 2112-02-29 2116-02-29 2120-02-29 2124-02-29 2128-02-29"
    ),
    (
      "2023-01-31", "FREQ=MONTHLY;INTERVAL=2",
      "2023-01-31 03-31 05-31 07-31 2024-01-31 03-31 05-31 07-31 2025-01-31 03-31"
    ),
    ("2026-11-18", "FREQ=WEEKLY;BYDAY=MO;COUNT=3", "2026-11-23 11-30 12-07"),
    (
      "2026-11-30", "FREQ=MONTHLY;BYDAY=5MO",
      "2026-11-30 2027-03-29 05-31 08-30 11-29 2028-01-31 05-29 07-31 10-30 2029-01-29"
    ),
    (
      "2026-01-01", "FREQ=YEARLY;BYDAY=-1FR",
      "2026-12-25 2027-12-31 2028-12-29 2029-12-28 2030-12-27 2031-12-26 2032-12-31 2033-12-30"
    ),
    (
      "2026-01-01", "FREQ=YEARLY;BYMONTHDAY=31",
      "2026-01-31 03-31 05-31 07-31 08-31 10-31 12-31 2027-01-31 03-31 05-31"
    ),
    // RFC 5545, section 3.8.5.3.
    (
      "1997-06-10", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
      "1997-06-10 07-10 1998-06-10 07-10 1999-06-10 07-10 2000-06-10 07-10 2001-06-10 07-10"
    ),
    (
      "1997-03-10", "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
      "1997-03-10 1999-01-10 02-10 03-10 2001-01-10 02-10 03-10 2003-01-10 02-10 03-10"
    ),
    (
      "1997-01-01", "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
      "1997-01-01 04-10 07-19 2000-01-01 04-09 07-18 2003-01-01 04-10 07-19 2006-01-01"
    ),
    ("1997-05-12", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12 1998-05-11 1999-05-17"),
    (
      "1997-03-13", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
      "1997-03-13 03-20 03-27 1998-03-05 03-12 03-19 03-26 1999-03-04 03-11 03-18 03-25"
    ),
    (
      "1996-11-05", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
      "1996-11-05 2000-11-07 2004-11-02"
    ),
    ("1997-09-04", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04 10-07 11-06"),
    (
      "1997-09-29", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
      "1997-09-29 10-30 11-27 12-30 1998-01-29 02-26 03-30"
    ),
    ("1998-01-01", "FREQ=DAILY;BYMONTH=1;UNTIL=19980103", "1998-01-01 01-02 01-03"),
    // The week belongs to the year that has most of it.
    ("2026-12-28", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=FR,SA", "2027-01-01 01-02 2032-12-31 2033-01-01"),
    ("2028-12-31", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2029-01-01 12-31 2030-12-30 2031-12-29"),
    // The last day where a month is too short.
    ("2026-01-30", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "2026-01-30 02-28 03-30 04-30 05-30"),
    ("2024-02-29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-29"),
    // Days that are left out count.
    ("2026-11-21", "FREQ=DAILY;COUNT=4;EXDATE=20261122,20261124", "2026-11-21 11-23"),
    ("2026-11-21", "FREQ=DAILY;EXDATE=20261121,20261123,20271111", "2026-11-22 11-24 11-25"),
    ("9999-12-30", "FREQ=DAILY", "9999-12-30 12-31"),
    ("9999-12-30", "FREQ=WEEKLY;BYDAY=TH,FR,SA", "9999-12-30 12-31"),
    ("9998-12-31", "FREQ=MONTHLY;INTERVAL=12", "9998-12-31 9999-12-31"),
    ("0001-01-01", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU", "0001-01-01 01-14 01-15 01-28"),
  ]

  @Test(arguments: examples)
  func examplesHaveTheirDays(start: String, rule: String, days: String) throws {
    let rule = try Self.rule(rule)
    let expected = try Self.days(days)
    let found = rule.occurrences(from: try CalendarDay(iso8601: start))
    #expect(Array(found.prefix(expected.count)) == expected)
    if case .count(let count) = rule.end { #expect(Array(found).count == count - rule.exceptions.count) }
    if case .until(let day) = rule.end { #expect(found.allSatisfy { $0 <= day }) }
  }

  @Test(
    arguments: [
      ("2023-02-01", "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30"), ("2026-11-17", "FREQ=DAILY;INTERVAL=7;BYDAY=MO"),
      ("2026-11-17", "FREQ=YEARLY;BYDAY=1MO;BYMONTHDAY=8"), ("2026-11-17", "FREQ=DAILY;UNTIL=20261116"),
      ("2023-02-28", "FREQ=YEARLY;INTERVAL=400;BYDAY=53MO;BYMONTHDAY=1;COUNT=3"),
    ] as [(String, String)])
  func aRuleThatNeverMatchesEnds(start: String, rule: String) throws {
    let start = try CalendarDay(iso8601: start)
    #expect(try Array(Self.rule(rule).occurrences(from: start)).isEmpty)
    #expect(try Self.rule(rule).next(after: start, from: start) == nil)
  }

  @Test func aRuleWithoutAnEndReachesTheLastYear() throws {
    let start = try CalendarDay(iso8601: "2000-02-29")
    let days = Array(try Self.rule("FREQ=YEARLY").occurrences(from: start))
    #expect(days.count == 1_940)
    #expect(days.last?.iso8601 == "9996-02-29")
  }

  @Test func randomRulesHaveTheDaysOfTheirDefinition() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomRulesHaveTheDaysOfTheirDefinition"))
    for _ in 0..<TestSize.pick(quick: 60, long: 300) {
      let rule = try generator.rule()
      let start = CalendarDay(clamping: .random(in: 10_000...25_000, using: &generator))
      let limit = CalendarDay(clamping: Int64(start.dayNumber) + .random(in: 1...1_500, using: &generator))
      let found = Array(rule.occurrences(from: start).prefix { $0 <= limit })
      #expect(found == RecurrenceDefinition(rule: rule, start: start).days(to: limit), "\(start) \(rule.text)")
    }
  }

  @Test func theNextDayIsThatOfTheSequence() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "theNextDayIsThatOfTheSequence"))
    for _ in 0..<TestSize.pick(quick: 60, long: 300) {
      let rule = try generator.rule()
      let start = CalendarDay(clamping: .random(in: 10_000...25_000, using: &generator))
      let day = CalendarDay(clamping: Int64(start.dayNumber) + .random(in: -50...3_000, using: &generator))
      let next = rule.next(after: day, from: start)
      let days = rule.occurrences(from: start).lazy.filter { $0 > day }
      #expect(next == days.first { _ in true }, "\(start) \(day) \(rule.text)")
      guard let next else { continue }
      let number = try #require(rule.number(of: next, from: start))
      #expect(Array(rule.occurrences(from: start).prefix(number)).last == next)
      #expect(rule.number(of: day, from: start) == nil || rule.number(of: day, from: start) == number - 1)
    }
  }

  @Test func nothingComesAfterTheLastDay() throws {
    #expect(try Self.rule("FREQ=DAILY").next(after: .latest, from: .earliest) == nil)
    #expect(try Self.rule("FREQ=DAILY").next(after: .earliest, from: .latest) == .latest)
  }

  static func rule(_ text: String) throws -> RecurrenceRule {
    guard case .rule(let rule) = try Recurrence(text: text) else { throw RecurrenceDefinition.NotARule() }
    return rule
  }

  private static func days(_ text: String) throws -> [CalendarDay] {
    var year = ""
    return try text.split(separator: " ").map { word in
      if word.utf8.count == 10 { year = String(word.prefix(5)) }
      return try CalendarDay(iso8601: year + word.suffix(5))
    }
  }
}

/// The days of a rule by asking of each day whether it is one: the definition of RFC 5545, without a shortcut.
struct RecurrenceDefinition {
  struct NotARule: Error {}

  let rule: RecurrenceRule
  let start: CalendarDay

  func days(to limit: CalendarDay) -> [CalendarDay] {
    // Whole periods, in which the positions count.
    let (first, last) = (Int64(start.dayNumber) - 400, Int64(limit.dayNumber) + 400)
    var days = (first...last).map { CalendarDay(clamping: $0) }.filter(matches)
    if rule.interval.unit == .hour {
      // Each hour after midnight of the start, so that a day may be there several times.
      let hours = stride(from: 0, to: 24 * (Int(last) - Int(start.dayNumber)), by: rule.interval.count)
      days = hours.map { CalendarDay(clamping: Int64(start.dayNumber) + Int64($0 / 24)) }.filter(matches)
    }
    if !rule.positions.isEmpty {
      let periods = Dictionary(grouping: days, by: distance)
      days = days.filter { day in
        guard let period = periods[distance(to: day)], let index = period.firstIndex(of: day) else { return false }
        return rule.positions.contains(index + 1) || rule.positions.contains(index - period.count)
      }
    }
    days = days.filter { start <= $0 && $0 <= limit }
    switch rule.end {
    case .never: break
    case .count(let count): days = Array(days.prefix(count))
    case .until(let last): days.removeAll { $0 > last }
    }
    return Set(days).filter { !rule.exceptions.contains($0) }.sorted()
  }

  private func matches(_ day: CalendarDay) -> Bool {
    if rule.weekdays.isEmpty, rule.monthDays.isEmpty, rule.yearDays.isEmpty {
      switch rule.interval.unit {
      case .hour, .day: break
      case .week: if day.weekday != start.weekday { return false }
      case .month: if day.day != start.day { return false }
      case .year where !rule.weekNumbers.isEmpty: if day.weekday != start.weekday { return false }
      case .year:
        if day.day != start.day || rule.months.isEmpty && day.month != start.month { return false }
      }
    }
    return distance(to: day).isMultiple(of: rule.interval.count) && hasWeekday(day) && hasMonthDay(day)
      && (rule.months.isEmpty || rule.months.contains(day.month)) && hasYearDay(day) && hasWeekNumber(day)
  }

  private func hasYearDay(_ day: CalendarDay) -> Bool {
    guard !rule.yearDays.isEmpty else { return true }
    let year = (0...366).map { CalendarDay(clamping: Int64(day.dayNumber) - $0) }.filter { $0.year == day.year }
    let rest = (1...366).map { CalendarDay(clamping: Int64(day.dayNumber) + $0) }.filter { $0.year == day.year }
    return rule.yearDays.contains(year.count) || rule.yearDays.contains(-rest.count - 1)
  }

  /// A week belongs to the year of its fourth day.
  private func hasWeekNumber(_ day: CalendarDay) -> Bool {
    guard !rule.weekNumbers.isEmpty else { return true }
    func fourthDay(_ weeks: Int) -> CalendarDay {
      let begin = (0...6).map { Int(day.dayNumber) - $0 }.first {
        CalendarDay(clamping: Int64($0)).weekday == rule.weekStart
      }
      return CalendarDay(clamping: Int64((begin ?? 0) + 3 + 7 * weeks))
    }
    let year = fourthDay(0).year
    let before = (1...53).filter { fourthDay(-$0).year == year }.count
    let after = (1...53).filter { fourthDay($0).year == year }.count
    // Counted from the end, the first days of the next year's first week are not in a week of this year.
    return rule.weekNumbers.contains(before + 1) || year <= day.year && rule.weekNumbers.contains(-after - 1)
  }

  private func distance(to day: CalendarDay) -> Int {
    func weekStart(of day: CalendarDay) -> Int {
      (0...6).map { Int(day.dayNumber) - $0 }.first { CalendarDay(clamping: Int64($0)).weekday == rule.weekStart } ?? 0
    }
    return switch rule.interval.unit {
    case .hour: 0
    case .day: Int(day.dayNumber - start.dayNumber)
    case .week: (weekStart(of: day) - weekStart(of: start)) / 7
    case .month: 12 * (day.year - start.year) + day.month - start.month
    case .year: day.year - start.year
    }
  }

  private func hasWeekday(_ day: CalendarDay) -> Bool {
    rule.weekdays.isEmpty
      || rule.weekdays.contains { weekday in
        guard weekday.weekday == day.weekday, let ordinal = weekday.ordinal else {
          return weekday.weekday == day.weekday
        }
        return ordinal == (ordinal > 0 ? count(of: day, step: -7) : -count(of: day, step: 7))
      }
  }

  /// The number of weeks from a day in steps that stay within its month or year, itself included.
  private func count(of day: CalendarDay, step: Int) -> Int {
    var (count, other) = (0, day)
    let isByYear = rule.interval.unit == .year && rule.months.isEmpty
    while other.year == day.year, isByYear || other.month == day.month {
      count += 1
      other = CalendarDay(clamping: Int64(other.dayNumber) + Int64(step))
    }
    return count
  }

  private func hasMonthDay(_ day: CalendarDay) -> Bool {
    var next = day
    var daysLeft = 0
    while next.month == day.month {
      daysLeft += 1
      next = CalendarDay(clamping: Int64(next.dayNumber) + 1)
    }
    return rule.monthDays.isEmpty || rule.monthDays.contains(day.day) || rule.monthDays.contains(-daysLeft)
  }
}
