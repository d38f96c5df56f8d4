import Foundation
public import TallyEngine

// In documents: {"at": "2026-11-21T12:00:00Z"}, {"before": "P1D", "of": "due"}, or, at a time of that day,
// {"before": "P0D", "of": "due", "at": "09:00"}.

extension RelativeReminder {
  /// The distance as an ISO 8601 duration of days, hours and minutes: `P1D`, `PT1H30M`, `P0D`.
  package var distance: String {
    let (hours, rest) = (minutes / 60, minutes % 60)
    let time = (hours > 0 ? "\(hours)H" : "") + (rest > 0 ? "\(rest)M" : "")
    if time.isEmpty { return "P\(days)D" }
    return "P" + (days > 0 ? "\(days)D" : "") + "T" + time
  }

  /// Reads a duration of weeks, days, hours and minutes, each at most once and in this order; `nil` for another text.
  package static func minutes(ofDistance text: String) -> (days: Int, minutes: Int)? {
    let units: [(unit: Character, isTime: Bool, days: Int, minutes: Int)] = [
      ("W", false, 7, 0), ("D", false, 1, 0), ("H", true, 0, 60), ("M", true, 0, 1),
    ]
    guard text.first == "P", text.count >= 3, text.count <= 32 else { return nil }
    var (days, minutes, digits, next, isTime) = (0, 0, "", 0, false)
    for character in text.dropFirst() {
      if character.isASCII, character.isNumber {
        digits.append(character)
      } else if character == "T", digits.isEmpty, !isTime {
        isTime = true
      } else {
        guard let index = units[next...].firstIndex(where: { $0.unit == character && $0.isTime == isTime }),
          digits.count <= 7, let number = Int(digits)
        else { return nil }
        days += number * units[index].days
        minutes += number * units[index].minutes
        (digits, next) = ("", index + 1)
      }
    }
    return digits.isEmpty && text.last != "T" ? (days, minutes) : nil
  }
}

extension Reminder {
  /// Creates a reminder from the values of its keys in a document.
  ///
  /// - Throws: `invalidInstant` if they are not those of a reminder; `valueOutOfRange` for a distance that is too large.
  init(at time: String?, before distance: String?, of anchor: String?) throws(TallyError) {
    guard distance != nil || anchor != nil else {
      guard let time else { throw Self.malformed }
      self = .at(try Timestamp(iso8601: time))
      return
    }
    guard let distance, let (days, minutes) = RelativeReminder.minutes(ofDistance: distance),
      let anchor = anchor.map({ RelativeReminder.Anchor(rawValue: $0) }) ?? .due
    else { throw Self.malformed }
    var minute: Int?
    if let time {
      let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { $0.count == 2 ? Int($0) : nil }
      guard parts.count == 2, let hour = parts[0], let rest = parts[1], (0...23).contains(hour), (0...59).contains(rest)
      else { throw Self.malformed }
      minute = 60 * hour + rest
    }
    self = .before(try RelativeReminder(daysBefore: days, minutesBefore: minutes, anchor, atMinute: minute))
  }

  private static let malformed = TallyError(
    .invalidInstant, "A reminder is neither at an instant nor before a date of the task",
    remedy: #"Write {"at": "2026-11-21T12:00:00Z"}, {"before": "PT2H", "of": "due"} "#
      + #"or {"before": "P1D", "of": "scheduled", "at": "09:00"}"#)
}

extension Reminder: Codable {
  private enum Key: String, CodingKey {
    case at, before, of
  }

  /// Decodes a reminder in the form of an export.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
    try self.init(at: try text(.at), before: try text(.before), of: try text(.of))
  }

  /// Encodes a reminder in the form of an export.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .at(let instant): try container.encode(instant.iso8601, forKey: .at)
    case .before(let relative):
      try container.encode(relative.distance, forKey: .before)
      try container.encode(relative.anchor.rawValue, forKey: .of)
      try container.encodeIfPresent(relative.minuteOfDay.map(WallTime.clock), forKey: .at)
    }
  }
}

extension RelativeReminder: CustomStringConvertible {
  /// The reminder in words, which ``Reminder/init(text:of:)`` reads: `1 day before it is due`, `09:00 on its day`.
  public var description: String {
    let named = anchor == .due ? "it is due" : "its day"
    guard let minuteOfDay else {
      if days == 0, minutes == 0 { return anchor == .due ? "when it is due" : "on its day" }
      return "\(distanceInWords) before \(named)"
    }
    let time = WallTime.clock(ofMinute: minuteOfDay)
    switch days {
    case 0: return anchor == .due ? "\(time) on the day it is due" : "\(time) on its day"
    case 1: return "\(time) the day before \(named)"
    default: return "\(time) \(days) days before \(named)"
    }
  }

  private var distanceInWords: String {
    func name(_ count: Int, _ unit: String) -> String { count == 1 ? "1 \(unit)" : "\(count) \(unit)s" }
    switch (days, minutes) {
    case (_, 0): return days % 7 == 0 ? name(days / 7, "week") : name(days, "day")
    case (0, let minutes) where minutes % 60 == 0: return name(minutes / 60, "hour")
    case (0, let minutes) where minutes < 60: return name(minutes, "minute")
    default:
      let parts = [(days, "d"), (minutes / 60, "h"), (minutes % 60, "m")]
      return parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
    }
  }
}

extension Reminder {
  /// The reminder in words, or its instant; ``init(text:of:)`` reads it.
  package var text: String {
    switch self {
    case .at(let instant): instant.iso8601
    case .before(let relative): relative.description
    }
  }

  /// Reads an ISO 8601 instant, or a time before a task in words.
  ///
  /// ```swift
  /// let reminder = try Reminder(text: "9:00 the day before", of: .due)
  /// ```
  ///
  /// ```
  /// reminder = duration "before" [anchor] | "when" anchor | time where | where [time]
  /// where    = "on the day" [anchor] | "on its day" | ["on"] "the day before" [anchor] | duration "before" [anchor]
  /// anchor   = ["it is"] "due" | ["the"] "deadline" | "it is" ("planned" | "scheduled") | "its day"
  ///          | "the" ["planned"] "day"
  /// ```
  ///
  /// Durations and times are those of ``DateExpression``, except months and years.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - anchor: What the distance counts from if the text does not say so.
  /// - Throws: `invalidInstant` for another text; `valueOutOfRange` for a distance that is too large.
  public init(text: String, of anchor: RelativeReminder.Anchor = .due) throws(TallyError) {
    if let relative = try RelativeReminder(words: text, of: anchor) {
      self = .before(relative)
    } else {
      self = .at(try Timestamp(iso8601: text))
    }
  }
}
