import Foundation
import Tally
import TallyEngine

/// A value of a Taskwarrior task.
enum TaskwarriorValue: Equatable {
  case text(String)
  case integer(Int64)
  case real(Double)
  /// Any other JSON, such as the array of annotations, as compact text.
  case json(String)

  var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension JSONReader {
  /// Reads a value; `nil` for `null`.
  mutating func readTaskwarriorValue() throws -> TaskwarriorValue? {
    switch try next() {
    case .string: return .text(String(decoding: text, as: UTF8.self))
    case .integer(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .null: return nil
    case let token: return .json(try json(beginningWith: token))
    }
  }

  /// The value that begins with a token, as JSON.
  mutating func json(beginningWith token: Token) throws -> String {
    var writer = JSONWriter(layout: .compact)
    try copyValue(beginningWith: token, to: &writer)
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  /// Copies the value that begins with a token, however deep.
  private mutating func copyValue(beginningWith first: Token, to writer: inout JSONWriter) throws {
    var depth = 0
    var token = first
    while true {
      switch token {
      case .beginObject, .beginArray:
        depth += 1
        if token == .beginObject { writer.beginObject() } else { writer.beginArray() }
      case .endObject, .endArray:
        depth -= 1
        if token == .endObject { writer.endObject() } else { writer.endArray() }
      case .key: writer.key(String(decoding: text, as: UTF8.self))
      case .string: writer.value(.text(String(decoding: text, as: UTF8.self)))
      case .integer(let number): writer.value(.integer(number))
      case .double(let number): writer.value(real: number)
      case .boolean(let isTrue): writer.value(isTrue)
      case .null: writer.null()
      case .end: return
      }
      if depth == 0 { return }
      token = try next()
    }
  }
}

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

/// Numbers of attributes: Taskwarrior writes those of attributes that it does not know as texts with six decimals.
enum TaskwarriorNumber {
  /// Whether six decimals say a number in full.
  static func isExact(_ number: Double) -> Bool { Double(text(number)) == number && abs(number) < 1e9 }

  /// The number in a text of Taskwarrior's; `nil` for any other text.
  static func attribute(_ text: String) -> AttributeValue? {
    guard let number = Double(text), number.isFinite, abs(number) < 1e9, self.text(number) == text else { return nil }
    return attribute(number)
  }

  /// A number, which is whole if it has no decimals.
  static func attribute(_ number: Double) -> AttributeValue {
    Int64(exactly: number).map { .integer($0) } ?? .real(number)
  }

  private static func text(_ number: Double) -> String { String(format: "%.6f", number) }
}

/// The recurrences of Taskwarrior: `weekly`, `3days`, `2mo`.
enum TaskwarriorRecurrence {
  private static let names: [String: String] = [
    "hourly": "FREQ=HOURLY", "daily": "FREQ=DAILY", "day": "FREQ=DAILY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekly": "FREQ=WEEKLY", "sennight": "FREQ=WEEKLY", "biweekly": "FREQ=WEEKLY;INTERVAL=2",
    "fortnight": "FREQ=WEEKLY;INTERVAL=2", "monthly": "FREQ=MONTHLY", "bimonthly": "FREQ=MONTHLY;INTERVAL=2",
    "quarterly": "FREQ=MONTHLY;INTERVAL=3", "semiannual": "FREQ=MONTHLY;INTERVAL=6", "annual": "FREQ=YEARLY",
    "yearly": "FREQ=YEARLY", "biannual": "FREQ=YEARLY;INTERVAL=2", "biyearly": "FREQ=YEARLY;INTERVAL=2",
  ]
  private static let units: [(name: String, frequency: String)] = [
    ("h", "HOURLY"), ("hr", "HOURLY"), ("hrs", "HOURLY"), ("hour", "HOURLY"), ("hours", "HOURLY"),
    ("d", "DAILY"), ("day", "DAILY"), ("days", "DAILY"), ("w", "WEEKLY"), ("wk", "WEEKLY"), ("wks", "WEEKLY"),
    ("week", "WEEKLY"), ("weeks", "WEEKLY"), ("m", "MONTHLY"), ("mo", "MONTHLY"), ("mth", "MONTHLY"),
    ("mths", "MONTHLY"), ("month", "MONTHLY"), ("months", "MONTHLY"), ("y", "YEARLY"), ("yr", "YEARLY"),
    ("yrs", "YEARLY"), ("year", "YEARLY"), ("years", "YEARLY"),
  ]

  /// Reads a recurrence; `nil` for one that Tally does not have, such as minutes.
  static func recurrence(_ text: String) -> Recurrence? {
    let text = text.lowercased()
    if let rule = names[text] { return try? Recurrence(text: rule) }
    var digits = text.prefix { $0.isASCII && $0.isNumber }
    var unit = text.dropFirst(digits.count)
    if text.hasPrefix("p"), let last = text.last {
      // `PT8H` has hours and `P8M` months; `PT8M` has minutes.
      let isTime = text.hasPrefix("pt")
      guard isTime == (last == "h") else { return nil }
      digits = text.dropFirst(isTime ? 2 : 1).dropLast()
      unit = String(last)[...]
    }
    guard let count = Int(digits), let frequency = units.first(where: { $0.name == unit })?.frequency else {
      return nil
    }
    return try? Recurrence(text: "FREQ=\(frequency);INTERVAL=\(count)")
  }
}
