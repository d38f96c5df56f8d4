internal import Foundation
internal import Tally

/// The dates of Taskwarrior and iCalendar: `20261121T090000Z`.
enum BasicDate {
  /// Writes an instant in UTC, without its fraction.
  static func text(_ instant: Timestamp) -> String {
    let text = instant.iso8601.utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
    return String(decoding: text, as: UTF8.self) + "Z"
  }

  /// Writes a day: `20261121`.
  static func text(_ day: CalendarDay) -> String { day.iso8601.filter { $0 != "-" } }

  /// Reads an instant in UTC; `nil` for any other text.
  static func instant(_ text: String) -> Timestamp? {
    guard text.hasSuffix("Z"), let local = components(text.dropLast()) else { return nil }
    return try? Timestamp(iso8601: local + "Z")
  }

  /// Reads a day; `nil` for any other text.
  static func day(_ text: String) -> CalendarDay? {
    let digits = Array(text)
    guard digits.count == 8, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return try? CalendarDay(iso8601: "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<8]))")
  }

  /// Reads a local time without a zone, as one in a zone; `nil` for any other text.
  static func instant(_ text: String, in timeZone: TimeZone) -> Timestamp? {
    guard let local = components(text[...]), let wall = try? Timestamp(iso8601: local + "Z") else { return nil }
    // The offset before a change of the clock is that of a time that exists twice or not at all (RFC 5545, 3.3.5).
    let guess = wall.adding(seconds: -Int64(timeZone.secondsFromGMT(for: wall.adding(seconds: -86_400).date)))
    let later = wall.adding(seconds: -Int64(timeZone.secondsFromGMT(for: guess.date)))
    let isLater = timeZone.secondsFromGMT(for: later.date) == timeZone.secondsFromGMT(for: guess.date)
    return isLater ? later : guess
  }

  /// Whether a text is a day, a local time or an instant in UTC.
  static func isWellFormed(_ text: String) -> Bool {
    day(text) != nil || instant(text.hasSuffix("Z") ? text : text + "Z") != nil
  }

  /// `20261121T090000` as `2026-11-21T09:00:00`.
  private static func components(_ text: Substring) -> String? {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = day(String(parts[0])), parts[1].count == 6,
      parts[1].allSatisfy({ $0.isASCII && $0.isNumber })
    else { return nil }
    let time = Array(parts[1])
    return "\(day.iso8601)T\(String(time[0...1])):\(String(time[2...3])):\(String(time[4...5]))"
  }
}
