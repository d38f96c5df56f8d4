/// A calendar day without a time and without a time zone, as on a wall calendar.
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

  /// Creates the day with a number.
  ///
  /// - Parameter dayNumber: Days since 1970-01-01.
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public init(dayNumber: Int32) throws(TallyError) {
    guard CivilDate.dayNumbers.contains(dayNumber) else { throw ISO8601Fault.yearOutOfRange.dayError }
    self.dayNumber = dayNumber
  }

  /// Creates the day nearest to a number, which may lie outside the years 1 to 9999.
  public init(clamping dayNumber: Int64) {
    let range = CivilDate.dayNumbers
    self.dayNumber = Int32(min(max(dayNumber, Int64(range.lowerBound)), Int64(range.upperBound)))
  }

  /// Creates the day with a year, month and day of the month, all counted from 1.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999, `invalidDay` where the calendar has no such day.
  public init(year: Int, month: Int, day: Int) throws(TallyError) {
    guard (1...9_999).contains(year) else { throw ISO8601Fault.yearOutOfRange.dayError }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists else { throw ISO8601Fault.impossibleDay.dayError }
    dayNumber = date.dayNumber
  }
}

extension CalendarDay: Comparable {
  /// Whether the first day comes before the second.
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
  public var weekday: Int {
    // 0001-01-01 was a Monday, so counting from there needs no negative remainder.
    Int(dayNumber - CivilDate.dayNumbers.lowerBound) % 7 + 1
  }

  /// The day a number of days later, or earlier if negative.
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
  /// - Throws: `invalidDay` for any other form and for a day the calendar does not have; `valueOutOfRange` for the
  ///   year 0.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    dayNumber = try ISO8601Parser.dayNumber(of: bytes)
  }

  /// The day as `YYYY-MM-DD`.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The length of the text of ``iso8601`` in bytes.
  static let textByteCount = 10

  /// Appends the text of ``iso8601``.
  func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.append(CivilDate(dayNumber: dayNumber))
  }
}

extension CalendarDay: TextCodable {
  /// The day, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}
