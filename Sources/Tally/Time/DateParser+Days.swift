extension DateParser {
  /// Reads a day: a name or a date and distances from it, or only distances from today.
  mutating func day() -> DateExpression.Day? {
    attempt { parser in
      if let day = parser.distanceInWords() { return day }
      let base = parser.base()
      let offset = parser.offset(hasBase: base != nil)
      guard base != nil || offset != nil else { return nil }
      var day = base ?? DateExpression.Day(.today)
      guard let offset else { return day }
      // Hours count from the present: a day has no hour to count them from.
      guard offset.seconds == 0 else { return nil }
      day.offset.add(offset)
      return day
    }
  }

  mutating func base() -> DateExpression.Day? {
    if let date = isoDay() { return DateExpression.Day(.date(date)) }
    if let base = numericDay() ?? dayOfYear() ?? middleOfMonth() { return DateExpression.Day(base) }
    if let day = dayOfMonth() { return day }
    if let base = weekday() ?? weekend() { return DateExpression.Day(base) }
    return edgeOfPeriod() ?? namedDay() ?? relativePeriod()
  }

  private mutating func namedDay() -> DateExpression.Day? {
    let dayAfterTomorrow = attempt { parser in
      _ = parser.take("the")
      return parser.take(words: "day", "after", "tomorrow") ? DateExpression.Day(.today, days: 2) : nil
    }
    return dayAfterTomorrow
      ?? word { name in
        switch name {
        case "today", "tod", "eod": DateExpression.Day(.today)
        case "tomorrow", "tom", "tmr", "tmrw": DateExpression.Day(.today, days: 1)
        case "yesterday": DateExpression.Day(.today, days: -1)
        default: nil
        }
      }
  }

  /// Reads `friday`, `next friday` and `friday next week`.
  private mutating func weekday() -> DateExpression.Base? {
    attempt { parser in
      let occurrence = parser.occurrence() ?? .nearest
      guard let weekday = parser.word({ CalendarNames.commonWeekday($0) }) else { return nil }
      let isNextWeek = occurrence == .nearest && parser.take(words: "next", "week")
      return .weekday(weekday, isNextWeek ? .next : occurrence)
    }
  }

  /// Reads `this weekend` and the like: its Saturday.
  private mutating func weekend() -> DateExpression.Base? {
    attempt { parser in
      let isThis = parser.take(words: "at", "the") || parser.take("the")
      guard let occurrence = isThis ? .this : parser.occurrence(), parser.take("weekend") else { return nil }
      return .weekday(6, occurrence)
    }
  }

  /// Reads `eom`, `end of the month`, `beginning of next week`, `end of march`.
  private mutating func edgeOfPeriod() -> DateExpression.Day? {
    attempt { parser in
      if let base = parser.word({ Self.edges[$0] }) { return DateExpression.Day(base) }
      _ = parser.take(words: "at", "the") || parser.take("the")
      guard let isEnd = parser.word({ ["end": true, "start": false, "beginning": false][$0] }), parser.take("of")
      else { return nil }
      if let month = parser.word({ CalendarNames.commonMonth($0) }) { return Self.edge(ofMonth: month, isEnd: isEnd) }
      let isNext = parser.take("next")
      _ = isNext || parser.take("the") || parser.take("this")
      if isEnd, !isNext, parser.take("day") { return DateExpression.Day(.today) }
      return parser.word { Self.periods[$0] }.map { Self.edge(of: $0, isEnd: isEnd, isNext: isNext) }
    }
  }

  /// The first or the last day of a month; the last one is the day before the next month.
  private static func edge(ofMonth month: Int, isEnd: Bool) -> DateExpression.Day {
    isEnd
      ? DateExpression.Day(.dayOfYear(month: month % 12 + 1, day: 1), days: -1)
      : DateExpression.Day(.dayOfYear(month: month, day: 1))
  }

  private static func edge(of period: DateExpression.Period, isEnd: Bool, isNext: Bool) -> DateExpression.Day {
    guard isNext else { return DateExpression.Day(isEnd ? .end(period) : .start(period)) }
    switch period {
    case .week: return DateExpression.Day(isEnd ? .end(.week) : .start(.week), days: 7)
    // Months have different lengths, so the last day is counted from the month after it.
    case .month: return DateExpression.Day(.start(.month), months: isEnd ? 2 : 1, days: isEnd ? -1 : 0)
    case .year: return DateExpression.Day(isEnd ? .end(.year) : .start(.year), months: 12)
    }
  }

  /// Reads `next` and the like, before a blank or a hyphen.
  private mutating func occurrence() -> DateExpression.Occurrence? {
    let occurrence = word { ["this": DateExpression.Occurrence.this, "next": .next, "last": .last][$0] }
    if occurrence != nil { _ = take("-", isGlued: true) }
    return occurrence
  }

  /// Reads `next week` and the like, which is its first day, or `next week on friday`.
  private mutating func relativePeriod() -> DateExpression.Day? {
    attempt { parser in
      guard let occurrence = parser.occurrence(), occurrence != .this,
        let period = parser.word({ Self.periods[$0] })
      else { return nil }
      let sign = occurrence == .next ? 1 : -1
      switch period {
      case .week:
        if occurrence == .next, let weekday = parser.weekdayOfWeek() {
          return DateExpression.Day(.weekday(weekday, .next))
        }
        return DateExpression.Day(.start(period), days: 7 * sign)
      case .month: return DateExpression.Day(.start(period), months: sign)
      case .year: return DateExpression.Day(.start(period), months: 12 * sign)
      }
    }
  }

  /// Reads the weekday behind `next week`.
  private mutating func weekdayOfWeek() -> Int? {
    attempt { parser in
      _ = parser.take("on")
      return parser.word { CalendarNames.commonWeekday($0) }
    }
  }

  private static let periods: [String: DateExpression.Period] = ["week": .week, "month": .month, "year": .year]
  private static let edges: [String: DateExpression.Base] = [
    "sow": .start(.week), "som": .start(.month), "soy": .start(.year),
    "eow": .end(.week), "eom": .end(.month), "eoy": .end(.year),
  ]
}
