extension DateParser {
  /// Reads `YYYY-MM-DD`.
  mutating func isoDay() -> CalendarDay? {
    noteIfTooLarge(digits: 4, ISO8601Fault.yearOutOfRange.dayError) { ahead in
      ahead.take("-", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
        && ahead.take("-", isGlued: true) && ahead.number(digits: 2...2, isGlued: true) != nil
    }
    return attempt { parser in
      guard let year = parser.number(digits: 4...4), parser.take("-", isGlued: true),
        let month = parser.number(digits: 2...2, isGlued: true), parser.take("-", isGlued: true),
        let day = parser.number(digits: 2...2, isGlued: true)
      else { return nil }
      return parser.existing(year: year, month: month, day: day)
    }
  }

  /// Reads a day and a month by its name, in either order, with or without a year.
  mutating func dayOfYear() -> DateExpression.Base? {
    attempt { parser in
      guard let (month, day) = parser.dayThenMonth() ?? parser.monthThenDay() else { return nil }
      if let year = parser.year() { return parser.existing(year: year, month: month, day: day).map { .date($0) } }
      // Every fourth year is a leap year, except at the end of most centuries.
      guard CivilDate(year: 2_000, month: month, day: day).exists else {
        parser.fault = ISO8601Fault.impossibleDay.dayError
        return nil
      }
      return .dayOfYear(month: month, day: day)
    }
  }

  /// Reads `25 nov`, `25th of november`, `25nov`.
  private mutating func dayThenMonth() -> (month: Int, day: Int)? {
    noteIfTooLarge(digits: 2, ISO8601Fault.impossibleDay.dayError) { ahead in
      if ahead.ordinalEnding() { return true }
      return ahead.word { CalendarNames.commonMonth($0) } != nil
    }
    return attempt { parser in
      _ = parser.take("the")
      guard let day = parser.dayNumber() else { return nil }
      return parser.word { CalendarNames.commonMonth($0) }.map { ($0, day) }
    }
  }

  /// Reads the number before a month: `25`, `25th of`, `first of`.
  private mutating func dayNumber() -> Int? {
    attempt { parser in
      if let day = parser.word({ Int.ordinalWords.firstIndex(of: $0) }) { return parser.take("of") ? day + 1 : nil }
      guard let day = parser.number(digits: 1...2) else { return nil }
      if parser.ordinalEnding() { _ = parser.take("of") }
      return day
    }
  }

  /// Reads `mid january` and `mid-january`: its 15th day.
  mutating func middleOfMonth() -> DateExpression.Base? {
    attempt { parser in
      guard parser.take("mid") else { return nil }
      _ = parser.take("-", isGlued: true)
      return parser.word { CalendarNames.commonMonth($0) }.map { .dayOfYear(month: $0, day: 15) }
    }
  }

  /// Reads `nov 25`, `november 25th`, `nov25`.
  private mutating func monthThenDay() -> (month: Int, day: Int)? {
    attempt { parser in
      guard let month = parser.word({ CalendarNames.commonMonth($0) }) else { return nil }
      _ = parser.take("the")
      parser.noteIfTooLarge(digits: 2, ISO8601Fault.impossibleDay.dayError) { _ in true }
      guard let day = parser.number(digits: 1...2) else { return nil }
      _ = parser.ordinalEnding()
      return (month, day)
    }
  }

  /// Reads a year of four digits, after a comma or not.
  private mutating func year() -> Int? {
    attempt { parser in
      _ = parser.take(",", isGlued: true)
      parser.noteIfTooLarge(digits: 4, ISO8601Fault.yearOutOfRange.dayError) { _ in true }
      return parser.number(digits: 4...4)
    }
  }

  /// Reads `15th`, `the first`, `15th of the month` and `15th of next month`.
  mutating func dayOfMonth() -> DateExpression.Day? {
    attempt { parser in
      let hasArticle = parser.take("the")
      guard let day = parser.ordinal(allowsWords: hasArticle) else { return nil }
      guard (1...31).contains(day) else {
        parser.fault = ISO8601Fault.impossibleDay.dayError
        return nil
      }
      if parser.take(words: "of", "next", "month") {
        return DateExpression.Day(.start(.month), months: 1, days: day - 1)
      }
      _ = parser.take(words: "of", "the", "month") || parser.take(words: "of", "this", "month")
      return DateExpression.Day(.dayOfMonth(day))
    }
  }

  private mutating func ordinal(allowsWords: Bool) -> Int? {
    attempt { parser in
      if allowsWords, let index = parser.word({ Int.ordinalWords.firstIndex(of: $0) }) { return index + 1 }
      guard let day = parser.number(digits: 1...2), parser.ordinalEnding() else { return nil }
      return day
    }
  }

  private mutating func ordinalEnding() -> Bool {
    word(isGlued: true) { ["st", "nd", "rd", "th"].contains($0) ? true : nil } ?? false
  }

  private mutating func existing(year: Int, month: Int, day: Int) -> CalendarDay? {
    do throws(TallyError) {
      return try CalendarDay(year: year, month: month, day: day)
    } catch {
      fault = error
      return nil
    }
  }
}

// Dates in digits. Dots are always written day first, and four digits first are a year.
extension DateParser {
  /// Reads `24/12`, `12/24/2026`, `24.12.`, `24.12.2026`, `24-12-2026` and `2026/12/24`.
  mutating func numericDay() -> DateExpression.Base? {
    attempt { parser in
      if let year = parser.number(digits: 4...4) {
        guard let separator = parser.separator(among: ["/", "."]), let month = parser.digits(),
          parser.take(separator, isGlued: true), let day = parser.digits(), !parser.isInNumber
        else { return nil }
        return parser.existing(year: year, month: month, day: day).map { .date($0) }
      }
      guard let first = parser.number(digits: 1...2), let separator = parser.separator(among: ["/", ".", "-"]),
        let second = parser.digits()
      else { return nil }
      let year = parser.year(behind: separator)
      // `24.12` is a number, and `24-12` a span.
      guard year != nil || separator == "/" || separator == "." && parser.endsDottedDay(), !parser.isInNumber,
        let (day, month) = parser.dayAndMonth(first, second, hasDots: separator == ".")
      else { return nil }
      return parser.base(year: year, month: month, day: day)
    }
  }

  private mutating func base(year: Int?, month: Int, day: Int) -> DateExpression.Base? {
    if let year { return existing(year: year, month: month, day: day).map { .date($0) } }
    guard CivilDate(year: 2_000, month: month, day: day).exists else {
      fault = ISO8601Fault.impossibleDay.dayError
      return nil
    }
    return .dayOfYear(month: month, day: day)
  }

  private mutating func digits() -> Int? { number(digits: 1...2, isGlued: true) }

  private mutating func separator(among separators: [String]) -> String? {
    separators.first { take($0, isGlued: true) }
  }

  /// Reads a year of four digits, or of two in this century.
  private mutating func year(behind separator: String) -> Int? {
    attempt { parser in
      guard parser.take(separator, isGlued: true) else { return nil }
      if let year = parser.number(digits: 4...4, isGlued: true) { return year }
      return separator == "-" ? nil : parser.number(digits: 2...2, isGlued: true).map { 2_000 + $0 }
    }
  }

  /// Reads the last dot of `24.12.`, behind which a blank must follow.
  private mutating func endsDottedDay() -> Bool {
    let hasDot = attempt { $0.take(".", isGlued: true) && $0.token(isGlued: true) == nil ? true : nil }
    return hasDot ?? (allowsDecimals && token(isGlued: true) == nil)
  }

  /// Whether the digits go on, as in `1/2/3/4` and `24/12x`.
  private var isInNumber: Bool {
    guard let next = token(isGlued: true) else { return false }
    return next.kind != .symbol || ["/", "-", "%", "°"].contains(next.text)
  }

  /// Which of two numbers is the day: the one that can be no month, else by the order.
  private mutating func dayAndMonth(_ first: Int, _ second: Int, hasDots: Bool) -> (day: Int, month: Int)? {
    let (months, days) = (1...12, 1...31)
    let canBeDayFirst = days.contains(first) && months.contains(second)
    let canBeMonthFirst = !hasDots && months.contains(first) && days.contains(second)
    switch (canBeDayFirst, canBeMonthFirst) {
    case (true, false): return (first, second)
    case (false, true): return (second, first)
    case (false, false):
      fault = ISO8601Fault.impossibleDay.dayError
      return nil
    case (true, true) where first == second || dateOrder == .dayFirst: return (first, second)
    case (true, true) where dateOrder == .monthFirst: return (second, first)
    case (true, true):
      fault = TallyError(
        .invalidDay, "The date can mean two days",
        remedy: "Write the month as a word, as in 3 apr, or the date as YYYY-MM-DD")
      return nil
    }
  }
}
