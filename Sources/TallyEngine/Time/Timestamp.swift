public import Foundation

/// An instant, to the microsecond.
///
/// Counts microseconds since 1970-01-01T00:00:00Z without leap seconds, in the proleptic Gregorian calendar,
/// between the years 1 and 9999. Foundation's `Date` is not stored because its binary fraction cannot represent
/// decimal fractions exactly.
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

  @inlinable package static var microsecondsRange: ClosedRange<Int64> {
    -62_135_596_800_000_000...253_402_300_799_999_999
  }

  /// Creates an instant.
  ///
  /// - Parameter microsecondsSince1970: Microseconds since 1970-01-01T00:00:00Z.
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public init(microsecondsSince1970: Int64) throws(TallyError) {
    guard Self.microsecondsRange.contains(microsecondsSince1970) else { throw ISO8601Fault.outOfRange.instantError }
    self.microsecondsSince1970 = microsecondsSince1970
  }

  /// Creates the instant nearest to a count of microseconds, which may be outside the years 1 to 9999.
  @inlinable
  public init(clamping microsecondsSince1970: Int64) {
    self.microsecondsSince1970 = min(
      max(microsecondsSince1970, Self.microsecondsRange.lowerBound),
      Self.microsecondsRange.upperBound
    )
  }
}

// Written down, since what the compiler derives is not inlined in other modules.
extension Timestamp {
  /// Whether two instants are the same.
  @inlinable
  public static func == (left: Timestamp, right: Timestamp) -> Bool {
    left.microsecondsSince1970 == right.microsecondsSince1970
  }
}

extension Timestamp: Comparable {
  /// Whether the first instant comes before the second.
  @inlinable
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microsecondsSince1970 < right.microsecondsSince1970
  }
}

extension Timestamp {
  /// The present, by the system's clock.
  public static func now() -> Timestamp {
    // A clock outside the years 1 to 9999 is wrong, and the nearest instant is better than a trap.
    Timestamp(clamping: Date())
  }

  /// Creates the instant of a date, rounded to the nearest microsecond.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999, and for a date that is not a number.
  public init(_ date: Date) throws(TallyError) {
    guard let microseconds = Self.microseconds(of: date) else { throw ISO8601Fault.outOfRange.instantError }
    try self.init(microsecondsSince1970: microseconds)
  }

  /// Creates the instant nearest to a date, which may be outside the years 1 to 9999; NaN counts as 1970.
  public init(clamping date: Date) {
    let limit = 1e12
    let seconds = date.timeIntervalSinceReferenceDate
    let clamped = Date(timeIntervalSinceReferenceDate: min(max(seconds, -limit + 1), limit - 1))
    self.init(clamping: seconds.isNaN ? 0 : Self.microseconds(of: clamped) ?? 0)
  }

  /// The instant as a Foundation date.
  ///
  /// `Timestamp(timestamp.date)` returns the same instant between the years 1866 and 2136; outside them a
  /// `Date` is coarser than a microsecond.
  public var date: Date {
    // Converts the whole seconds to Foundation's epoch as integers: a floating-point addition would round.
    let secondsFrom1970To2001: Int64 = 978_307_200
    let (seconds, microseconds) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
    return Date(timeIntervalSinceReferenceDate: Double(seconds - secondsFrom1970To2001) + Double(microseconds) / 1e6)
  }

  private static func microseconds(of date: Date) -> Int64? {
    let seconds = date.timeIntervalSinceReferenceDate
    // Far wider than the years 1 to 9999, but narrow enough that the conversions below cannot overflow.
    guard abs(seconds) < 1e12 else { return nil }
    let wholeSeconds = seconds.rounded(.down)
    let microseconds = ((seconds - wholeSeconds) * 1e6).rounded()
    return (Int64(wholeSeconds) + 978_307_200) * 1_000_000 + Int64(microseconds)
  }
}

extension Timestamp {
  /// Returns the instant a number of seconds later, or earlier if negative; clamped to the earliest and the
  /// latest instant.
  @inlinable
  public func adding(seconds: Int64) -> Timestamp {
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow else { return seconds < 0 ? .earliest : .latest }
    return adding(microseconds: microseconds)
  }

  /// Returns the instant a number of microseconds later, or earlier if negative; clamped to the earliest and
  /// the latest instant.
  @inlinable
  public func adding(microseconds: Int64) -> Timestamp {
    let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(microseconds)
    guard !overflow else { return microseconds < 0 ? .earliest : .latest }
    return Timestamp(clamping: sum)
  }

  /// The instant rounded down to the whole second.
  @inlinable package var wholeSecond: Timestamp {
    adding(microseconds: -(microsecondsSince1970 - floorDivide(microsecondsSince1970, by: 1_000_000) * 1_000_000))
  }

  /// The microseconds from another instant to this one; negative if the other is later.
  @inlinable
  public func microseconds(since other: Timestamp) -> Int64 {
    // This cannot overflow: the range of instants is a fortieth of the range of `Int64`.
    microsecondsSince1970 - other.microsecondsSince1970
  }
}

extension Timestamp: CustomStringConvertible {
  /// Reads an ISO 8601 instant in the profile of RFC 3339, such as `2026-11-21T12:00:00Z`.
  ///
  /// The offset from UTC is required (`Z`, `±HH:MM` or `±HHMM`) and is applied; ``OffsetTimestamp`` keeps it. Seconds
  /// may be left out. A fraction may have 1 to 9 digits, of which the first 6 are kept. `t` and `z` may be lower case.
  ///
  /// - Throws: `invalidInstant` for any other form, an impossible day or time, and leap seconds; `valueOutOfRange`
  ///   outside the years 1 to 9999.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  package init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    microsecondsSince1970 = try ISO8601Parser.instant(of: bytes).microseconds
  }

  /// The instant in UTC, such as `2026-11-21T12:00:00Z`.
  ///
  /// A fraction is written only if it is not zero, with as many digits as it needs.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The maximum length of ``iso8601`` in bytes.
  package static let textByteCount = 27

  /// Appends the text of ``iso8601``.
  package func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.appendDateAndTime(localMicroseconds: microsecondsSince1970)
    bytes.append(UInt8(ascii: "Z"))
  }
}

extension Timestamp: TextCodable {
  /// The same as ``iso8601``.
  public var text: String { iso8601 }

  /// Reads the form of ``iso8601``; the same as ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

extension Timestamp {
  /// Returns the instant as many local days from a new day as it is from the old day, at the same local time.
  ///
  /// If it was nine in the morning on the day before, it stays nine in the morning on the day before, whatever
  /// clock changes are in between. A local time that the clocks skip is moved forward by the length of the gap,
  /// and a repeated local time means its first occurrence (RFC 5545, section 3.3.5).
  ///
  /// - Parameters:
  ///   - day: The old day, from which the distance is measured.
  ///   - newDay: The new day.
  ///   - timeZone: The time zone of the local days and times.
  /// - Returns: The instant, clamped to the years 1 to 9999.
  public func moved(from day: CalendarDay, to newDay: CalendarDay, in timeZone: TimeZone) -> Timestamp {
    moved(byLocalSeconds: 86_400 * (Int64(newDay.dayNumber) - Int64(day.dayNumber)), in: timeZone)
  }

  /// Moves the instant by the wall-clock distance from `old` to `new`.
  ///
  /// A reminder at 9:00 for a meeting at 10:00 stays at 9:00 if the meeting moves by days across a clock change.
  package func moved(byClockFrom old: Timestamp, to new: Timestamp, in timeZone: TimeZone) -> Timestamp {
    // In a repeated hour, the conversion below would pick the first of the two instants.
    if old == new { return self }
    return moved(byLocalSeconds: new.localSeconds(in: timeZone) - old.localSeconds(in: timeZone), in: timeZone)
  }

  private func moved(byLocalSeconds distance: Int64, in timeZone: TimeZone) -> Timestamp {
    let fraction = microsecondsSince1970 - wholeSeconds * 1_000_000
    return Timestamp(localSecond: localSeconds(in: timeZone) + distance, in: timeZone).adding(microseconds: fraction)
  }

  /// The time that clocks in a time zone show, as the instant at which clocks in UTC show it.
  package func wallClock(in timeZone: TimeZone) -> Timestamp {
    adding(seconds: timeZone.secondsFromGMT(at: self))
  }

  /// Creates the instant at which clocks in a time zone show a time, by the rules of ``moved(from:to:in:)``.
  ///
  /// - Parameters:
  ///   - time: The time, as the instant at which clocks in UTC show it.
  ///   - timeZone: The time zone of the clocks.
  package init(wallClock time: Timestamp, in timeZone: TimeZone) {
    let fraction = time.microsecondsSince1970 - time.wholeSeconds * 1_000_000
    self = Timestamp(localSecond: time.wholeSeconds, in: timeZone).adding(microseconds: fraction)
  }

  /// The local time as if it were UTC, in seconds since 1970.
  private func localSeconds(in timeZone: TimeZone) -> Int64 {
    wholeSeconds + timeZone.secondsFromGMT(at: self)
  }

  /// Creates the instant at which clocks in a time zone show a time.
  ///
  /// - Parameters:
  ///   - localSecond: The local time as if it were UTC, in seconds since 1970.
  ///   - timeZone: The time zone of the clocks.
  package init(localSecond: Int64, in timeZone: TimeZone) {
    let rules = TimeZoneRules(of: timeZone)
    // No zone was ever further from UTC than 16 hours, or changed its offset twice within two days, so these
    // are the offsets before and after any change near the time.
    let offsetBefore = rules.offset(atSecond: localSecond - 86_400)
    let offsetAfter = rules.offset(atSecond: localSecond + 86_400)
    func isShown(with offset: Int64) -> Bool { rules.offset(atSecond: localSecond - offset) == offset }
    // The first instant of a repeated time and a skipped time both use the offset before the change.
    let isAfter = !isShown(with: offsetBefore) && isShown(with: offsetAfter)
    self.init(clampingSeconds: localSecond - (isAfter ? offsetAfter : offsetBefore))
  }
}

/// An instant with the UTC offset of the place where it was recorded.
///
/// Two values are equal only if both the instant and the offset are equal; compare ``instant`` where only the
/// time matters.
public struct OffsetTimestamp: Hashable, Sendable {
  /// The instant.
  public let instant: Timestamp
  /// Local time minus UTC in whole minutes, at most 23 hours and 59 minutes either way; positive in the east.
  public let utcOffsetInMinutes: Int

  package static let utcOffsetsInMinutes = -1_439...1_439

  /// Creates an instant with an offset.
  ///
  /// - Throws: `valueOutOfRange` for an offset of a day or more, and if the local time is outside the years 1
  ///   to 9999 and could not be written.
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

  /// Creates an instant with the UTC offset of a time zone at that instant.
  ///
  /// Some zones had offsets with seconds until the middle of the twentieth century (Monrovia until 1972); these
  /// are rounded to the nearest minute. If the local time is outside the years 1 to 9999, the offset is zero.
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
  /// Reads an ISO 8601 instant and keeps its offset; the accepted forms are those of ``Timestamp/init(iso8601:)``.
  ///
  /// - Throws: `invalidInstant` or `valueOutOfRange`, like ``Timestamp/init(iso8601:)``.
  public init(iso8601 text: String) throws(TallyError) {
    try self.init(iso8601: text.utf8.span)
  }

  package init(iso8601 bytes: Span<UInt8>) throws(TallyError) {
    let (microseconds, offset) = try ISO8601Parser.instant(of: bytes)
    instant = Timestamp(clamping: microseconds)
    utcOffsetInMinutes = offset
  }

  /// The local time with its offset, such as `2026-11-21T15:00:00+03:00`; an offset of zero is written as `Z`.
  ///
  /// A fraction is written only if it is not zero, with as many digits as it needs.
  public var iso8601: String {
    String(capacity: Self.textByteCount) { append(to: &$0) }
  }

  /// The same as ``iso8601``.
  public var description: String { iso8601 }

  /// The maximum length of ``iso8601`` in bytes.
  package static let textByteCount = 32

  /// Appends the text of ``iso8601``.
  package func append(to bytes: inout OutputSpan<UInt8>) {
    bytes.appendDateAndTime(localMicroseconds: Self.localMicroseconds(instant, utcOffsetInMinutes))
    bytes.append(utcOffsetInMinutes: utcOffsetInMinutes)
  }
}

extension OffsetTimestamp: TextCodable {
  /// The same as ``iso8601``.
  public var text: String { iso8601 }

  /// Reads the form of ``iso8601``; the same as ``init(iso8601:)``.
  public init(text: String) throws(TallyError) { try self.init(iso8601: text) }
}

// The local-time arithmetic shared by days, clocks and counters. It works in whole seconds, since zones change
// their offsets only at whole seconds, and is several times faster than Foundation's calendar.

/// Division that rounds down, so that instants before 1970 belong to the right day.
@inlinable
package func floorDivide(_ dividend: Int64, by divisor: Int64) -> Int64 {
  let quotient = dividend / divisor
  return dividend % divisor < 0 ? quotient - 1 : quotient
}

extension Timestamp {
  /// Whole seconds since 1970, rounded down.
  @inlinable package var wholeSeconds: Int64 {
    floorDivide(microsecondsSince1970, by: 1_000_000)
  }

  /// Creates the instant nearest to a number of whole seconds since 1970.
  @inlinable
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

/// A local time, as wall clocks show it.
public struct WallTime: Hashable, Sendable {
  /// The calendar day, which begins at midnight.
  public let day: CalendarDay
  /// The hour, from 0 to 23.
  public let hour: Int
  /// The minute, from 0 to 59.
  public let minute: Int
  /// The second, from 0 to 59.
  public let second: Int

  /// Creates the local time at an instant in a time zone.
  public init(at instant: Timestamp, in timeZone: TimeZone) {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    let dayNumber = floorDivide(local, by: 86_400)
    let secondOfDay = Int(local - dayNumber * 86_400)
    day = CalendarDay(clamping: dayNumber)
    (hour, minute, second) = (secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60)
  }

  /// Whether the time is in a day's last second, as is the due time of a task that is due on a whole day.
  public var isLastSecondOfDay: Bool { hour == 23 && minute == 59 && second == 59 }

  /// The time of day, such as `14:00`.
  public var clock: String { Self.clock(ofMinute: 60 * hour + minute) }

  /// Formats a minute of the day, such as `14:00`.
  public static func clock(ofMinute minute: Int) -> String {
    let (hour, minute) = (minute / 60, minute % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
