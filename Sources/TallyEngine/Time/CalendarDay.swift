public import Foundation

/// A calendar day without a time or a time zone, as on a wall calendar.
///
/// Counted in days since 1970-01-01 of the proleptic Gregorian calendar, between the years 1 and 9999.
///
/// ```swift
/// let day = try CalendarDay(year: 2026, month: 11, day: 21)
/// try day.adding(days: 10).iso8601               // "2026-12-01"
/// day.start(in: calendar)                        // the first instant of that day there
/// ```
public struct CalendarDay: Hashable, Sendable {
  /// Days since 1970-01-01; negative before.
  public let dayNumber: Int32

  /// The earliest day, 0001-01-01.
  public static let earliest = CalendarDay(clamping: .min)
  /// The latest day, 9999-12-31.
  public static let latest = CalendarDay(clamping: .max)

  /// Creates the day with the given number.
  ///
  /// - Parameter dayNumber: Days since 1970-01-01.
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  @inlinable
  public init(dayNumber: Int32) throws(TallyError) {
    guard CivilDate.dayNumbers.contains(dayNumber) else { throw Self.outOfRange }
    self.dayNumber = dayNumber
  }

  @usableFromInline static var outOfRange: TallyError { ISO8601Fault.yearOutOfRange.dayError }

  /// Creates the day nearest to a number, which may lie outside the years 1 to 9999.
  @inlinable
  public init(clamping dayNumber: Int64) {
    let range = CivilDate.dayNumbers
    self.dayNumber = Int32(min(max(dayNumber, Int64(range.lowerBound)), Int64(range.upperBound)))
  }

  /// Creates the day with the given year, month and day of the month, all counted from 1.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999, `invalidDay` for a day that does not exist.
  public init(year: Int, month: Int, day: Int) throws(TallyError) {
    guard (1...9_999).contains(year) else { throw ISO8601Fault.yearOutOfRange.dayError }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists else { throw ISO8601Fault.impossibleDay.dayError }
    dayNumber = date.dayNumber
  }
}

extension CalendarDay {
  /// Whether two days are the same.
  @inlinable
  public static func == (left: CalendarDay, right: CalendarDay) -> Bool {
    left.dayNumber == right.dayNumber
  }
}

extension CalendarDay: Comparable {
  /// Whether the first day comes before the second.
  @inlinable
  public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
    left.dayNumber < right.dayNumber
  }
}

extension CalendarDay {
  /// The year, from 1 to 9999.
  public var year: Int { CivilDate(dayNumber: dayNumber).year }
  /// The month, from 1 for January to 12.
  public var month: Int { CivilDate(dayNumber: dayNumber).month }
  /// The day of the month, from 1.
  public var day: Int { CivilDate(dayNumber: dayNumber).day }

  /// The day of the week as ISO 8601 numbers it, from 1 for Monday to 7 for Sunday.
  @inlinable public var weekday: Int {
    // 0001-01-01 was a Monday, so counting from there needs no negative remainder.
    Int(dayNumber - CivilDate.dayNumbers.lowerBound) % 7 + 1
  }

  /// Returns the day a number of days later, or earlier if the number is negative.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public func adding(days: Int) throws(TallyError) -> CalendarDay {
    let (sum, overflow) = Int(dayNumber).addingReportingOverflow(days)
    guard !overflow, let number = Int32(exactly: sum) else { throw ISO8601Fault.yearOutOfRange.dayError }
    return try CalendarDay(dayNumber: number)
  }
}

extension CalendarDay: CustomStringConvertible {
  /// Reads a day written as `YYYY-MM-DD`.
  ///
  /// - Throws: `invalidDay` for any other form and for a day that does not exist; `valueOutOfRange` for the year 0.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  package init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    dayNumber = try ISO8601Parser.dayNumber(of: bytes)
  }

  /// The day as `YYYY-MM-DD`.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The length of the text of ``iso8601`` in bytes.
  package static let textByteCount = 10

  /// Appends the text of ``iso8601``.
  package func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.append(CivilDate(dayNumber: dayNumber))
  }
}

extension CalendarDay: TextCodable {
  /// The same as ``iso8601``.
  public var text: String { iso8601 }

  /// Reads the form of ``iso8601``; the same as ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension CalendarDay {
  /// The local day that contains an instant.
  public init(containing instant: Timestamp, in timeZone: TimeZone) {
    self.init(clamping: floorDivide(instant.wholeSeconds + timeZone.secondsFromGMT(at: instant), by: 86_400))
  }

  /// The local day that contains an instant, where days begin some minutes after midnight.
  package init(containing instant: Timestamp, in timeZone: TimeZone, startingAtMinute dayStartInMinutes: Int) {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    self.init(clamping: floorDivide(local - 60 * Int64(dayStartInMinutes), by: 86_400))
  }

  /// The local day that contains an instant, in a calendar's time zone.
  ///
  /// Only the calendar's time zone matters: days are those of the Gregorian calendar in every calendar system.
  public init(containing instant: Timestamp, in calendar: Calendar) {
    self.init(containing: instant, in: calendar.timeZone)
  }

  /// The local day that contains a date, in a calendar's time zone; clamped to the years 1 to 9999.
  ///
  /// ```swift
  /// let day = CalendarDay(Date(), in: .current)
  /// ```
  public init(_ date: Date, in calendar: Calendar) {
    self.init(containing: Timestamp(clamping: date), in: calendar)
  }

  /// The first instant of this day in a calendar's time zone.
  public func start(in calendar: Calendar) -> Timestamp {
    start(in: calendar.timeZone)
  }

  /// The first instant of this day in a time zone.
  ///
  /// Usually midnight. If clocks go forward over midnight, it is the instant of the change. A day that a zone skipped
  /// (2011-12-30 in Apia) is empty and starts where the next day does. If clocks go back over midnight, so that the day
  /// begins twice, it is the first beginning. The result is clamped to the earliest and the latest instant.
  public func start(in timeZone: TimeZone) -> Timestamp {
    let midnight = Int64(dayNumber) * 86_400
    // The day begins within this window: no zone was ever further from UTC than 16 hours (Manila before 1844:
    // 15:56 behind). No zone ever changed its offset twice within the window.
    let before = midnight - 18 * 3_600
    let after = midnight + 18 * 3_600
    let rules = TimeZoneRules(of: timeZone)
    let offsetBefore = rules.offset(atSecond: before)
    let offsetAfter = rules.offset(atSecond: after)
    guard offsetBefore != offsetAfter, let change = rules.change(afterSecond: before),
      midnight - offsetBefore >= change
    else { return Timestamp(clampingSeconds: midnight - offsetBefore) }
    return Timestamp(clampingSeconds: max(change, midnight - offsetAfter))
  }

  /// The last microsecond of the day.
  package func end(in timeZone: TimeZone) -> Timestamp {
    (try? adding(days: 1))?.start(in: timeZone).adding(microseconds: -1) ?? .latest
  }

  /// Converts a weekday: Foundation counts from Sunday as 1, ISO 8601 from Monday as 1.
  package static func isoWeekday(ofFoundation weekday: Int) -> Int {
    (weekday + 5) % 7 + 1
  }
}

/// A date of the proleptic Gregorian calendar as year, month and day.
///
/// The conversions count years from March, so that the leap day is the last day of its year; they need neither
/// tables nor loops. The conversion to a day number is the scheme of Howard Hinnant's "chrono-Compatible
/// Low-Level Date Algorithms". The other direction divides by century, year and month as in Cassio Neri and
/// Lorenz Schneider, "Euclidean affine functions and their application to calendar algorithms" (Software:
/// Practice and Experience 53, 2023). Foundation's calendar is not used: it takes microseconds per call, and an
/// export needs several calls per task.
@usableFromInline
package struct CivilDate: Equatable {
  package var year: Int
  package var month: Int
  package var day: Int

  package init(year: Int, month: Int, day: Int) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The day numbers of 0001-01-01 and 9999-12-31, counted from 1970-01-01.
  @inlinable package static var dayNumbers: ClosedRange<Int32> { -719_162...2_932_896 }

  /// Days from 0000-03-01, where the shifted years begin, to 1970-01-01.
  private static let daysBefore1970 = 719_468
}

extension CivilDate {
  /// Creates the date with a day number within `dayNumbers`.
  package init(dayNumber: Int32) {
    // Unsigned division is cheaper, and no value here is negative: the range begins in the year 1.
    let days = UInt(Int(dayNumber) + Self.daysBefore1970)
    let (century, quartersOfCentury) = (4 * days + 3).quotientAndRemainder(dividingBy: 146_097)
    let (yearOfCentury, quartersOfYear) = (quartersOfCentury | 3).quotientAndRemainder(dividingBy: 1_461)
    let (monthFromMarch, fifthsOfMonth) = (5 * (quartersOfYear / 4) + 2).quotientAndRemainder(dividingBy: 153)
    let isNextYear = monthFromMarch >= 10
    year = Int(100 * century + yearOfCentury) + (isNextYear ? 1 : 0)
    month = Int(monthFromMarch) + (isNextYear ? -9 : 3)
    day = Int(fifthsOfMonth / 5) + 1
  }

  /// The day number, counted from 1970-01-01; the date must exist, in a year from 1 to 9999.
  package var dayNumber: Int32 {
    let yearFromMarch = month > 2 ? year : year - 1
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return Int32(365 * yearFromMarch + leapDays + dayOfYear - Self.daysBefore1970)
  }

  /// Whether the calendar has this date; the year can be any.
  package var exists: Bool {
    (1...12).contains(month) && day >= 1 && day <= Self.dayCount(ofMonth: month, inYear: year)
  }

  private static func dayCount(ofMonth month: Int, inYear year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }
}

/// A month of the proleptic Gregorian calendar, numbered so that months can be added.
package struct CivilMonth: Equatable {
  /// Months since January of the year 0.
  private let number: Int

  /// Creates the month with the given year and month, the month counted from 1.
  package init(year: Int, month: Int) {
    number = 12 * year + month - 1
  }

  /// Creates the month that contains a day.
  package init(of day: CalendarDay) {
    let date = CivilDate(dayNumber: day.dayNumber)
    self.init(year: date.year, month: date.month)
  }

  /// The month this many months later.
  package func adding(months: Int) -> CivilMonth {
    CivilMonth(year: 0, month: number + months + 1)
  }

  /// The number of months from another month to this one.
  package func months(since other: CivilMonth) -> Int {
    number - other.number
  }

  /// The days of the month, as values of ``CalendarDay/dayNumber``; `nil` outside the years 1 to 9999.
  package var days: ClosedRange<Int>? {
    let (year, month) = (number / 12, number % 12 + 1)
    guard (1...9_999).contains(year) else { return nil }
    let first = Int(CivilDate(year: year, month: month, day: 1).dayNumber)
    let last = (28...31).last { CivilDate(year: year, month: month, day: $0).exists } ?? 28
    return first...(first + last - 1)
  }
}

extension Range where Bound == CalendarDay {
  /// The range of instants of these days in a time zone.
  ///
  /// ```swift
  /// let may = try CalendarDay(iso8601: "2026-05-01")..<CalendarDay(iso8601: "2026-06-01")
  /// let minutes = try store.read { try $0.total(Workout.trained, over: may.dates(in: berlin)) }
  /// ```
  ///
  /// The days of a measure whose time is a `CalendarDay` are those of UTC: `may.dates(in: .gmt)`.
  public func dates(in timeZone: TimeZone) -> Range<Date> {
    let (start, end) = (lowerBound.start(in: timeZone), upperBound.start(in: timeZone))
    return start.date..<Swift.max(start, end).date
  }
}

extension CalendarDay {
  /// The instant of this day at which wall clocks show a time.
  ///
  /// A time that a clock change skips is moved forward by the length of the change (02:30 becomes 03:30). If
  /// the time occurs twice, the first occurrence is used. RFC 5545, section 3.3.5, makes the same choices.
  ///
  /// - Parameters:
  ///   - minuteOfDay: Minutes since midnight.
  ///   - timeZone: The zone of the clock.
  /// - Returns: The instant, clamped to the earliest and the latest instant.
  public func instant(atMinute minuteOfDay: Int, in timeZone: TimeZone) -> Timestamp {
    Timestamp(localSecond: Int64(dayNumber) * 86_400 + Int64(minuteOfDay) * 60, in: timeZone)
  }
}
