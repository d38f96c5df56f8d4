extension Recurrence {
  /// The recurrence in English: `every 2 weeks on Monday and Thursday, until 31 December 2026`.
  ///
  /// ``init(phrase:)`` reads it back.
  public var words: String {
    switch self {
    case .rule(let rule): rule.words
    case .afterCompletion(let interval): "\(interval.counted) after completion"
    }
  }
}

extension Recurrence: CustomStringConvertible {
  /// The same as ``words``.
  public var description: String { words }
}

extension RecurrenceRule {
  /// The rule in English.
  var words: String {
    var words = "every " + (nameOfWeekly ?? "\(interval.words)\(limits)")
    if weekStart != 1 { words += ", with weeks from \(CalendarNames.weekdays[weekStart - 1])" }
    switch end {
    case .never: break
    case .count(let count): words += ", \(count) time\(count == 1 ? "" : "s")"
    case .until(let day): words += ", until \(day.day) \(CalendarNames.months[day.month - 1]) \(day.year)"
    }
    return words
  }

  /// The weekdays of a rule for every week: `weekday`, `Monday and Thursday`.
  private var nameOfWeekly: String? {
    guard interval.unit == .week, interval.count == 1, !weekdays.isEmpty else { return nil }
    return weekdays.map(\.weekday) == Array(1...5) ? "weekday" : Self.list(weekdays.map(\.name), "and")
  }

  private var limits: String {
    let days = monthDays.map { "the \($0.ordinalNumber)" + ($0 < 0 ? " day" : "") }
    switch interval.unit {
    case .day:
      let names = [Self.list(days, "or"), Self.list(weekdays.map { $0.words(each: "a ") }, "or")].filter { !$0.isEmpty }
      return names.isEmpty ? "" : " if it is \(names.joined(separator: " and "))"
    case .week: return weekdays.isEmpty ? "" : " on \(Self.list(weekdays.map(\.name), "and"))"
    case .month, .year:
      guard !days.isEmpty else {
        return weekdays.isEmpty ? "" : " on \(Self.list(weekdays.map { $0.words(each: "each ") }, "and"))"
      }
      let months = interval.unit == .year ? " of each month" : ""
      let condition = weekdays.isEmpty ? "" : " if it is \(Self.list(weekdays.map { $0.words(each: "a ") }, "or"))"
      return " on \(Self.list(days, "and"))\(months)\(condition)"
    }
  }

  /// `a`, `a and b`, `a, b and c`.
  private static func list(_ names: [String], _ conjunction: String) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }
}

extension RecurrenceWeekday {
  fileprivate var name: String { CalendarNames.weekdays[weekday - 1] }

  /// `the last Friday`, or `each Friday`.
  fileprivate func words(each: String) -> String {
    ordinal.map { "the \($0.ordinalWord) \(name)" } ?? "\(each)\(name)"
  }
}

extension Int {
  /// The words for small ordinals, from the first on.
  static let ordinalWords = ["first", "second", "third", "fourth", "fifth"]

  /// The number as an ordinal in digits: `1st`, `22nd`, `11th`; from the end: `last`, `2nd to last`.
  fileprivate var ordinalNumber: String { ordinal { "\($0)\($0.ordinalEnding)" } }

  /// The number as an ordinal: `first`, `20th`; from the end: `last`, `second to last`.
  fileprivate var ordinalWord: String {
    ordinal { $0 <= Self.ordinalWords.count ? Self.ordinalWords[$0 - 1] : "\($0)\($0.ordinalEnding)" }
  }

  private func ordinal(_ name: (Int) -> String) -> String {
    self > 0 ? name(self) : self == -1 ? "last" : "\(name(-self)) to last"
  }

  var ordinalEnding: String {
    switch (self % 10, self / 10 % 10) {
    case (1, let tens) where tens != 1: "st"
    case (2, let tens) where tens != 1: "nd"
    case (3, let tens) where tens != 1: "rd"
    default: "th"
    }
  }
}
