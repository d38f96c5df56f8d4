extension RecurrencePhrase {
  /// How often something repeats, and on which days if the phrase has said it already.
  struct Repeats {
    var count: Int
    var unit: RecurrenceUnit
    var days = Days()

    /// Whether `if it is` may follow: where a day alone, or a day of the month, is not limited to weekdays.
    var canHaveCondition: Bool {
      unit == .day || (unit != .week && !days.monthDays.isEmpty)
    }
  }

  /// Reads `after 3 days` or `every 3 days after completion`.
  mutating func intervalAfterCompletion() -> (count: Int, unit: RecurrenceUnit)? {
    if take("after") || take("every!") { return interval() }
    _ = take("every")
    guard let interval = interval(), take("after", "completion") else { return nil }
    return interval
  }

  /// Reads how often something repeats.
  mutating func repeats() -> Repeats? {
    if let repeats = word({ Self.adverb($0) }) { return repeats }
    let isEvery = take("every")
    if let days = word({ Self.group($0) }) { return Repeats(count: 1, unit: .week, days: Days(weekdays: days)) }
    guard isEvery else { return nil }
    if take("other") {
      if let interval = attempt({ $0.unitInterval() }) {
        return Repeats(count: 2 * interval.count, unit: interval.unit)
      }
      guard let days = days(), days.areWeekdays else { return nil }
      return Repeats(count: 2, unit: .week, days: days)
    }
    if let interval = attempt({ $0.nthUnit() }) { return Repeats(count: interval.count, unit: interval.unit) }
    if let interval = attempt({ $0.interval() }) { return Repeats(count: interval.count, unit: interval.unit) }
    guard let days = days(), let unit = days.unitAfterEvery else { return nil }
    return Repeats(count: 1, unit: unit, days: days)
  }

  /// Reads `3rd day`, which comes every three days; the `3rd day of the month` is a day of each month.
  private mutating func nthUnit() -> (count: Int, unit: RecurrenceUnit)? {
    guard let count = ordinal(), count > 1, let interval = unitInterval(), !take("of") else { return nil }
    return (count * interval.count, interval.unit)
  }

  private mutating func interval() -> (count: Int, unit: RecurrenceUnit)? {
    let count = number()
    if count == nil { _ = take("a") }
    return unitInterval().map { ((count ?? 1) * $0.count, $0.unit) }
  }

  /// Reads a unit, of which some are several of another.
  private mutating func unitInterval() -> (count: Int, unit: RecurrenceUnit)? {
    if let unit = unit() { return (1, unit) }
    if take("quarter") || take("quarters") { return (3, .month) }
    return take("fortnight") || take("fortnights") ? (2, .week) : nil
  }

  private static func adverb(_ word: String) -> Repeats? {
    switch word {
    case "daily": Repeats(count: 1, unit: .day)
    case "weekly": Repeats(count: 1, unit: .week)
    case "fortnightly": Repeats(count: 2, unit: .week)
    case "monthly": Repeats(count: 1, unit: .month)
    case "quarterly": Repeats(count: 3, unit: .month)
    case "yearly", "annually": Repeats(count: 1, unit: .year)
    default: nil
    }
  }

  private static func group(_ word: String) -> [RecurrenceWeekday]? {
    let numbers: ClosedRange<Int>
    switch word {
    case "weekday", "weekdays", "workday", "workdays": numbers = 1...5
    case "weekend", "weekends": numbers = 6...7
    default: return nil
    }
    return numbers.compactMap { try? RecurrenceWeekday($0) }
  }
}

extension RecurrencePhrase {
  /// Reads until when, or how often.
  mutating func end() -> RecurrenceEnd? {
    if takeAfterComma("until") { return date().map { .until($0) } }
    _ = take(",")
    _ = take("for")
    guard let count = number(), take("times") || take("time") else { return nil }
    return .count(count)
  }

  /// Reads `2026-12-31`, `31 December 2026` or `December 31, 2026`.
  private mutating func date() -> CalendarDay? {
    if let day = word({ try? CalendarDay(iso8601: $0) }) { return day }
    let day: Int?
    let month: Int?
    if let number = number() {
      (day, month) = (number, word(CalendarNames.month))
    } else {
      (month, day) = (word(CalendarNames.month), number())
      _ = take(",")
    }
    guard let day, let month, let year = word({ $0.smallNumber }) else { return nil }
    return try? CalendarDay(year: year, month: month, day: day)
  }
}
