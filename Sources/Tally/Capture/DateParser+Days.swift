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

  private mutating func base() -> DateExpression.Day? {
    if let date = isoDay() { return DateExpression.Day(.date(date)) }
    if let base = dayOfYear() ?? dayOfMonth() { return DateExpression.Day(base) }
    if let base = namedBase() { return DateExpression.Day(base) }
    return namedDay() ?? relativePeriod()
  }

  private mutating func namedDay() -> DateExpression.Day? {
    let dayAfterTomorrow = attempt { parser in
      _ = parser.take("the")
      return parser.take(words: "day", "after", "tomorrow") ? DateExpression.Day(.today, days: 2) : nil
    }
    return dayAfterTomorrow
      ?? word { name in
        switch name {
        case "today", "eod": DateExpression.Day(.today)
        case "tomorrow", "tmr", "tmrw": DateExpression.Day(.today, days: 1)
        case "yesterday": DateExpression.Day(.today, days: -1)
        default: nil
        }
      }
  }

  /// Reads a weekday or the end of a period.
  private mutating func namedBase() -> DateExpression.Base? {
    let weekday = attempt { parser in
      let occurrence = parser.occurrence() ?? .nearest
      return parser.word { CalendarNames.commonWeekday($0) }.map { DateExpression.Base.weekday($0, occurrence) }
    }
    if let weekday { return weekday }
    return attempt { parser in
      if let base = parser.word({ Self.edges[$0] }) { return base }
      _ = parser.take(words: "at", "the") || parser.take("the")
      guard let isEnd = parser.word({ ["end": true, "start": false][$0] }), parser.take("of") else { return nil }
      _ = parser.take("the") || parser.take("this")
      return parser.word { Self.periods[$0] }.map { isEnd ? .end($0) : .start($0) }
    }
  }

  /// Reads `next` and the like, before a blank or a hyphen.
  private mutating func occurrence() -> DateExpression.Occurrence? {
    let occurrence = word { ["this": DateExpression.Occurrence.this, "next": .next, "last": .last][$0] }
    if occurrence != nil { _ = take("-", isGlued: true) }
    return occurrence
  }

  /// Reads `next week` and the like: its first day.
  private mutating func relativePeriod() -> DateExpression.Day? {
    attempt { parser in
      guard let occurrence = parser.occurrence(), occurrence != .this,
        let period = parser.word({ Self.periods[$0] })
      else { return nil }
      let sign = occurrence == .next ? 1 : -1
      switch period {
      case .week: return DateExpression.Day(.start(period), days: 7 * sign)
      case .month: return DateExpression.Day(.start(period), months: sign)
      case .year: return DateExpression.Day(.start(period), months: 12 * sign)
      }
    }
  }

  private static let periods: [String: DateExpression.Period] = ["week": .week, "month": .month, "year": .year]
  private static let edges: [String: DateExpression.Base] = [
    "sow": .start(.week), "som": .start(.month), "soy": .start(.year),
    "eow": .end(.week), "eom": .end(.month), "eoy": .end(.year),
  ]
}
