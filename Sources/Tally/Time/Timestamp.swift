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
