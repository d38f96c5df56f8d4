import Foundation
import TallyEngine

extension RecurrenceRule {
  /// The rule in the form of RFC 5545, without `RRULE:`: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH`.
  ///
  /// The parts always have the same order, and those with a default value are left out. The ``exceptions`` follow as a
  /// part that RFC 5545 has as a property of its own: `EXDATE=20261224,20261231`.
  public var text: String {
    guard !exceptions.isEmpty else { return textWithoutExceptions }
    return "\(textWithoutExceptions);EXDATE=\(exceptions.map(Self.text).joined(separator: ","))"
  }

  /// The rule as the value of the property `RRULE` of RFC 5545, which has no ``exceptions``.
  package var textWithoutExceptions: String {
    var parts = ["FREQ=\(interval.unit.frequency)"]
    func add(_ name: String, _ values: [String]) {
      if !values.isEmpty { parts.append("\(name)=\(values.joined(separator: ","))") }
    }
    if interval.count > 1 { parts.append("INTERVAL=\(interval.count)") }
    add("BYMONTH", months.map { "\($0)" })
    add("BYWEEKNO", weekNumbers.map { "\($0)" })
    add("BYYEARDAY", yearDays.map { "\($0)" })
    add("BYDAY", weekdays.map(\.text))
    add("BYMONTHDAY", monthDays.map { "\($0)" })
    add("BYSETPOS", positions.map { "\($0)" })
    switch end {
    case .never: break
    case .count(let count): parts.append("COUNT=\(count)")
    case .until(let day): parts.append("UNTIL=\(Self.text(day))")
    }
    if weekStart != 1 { parts.append("WKST=\(RecurrenceWeekday.codes[weekStart - 1])") }
    return parts.joined(separator: ";")
  }

  private static func text(_ day: CalendarDay) -> String { day.iso8601.filter { $0 != "-" } }
}

/// Reads recurrence rules of RFC 5545, section 3.3.10, in any case and with the parts in any order.
///
/// An unsupported part is an error and is not skipped: without it the task would repeat on other days.
struct RecurrenceRuleParser {
  // The parts that the RFC defines. An error may name these; any other name could be the user's text.
  private static let supported = [
    "FREQ", "INTERVAL", "BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYDAY", "BYMONTHDAY", "BYSETPOS", "COUNT", "UNTIL", "WKST",
    "EXDATE",
  ]
  private static let unsupported = ["BYHOUR", "BYMINUTE", "BYSECOND"]
  private static let remedy = "Use FREQ, INTERVAL, the parts from BYMONTH to BYSETPOS, COUNT or UNTIL, WKST and EXDATE"

  private let timeZone: TimeZone
  private var values: [String: String] = [:]

  /// Reads a rule, with or without `RRULE:`; an `UNTIL` that is an instant means its day in the time zone.
  ///
  /// Lines of `EXDATE`, as calendars have them beside the rule, leave out their days (section 3.8.5.1).
  static func rule(_ text: String, timeZone: TimeZone) throws(TallyError) -> RecurrenceRule {
    var (parts, exceptions): ([Substring], [Substring]) = ([], [])
    for line in text.uppercased().split(whereSeparator: \.isNewline) {
      if let colon = line.firstIndex(of: ":"), ["EXDATE:", "EXDATE;"].contains(where: line.hasPrefix) {
        exceptions.append(line[colon...].dropFirst())
      } else {
        parts.append(line.dropFirst(line.hasPrefix("RRULE:") ? 6 : 0))
      }
    }
    if !exceptions.isEmpty { parts.append("EXDATE=\(exceptions.joined(separator: ","))") }
    return try Self(parts: parts.joined(separator: ";")[...], timeZone: timeZone).rule()
  }

  private init(parts text: Substring, timeZone: TimeZone) throws(TallyError) {
    self.timeZone = timeZone
    for part in text.split(separator: ";", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = sides.first ?? ""
      guard Self.supported.contains(name) else {
        let isKnown = Self.unsupported.contains(name)
        throw .invalidRecurrence(
          isKnown ? "\(name) is not supported" : "The rule has a part that is not known", remedy: Self.remedy)
      }
      guard sides.count == 2, values.updateValue(sides[1], forKey: name) == nil else {
        throw .invalidRecurrence("\(name) has no value, or occurs twice", remedy: "Write \(name)=VALUE once")
      }
    }
  }

  private func rule() throws(TallyError) -> RecurrenceRule {
    let weekStart = values["WKST"].map { RecurrenceWeekday.codes.firstIndex(of: $0) }
    guard weekStart != .some(nil) else { throw Self.malformed("WKST", remedy: "Write a weekday, as in WKST=MO") }
    return try RecurrenceRule(
      every: RecurrenceInterval(number(of: "INTERVAL") ?? 1, unit()),
      on: weekdays(),
      onMonthDays: numbers("BYMONTHDAY", as: "days of the month, as in BYMONTHDAY=1,15 or BYMONTHDAY=-1"),
      onYearDays: numbers("BYYEARDAY", as: "days of the year, as in BYYEARDAY=100 or BYYEARDAY=-1"),
      inWeeks: numbers("BYWEEKNO", as: "weeks of the year, as in BYWEEKNO=20"),
      inMonths: numbers("BYMONTH", as: "months, as in BYMONTH=1,7"),
      atPositions: numbers("BYSETPOS", as: "positions, as in BYSETPOS=1 or BYSETPOS=-1"), except: exceptions(),
      end: end(), weekStart: (weekStart ?? 0).map { $0 + 1 } ?? 1)
  }

  private func unit() throws(TallyError) -> RecurrenceUnit {
    guard let unit = RecurrenceUnit.allCases.first(where: { $0.frequency == values["FREQ"] }) else {
      throw .invalidRecurrence(
        "The rule has no FREQ, or one that is not supported", remedy: "Use HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY")
    }
    return unit
  }

  private func weekdays() throws(TallyError) -> [RecurrenceWeekday] {
    var weekdays: [RecurrenceWeekday] = []
    for value in list("BYDAY") {
      let (ordinal, code) = (value.dropLast(2), String(value.suffix(2)))
      guard let index = RecurrenceWeekday.codes.firstIndex(of: code),
        let number = ordinal.isEmpty ? .some(nil) : Self.number(ordinal).map(Optional.some)
      else { throw Self.malformed("BYDAY", remedy: "Write weekdays, as in BYDAY=MO,TH or BYDAY=-1FR") }
      weekdays.append(try RecurrenceWeekday(index + 1, ordinal: number))
    }
    return weekdays
  }

  /// The numbers of a part's list, which an error describes.
  private func numbers(_ name: String, as description: String) throws(TallyError) -> [Int] {
    let numbers = list(name).map { Self.number($0) }
    guard !numbers.contains(nil) else { throw Self.malformed(name, remedy: "Write \(description)") }
    return numbers.compactMap { $0 }
  }

  private func exceptions() throws(TallyError) -> [CalendarDay] {
    let days = list("EXDATE").map { lastDay(String($0)) }
    guard !days.contains(nil) else {
      throw Self.malformed("EXDATE", remedy: "Write days, as in EXDATE=20261224,20261231")
    }
    return days.compactMap { $0 }
  }

  private func end() throws(TallyError) -> RecurrenceEnd {
    guard let until = values["UNTIL"] else { return try number(of: "COUNT").map(RecurrenceEnd.count) ?? .never }
    guard values["COUNT"] == nil else {
      throw .invalidRecurrence("The rule has both COUNT and UNTIL", remedy: "Use one of them")
    }
    guard let day = lastDay(until) else {
      throw Self.malformed("UNTIL", remedy: "Write a day, as in UNTIL=20261231, or an instant in UTC")
    }
    return .until(day)
  }

  /// Reads a day (`20261231`), or the day of a local time (`20261231T235959`) or of an instant (`20261231T235959Z`); of a
  /// rule for hours, only if that is the end of the day.
  private func lastDay(_ text: String) -> CalendarDay? {
    let digits = text.filter { $0.isASCII && $0.isNumber }
    func field(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
    let day = "\(field(0, 4))-\(field(4, 2))-\(field(6, 2))"
    let time = "\(field(8, 2)):\(field(10, 2)):\(field(12, 2))"
    if text == digits, digits.utf8.count == 8 { return try? CalendarDay(iso8601: day) }
    guard digits.utf8.count == 14, let instant = try? Timestamp(iso8601: "\(day)T\(time)Z") else { return nil }
    let zone: TimeZone
    switch text {
    case "\(digits.prefix(8))T\(digits.dropFirst(8))": zone = .gmt
    case "\(digits.prefix(8))T\(digits.dropFirst(8))Z": zone = timeZone
    default: return nil
    }
    let last = CalendarDay(containing: instant, in: zone)
    let isEnd = CalendarDay(containing: instant.adding(seconds: 60), in: zone) > last
    return isEnd || values["FREQ"] != RecurrenceUnit.hour.frequency ? last : nil
  }

  /// The elements of a part's list; empty if the rule does not have the part.
  private func list(_ name: String) -> [Substring] {
    values[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
  }

  private func number(of name: String) throws(TallyError) -> Int? {
    guard let value = values[name] else { return nil }
    if value.utf8.count > 9, value.utf8.allSatisfy(\.isDigit) {
      throw .invalidRecurrence("The value of \(name) is too large", remedy: "Give a smaller number")
    }
    guard let number = Self.number(value[...]) else { throw Self.malformed(name, remedy: "Write \(name)=NUMBER") }
    return number
  }

  private static func number(_ text: Substring) -> Int? {
    // `Int` accepts any number of digits, but no valid value has more than nine.
    text.utf8.count <= 9 ? Int(text) : nil
  }

  private static func malformed(_ name: String, remedy: String) -> TallyError {
    .invalidRecurrence("The value of \(name) cannot be read", remedy: remedy)
  }
}
