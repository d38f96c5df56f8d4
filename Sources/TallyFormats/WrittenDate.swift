import Foundation
import Tally

/// A date as people and programs write it in tables and texts: a day, or an instant.
enum WrittenDate {
  case day(CalendarDay)
  case instant(Timestamp)

  /// Reads a date: ISO 8601 in its usual forms, `24.12.2026`, `12/24/2026 5:30 PM`, `24 Dec 2026`, `Dec 24, 2026 at 17:30`.
  ///
  /// If either of two numbers may be the day, the context's order decides; without an order, the text is not a date.
  /// - Returns: `nil` for any other text.
  init?(_ text: String, _ context: FormatContext) {
    let text = text.trimmed
    if let day = try? CalendarDay(iso8601: text) {
      self = .day(day)
    } else if let instant = Self.instant(text) {
      self = .instant(instant)
    } else if let (day, rest) = Self.numericDay(text, context.options.dateOrder) {
      guard let date = Self.day(day, at: rest, context) else { return nil }
      self = date
    } else {
      guard Self.namesMonth(text), let date = Self(expression: Self.withoutSeconds(text), context) else { return nil }
      self = date
    }
  }

  /// The order of days and months in texts of which some are dates; `nil` if no text shows it, or if the texts differ.
  static func order(_ texts: some Sequence<String>) -> DateOrder? {
    var orders: Set<DateOrder> = []
    for text in texts {
      guard let match = text.prefixMatch(of: /\s*(\d{1,2})[\/-](\d{1,2})[\/-](\d{4}|\d{2})(?!\d)/),
        let first = Int(match.1), let second = Int(match.2)
      else { continue }
      if (13...31).contains(first), (1...12).contains(second) { orders.insert(.dayFirst) }
      if (13...31).contains(second), (1...12).contains(first) { orders.insert(.monthFirst) }
    }
    return orders.count == 1 ? orders.first : nil
  }

  /// The day, in the context's zone.
  func day(_ context: FormatContext) -> CalendarDay {
    switch self {
    case .day(let day): day
    case .instant(let instant): context.day(of: instant)
    }
  }

  /// The instant; for a day, the first instant of that day.
  func instant(_ context: FormatContext) -> Timestamp {
    switch self {
    case .day(let day): context.start(of: day)
    case .instant(let instant): instant
    }
  }

  /// An instant with a zone; the offset may lack its colon, as in `+0000`.
  private static func instant(_ text: String) -> Timestamp? {
    if let instant = try? Timestamp(iso8601: text) { return instant }
    guard text.count > 5, text.contains("T") || text.contains(" "), let sign = text.dropLast(4).last,
      "+-".contains(sign),
      text.suffix(4).allSatisfy(\.isNumber)
    else { return nil }
    let colon = text.dropLast(2) + ":" + text.suffix(2)
    return try? Timestamp(iso8601: String(colon))
  }

  /// A day of three numbers, and the text after it.
  private static func numericDay(_ text: String, _ order: DateOrder?) -> (CalendarDay, rest: String)? {
    var rest = text[...]
    guard let first = number(&rest), let separator = rest.first, "./-".contains(separator) else { return nil }
    rest.removeFirst()
    guard let second = number(&rest), rest.first == separator else { return nil }
    rest.removeFirst()
    guard let third = number(&rest), rest.first.map({ " ,T".contains($0) }) ?? true else { return nil }
    let words = rest.drop { " ,T".contains($0) }
    guard let day = day(first, second, third, isDotted: separator == ".", order) else { return nil }
    return (day, String(words))
  }

  private static func number(_ text: inout Substring) -> (value: Int, digits: Int)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard (1...4).contains(digits.count), let value = Int(digits) else { return nil }
    text.removeFirst(digits.count)
    return (value, digits.count)
  }

  private static func day(
    _ first: (value: Int, digits: Int), _ second: (value: Int, digits: Int), _ third: (value: Int, digits: Int),
    isDotted: Bool, _ order: DateOrder?
  ) -> CalendarDay? {
    if first.digits == 4 { return try? CalendarDay(year: first.value, month: second.value, day: third.value) }
    let year = third.digits == 4 ? third.value : third.digits == 2 ? 2_000 + third.value : 0
    // A number above twelve is not a month; with dots, the day always comes before the month.
    let isDayFirst =
      first.value > 12 || isDotted ? true : second.value > 12 ? false : order.map { $0 == .dayFirst }
    guard let isDayFirst = isDayFirst ?? (first.value == second.value ? true : nil) else { return nil }
    return try? CalendarDay(
      year: year, month: isDayFirst ? second.value : first.value, day: isDayFirst ? first.value : second.value)
  }

  /// A day with a time in words, or without a time.
  private static func day(_ day: CalendarDay, at time: String, _ context: FormatContext) -> WrittenDate? {
    time.isEmpty ? .day(day) : Self(expression: "\(day.iso8601) \(withoutSeconds(time))", context)
  }

  /// Reads a date in words, such as `tomorrow 9:00`; `nil` for any other text.
  init?(expression text: String, _ context: FormatContext) {
    let reference = DateReference(now: context.now, calendar: context.calendar)
    switch try? DateExpression(text, dateOrder: context.options.dateOrder).resolved(against: reference) {
    case .day(let day)?: self = .day(day)
    case .instant(let instant)?: self = .instant(instant)
    case nil: return nil
    }
  }

  /// Whether a text has the name of a month and a number: `tomorrow` would mean the day after the import.
  private static func namesMonth(_ text: String) -> Bool {
    let words = text.lowercased().split { !$0.isLetter }
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    return text.contains(where: \.isNumber) && words.contains { word in months.contains { word.hasPrefix($0) } }
  }

  /// A time without its seconds and their parts: `17:30:00.000` as `17:30`.
  private static func withoutSeconds(_ text: String) -> String {
    text.replacing(/(\d{1,2}:\d{2}):\d{2}(?:[.,]\d+)?/) { String($0.output.1) }.trimmed
  }
}
