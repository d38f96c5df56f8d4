import Foundation

/// Reads the recurrence rules of RFC 5545, section 3.3.10, in any case and with the parts in any order.
///
/// A part that is not supported is an error, not left out: without it the task would repeat on other days.
struct RecurrenceRuleParser {
  // The parts that the RFC defines. An error may name these; any other could be a text of a user.
  private static let supported = ["FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "COUNT", "UNTIL", "WKST"]
  private static let unsupported = ["BYMONTH", "BYYEARDAY", "BYWEEKNO", "BYSETPOS", "BYHOUR", "BYMINUTE", "BYSECOND"]
  private static let remedy = "Use FREQ, INTERVAL, BYDAY, BYMONTHDAY, COUNT or UNTIL, and WKST"

  private let timeZone: TimeZone
  private var values: [String: String] = [:]

  /// Reads a rule, with or without `RRULE:`; an `UNTIL` that is an instant means its day in the time zone.
  static func rule(_ text: String, timeZone: TimeZone) throws(TallyError) -> RecurrenceRule {
    let text = text.uppercased()
    let parser = try Self(parts: text.dropFirst(text.hasPrefix("RRULE:") ? 6 : 0), timeZone: timeZone)
    return try parser.rule()
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
      on: weekdays(), onMonthDays: monthDays(), end: end(), weekStart: (weekStart ?? 0).map { $0 + 1 } ?? 1)
  }

  private func unit() throws(TallyError) -> RecurrenceUnit {
    guard let unit = RecurrenceUnit.allCases.first(where: { $0.frequency == values["FREQ"] }) else {
      throw .invalidRecurrence(
        "The rule has no FREQ, or one that is not supported", remedy: "Use DAILY, WEEKLY, MONTHLY or YEARLY")
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

  private func monthDays() throws(TallyError) -> [Int] {
    let days = list("BYMONTHDAY").map { Self.number($0) }
    guard !days.contains(nil) else {
      throw Self.malformed("BYMONTHDAY", remedy: "Write days of the month, as in BYMONTHDAY=1,15 or BYMONTHDAY=-1")
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

  /// A day (`20261231`), the day of a local time (`20261231T235959`), or that of an instant (`20261231T235959Z`).
  private func lastDay(_ text: String) -> CalendarDay? {
    let digits = text.filter { $0.isASCII && $0.isNumber }
    func field(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
    let day = "\(field(0, 4))-\(field(4, 2))-\(field(6, 2))"
    let time = "\(field(8, 2)):\(field(10, 2)):\(field(12, 2))"
    if text == digits, digits.utf8.count == 8 { return try? CalendarDay(iso8601: day) }
    guard digits.utf8.count == 14, let instant = try? Timestamp(iso8601: "\(day)T\(time)Z") else { return nil }
    switch text {
    case "\(digits.prefix(8))T\(digits.dropFirst(8))": return CalendarDay(containing: instant, in: .gmt)
    case "\(digits.prefix(8))T\(digits.dropFirst(8))Z": return CalendarDay(containing: instant, in: timeZone)
    default: return nil
    }
  }

  /// The elements of a part's list; none for a part that is not there.
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
    // `Int` also accepts digits without a limit to their number, none of which is in any range.
    text.utf8.count <= 9 ? Int(text) : nil
  }

  private static func malformed(_ name: String, remedy: String) -> TallyError {
    .invalidRecurrence("The value of \(name) cannot be read", remedy: remedy)
  }
}
