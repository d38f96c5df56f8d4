public import Foundation

/// An instant, to the microsecond.
///
/// Counts microseconds since 1970-01-01T00:00:00Z without leap seconds, in the proleptic Gregorian calendar, between the
/// years 1 and 9999. Foundation's `Date` is not used for storage: its binary fraction cannot hold decimal ones exactly.
///
/// ```swift
/// let start = try Timestamp(iso8601: "2026-11-21T15:00:00+03:00")
/// start.iso8601                                  // "2026-11-21T12:00:00Z"
/// start.adding(seconds: 90).iso8601              // "2026-11-21T12:01:30Z"
/// ```
public struct Timestamp: Hashable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public let microsecondsSince1970: Int64

  /// The earliest instant, 0001-01-01T00:00:00Z.
  public static let earliest = Timestamp(clamping: .min)
  /// The latest instant, 9999-12-31T23:59:59.999999Z.
  public static let latest = Timestamp(clamping: .max)

  static let microsecondsRange: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

  /// Creates an instant.
  ///
  /// - Parameter microsecondsSince1970: Microseconds since 1970-01-01T00:00:00Z.
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public init(microsecondsSince1970: Int64) throws(TallyError) {
    guard Self.microsecondsRange.contains(microsecondsSince1970) else { throw ISO8601Fault.outOfRange.instantError }
    self.microsecondsSince1970 = microsecondsSince1970
  }

  /// Creates the instant nearest to a count, which may lie outside the years 1 to 9999.
  public init(clamping microsecondsSince1970: Int64) {
    self.microsecondsSince1970 = min(
      max(microsecondsSince1970, Self.microsecondsRange.lowerBound),
      Self.microsecondsRange.upperBound
    )
  }
}

extension Timestamp: Comparable {
  /// Whether the first instant comes before the second.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microsecondsSince1970 < right.microsecondsSince1970
  }
}

extension Timestamp {
  /// The present, by the system's clock.
  public static func now() -> Timestamp {
    // A clock outside the years 1 to 9999 is broken; the nearest instant is better than a trap.
    Timestamp(clamping: Date())
  }

  /// Creates the instant of a date, rounded to the nearest microsecond.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999, and for a date that is not a number.
  public init(_ date: Date) throws(TallyError) {
    guard let microseconds = Self.microseconds(of: date) else { throw ISO8601Fault.outOfRange.instantError }
    try self.init(microsecondsSince1970: microseconds)
  }

  /// Creates the instant nearest to a date, which may lie outside the years 1 to 9999; one that is not a number counts
  /// as 1970.
  public init(clamping date: Date) {
    let limit = 1e12
    let seconds = date.timeIntervalSinceReferenceDate
    let clamped = Date(timeIntervalSinceReferenceDate: min(max(seconds, -limit + 1), limit - 1))
    self.init(clamping: seconds.isNaN ? 0 : Self.microseconds(of: clamped) ?? 0)
  }

  /// The instant as a Foundation date.
  ///
  /// `Timestamp(timestamp.date)` gives the same instant back between the years 1866 and 2136; further away a `Date` is
  /// coarser than a microsecond.
  public var date: Date {
    // The whole seconds are shifted to Foundation's epoch as integers: adding them as floating point would round.
    let secondsFrom1970To2001: Int64 = 978_307_200
    let (seconds, microseconds) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
    return Date(timeIntervalSinceReferenceDate: Double(seconds - secondsFrom1970To2001) + Double(microseconds) / 1e6)
  }

  private static func microseconds(of date: Date) -> Int64? {
    let seconds = date.timeIntervalSinceReferenceDate
    // Far wider than the years 1 to 9999, and narrow enough for the conversions below.
    guard abs(seconds) < 1e12 else { return nil }
    let wholeSeconds = seconds.rounded(.down)
    let microseconds = ((seconds - wholeSeconds) * 1e6).rounded()
    return (Int64(wholeSeconds) + 978_307_200) * 1_000_000 + Int64(microseconds)
  }
}

extension Timestamp {
  /// The instant a number of seconds later, or earlier if negative; clamped to the earliest and the latest instant.
  public func adding(seconds: Int64) -> Timestamp {
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow else { return seconds < 0 ? .earliest : .latest }
    return adding(microseconds: microseconds)
  }

  /// The instant a number of microseconds later, or earlier if negative; clamped to the earliest and the latest instant.
  public func adding(microseconds: Int64) -> Timestamp {
    let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(microseconds)
    guard !overflow else { return microseconds < 0 ? .earliest : .latest }
    return Timestamp(clamping: sum)
  }

  /// The beginning of its second.
  package var wholeSecond: Timestamp {
    adding(microseconds: -(microsecondsSince1970 - floorDivide(microsecondsSince1970, by: 1_000_000) * 1_000_000))
  }

  /// The microseconds from another instant to this one; negative if the other one is later.
  public func microseconds(since other: Timestamp) -> Int64 {
    // Cannot overflow: the range of instants is a fortieth of that of an Int64.
    microsecondsSince1970 - other.microsecondsSince1970
  }
}

extension Timestamp: CustomStringConvertible {
  /// Reads an instant of ISO 8601 in the profile of RFC 3339, as `2026-11-21T12:00:00Z`.
  ///
  /// The offset from UTC is required (`Z`, `±HH:MM` or `±HHMM`) and is applied; ``OffsetTimestamp`` keeps it.
  /// Seconds may be left out. A fraction has 1 to 9 digits, of which 6 are kept. `t` and `z` may be lower case.
  ///
  /// - Throws: `invalidInstant` for any other form, an impossible day or time, and leap seconds; `valueOutOfRange`
  ///   outside the years 1 to 9999.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    microsecondsSince1970 = try ISO8601Parser.instant(of: bytes).microseconds
  }

  /// The instant in UTC, as `2026-11-21T12:00:00Z`.
  ///
  /// A fraction is there only where it is not zero, with as many digits as it needs.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The greatest length of the text of ``iso8601`` in bytes.
  static let textByteCount = 27

  /// Appends the text of ``iso8601``.
  func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.appendDateAndTime(localMicroseconds: microsecondsSince1970)
    bytes.append(UInt8(ascii: "Z"))
  }
}

extension Timestamp: TextCodable {
  /// The instant in UTC, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension Timestamp {
  /// The instant at the same distance from another day: as many local days away, at the same local time.
  ///
  /// Nine in the morning on the day before stays nine in the morning on the day before, however clocks change in
  /// between. A local time that the clocks skip is moved forward by the length of the gap, and a repeated local time
  /// means its first occurrence (RFC 5545, section 3.3.5).
  ///
  /// - Parameters:
  ///   - day: The day from which the instant has its distance.
  ///   - newDay: The day to which it keeps that distance.
  ///   - timeZone: The time zone of the local days and times.
  /// - Returns: The instant, or the nearest one of the years 1 to 9999.
  public func moved(from day: CalendarDay, to newDay: CalendarDay, in timeZone: TimeZone) -> Timestamp {
    moved(byLocalSeconds: 86_400 * (Int64(newDay.dayNumber) - Int64(day.dayNumber)), in: timeZone)
  }

  /// Moves the instant by the wall-clock distance from `old` to `new`.
  ///
  /// A reminder at 9:00 for a meeting at 10:00 stays at 9:00 if the meeting moves by days over a clock change.
  func moved(byClockFrom old: Timestamp, to new: Timestamp, in timeZone: TimeZone) -> Timestamp {
    // Return early: in a repeated hour, the conversion would pick the first of the two instants.
    if old == new { return self }
    return moved(byLocalSeconds: new.localSeconds(in: timeZone) - old.localSeconds(in: timeZone), in: timeZone)
  }

  private func moved(byLocalSeconds distance: Int64, in timeZone: TimeZone) -> Timestamp {
    let fraction = microsecondsSince1970 - wholeSeconds * 1_000_000
    return Timestamp(localSecond: localSeconds(in: timeZone) + distance, in: timeZone).adding(microseconds: fraction)
  }

  /// The local time as if it were UTC, in seconds since 1970.
  private func localSeconds(in timeZone: TimeZone) -> Int64 {
    wholeSeconds + timeZone.secondsFromGMT(at: self)
  }

  /// The instant at which clocks in a time zone show a time.
  ///
  /// - Parameters:
  ///   - localSecond: The local time as if it were UTC, in seconds since 1970.
  ///   - timeZone: The time zone of the clocks.
  package init(localSecond: Int64, in timeZone: TimeZone) {
    let rules = TimeZoneRules(of: timeZone)
    // No zone was ever further from UTC than 16 hours, or changed its offset twice within two days: these are the
    // offsets before and after any change near the time.
    let offsetBefore = rules.offset(atSecond: localSecond - 86_400)
    let offsetAfter = rules.offset(atSecond: localSecond + 86_400)
    func isShown(with offset: Int64) -> Bool { rules.offset(atSecond: localSecond - offset) == offset }
    // The first instant of a repeated time and a skipped time both use the offset before the change.
    let isAfter = !isShown(with: offsetBefore) && isShown(with: offsetAfter)
    self.init(clampingSeconds: localSecond - (isAfter ? offsetAfter : offsetBefore))
  }
}

/// An instant with the offset from UTC that was in force where it was recorded.
///
/// Two values are equal only if both instant and offset are; compare the ``instant`` where only the time matters.
public struct OffsetTimestamp: Hashable, Sendable {
  /// The instant.
  public let instant: Timestamp
  /// Local time minus UTC in whole minutes, within 23 hours and 59 minutes either way; positive in the east.
  public let utcOffsetInMinutes: Int

  static let utcOffsetsInMinutes = -1_439...1_439

  /// Creates an instant with an offset.
  ///
  /// - Throws: `valueOutOfRange` for an offset of a day or more, and where the local time would leave the years 1 to
  ///   9999, as it could not be written.
  public init(_ instant: Timestamp, utcOffsetInMinutes: Int) throws(TallyError) {
    guard Self.utcOffsetsInMinutes.contains(utcOffsetInMinutes) else {
      throw TallyError(
        .valueOutOfRange, ISO8601Fault.impossibleOffset.rawValue, remedy: "Give an offset between -23:59 and +23:59")
    }
    let local = Self.localMicroseconds(instant, utcOffsetInMinutes)
    guard Timestamp.microsecondsRange.contains(local) else { throw ISO8601Fault.outOfRange.instantError }
    self.instant = instant
    self.utcOffsetInMinutes = utcOffsetInMinutes
  }

  /// Creates an instant with the offset that a time zone has then.
  ///
  /// Some zones had offsets with seconds until the middle of the twentieth century (Monrovia until 1972); these are
  /// rounded to the nearest minute. Where the local time would leave the years 1 to 9999 the offset is zero.
  public init(_ instant: Timestamp, in timeZone: TimeZone) {
    let offset = Int((Double(timeZone.secondsFromGMT(at: instant)) / 60).rounded())
    let local = Self.localMicroseconds(instant, offset)
    self.instant = instant
    utcOffsetInMinutes = Timestamp.microsecondsRange.contains(local) ? offset : 0
  }

  private static func localMicroseconds(_ instant: Timestamp, _ offset: Int) -> Int64 {
    instant.microsecondsSince1970 + Int64(offset) * 60_000_000
  }
}

extension OffsetTimestamp: CustomStringConvertible {
  /// Reads an instant of ISO 8601 and keeps its offset; the accepted forms are those of ``Timestamp/init(iso8601:)``.
  ///
  /// - Throws: `invalidInstant` or `valueOutOfRange`, as there.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    let (microseconds, offset) = try ISO8601Parser.instant(of: bytes)
    instant = Timestamp(clamping: microseconds)
    utcOffsetInMinutes = offset
  }

  /// The local time with its offset, as `2026-11-21T15:00:00+03:00`; `Z` stands for an offset of zero.
  ///
  /// A fraction is there only where it is not zero, with as many digits as it needs.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The greatest length of the text of ``iso8601`` in bytes.
  static let textByteCount = 32

  /// Appends the text of ``iso8601``.
  func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.appendDateAndTime(localMicroseconds: Self.localMicroseconds(instant, utcOffsetInMinutes))
    bytes.append(utcOffsetInMinutes: utcOffsetInMinutes)
  }
}

extension OffsetTimestamp: TextCodable {
  /// The instant with its offset, as ``iso8601``.
  public var text: String { iso8601 }

  /// As ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

// The arithmetic of local time that days, clocks and counters share. It works in whole seconds, at which zones change
// their offsets, and takes a fraction of the time that Foundation's calendar does.

/// Division that rounds towards negative infinity, so that instants before 1970 fall into their own day.
package func floorDivide(_ dividend: Int64, by divisor: Int64) -> Int64 {
  let quotient = dividend / divisor
  return dividend % divisor < 0 ? quotient - 1 : quotient
}

extension Timestamp {
  /// Whole seconds since 1970, rounded down.
  package var wholeSeconds: Int64 {
    floorDivide(microsecondsSince1970, by: 1_000_000)
  }

  /// The instant nearest to a number of whole seconds since 1970.
  package init(clampingSeconds seconds: Int64) {
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    self.init(clamping: overflow ? (seconds < 0 ? .min : .max) : microseconds)
  }
}

extension TimeZone {
  /// Local time minus UTC at an instant, in seconds.
  package func secondsFromGMT(at instant: Timestamp) -> Int64 {
    secondsFromGMT(atSecond: instant.wholeSeconds)
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  package func secondsFromGMT(atSecond second: Int64) -> Int64 {
    TimeZoneRules(of: self).offset(atSecond: second)
  }
}

/// A local time, as a clock on the wall shows it.
public struct WallTime: Hashable, Sendable {
  /// The day of the calendar, which begins at midnight.
  public let day: CalendarDay
  /// The hour, from 0 to 23.
  public let hour: Int
  /// The minute, from 0 to 59.
  public let minute: Int
  /// The second, from 0 to 59.
  public let second: Int

  /// What clocks in a time zone show at an instant.
  public init(at instant: Timestamp, in timeZone: TimeZone) {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    let dayNumber = floorDivide(local, by: 86_400)
    let secondOfDay = Int(local - dayNumber * 86_400)
    day = CalendarDay(clamping: dayNumber)
    (hour, minute, second) = (secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60)
  }

  /// Whether the time lies in a day's last second, as the due time of a day alone does: the whole day counts.
  public var isLastSecondOfDay: Bool { hour == 23 && minute == 59 && second == 59 }

  /// The time of day as `14:00`.
  public var clock: String { Self.clock(ofMinute: 60 * hour + minute) }

  /// A minute of the day as `14:00`.
  public static func clock(ofMinute minute: Int) -> String {
    let (hour, minute) = (minute / 60, minute % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
