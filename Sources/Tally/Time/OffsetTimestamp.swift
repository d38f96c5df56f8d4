public import Foundation

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
