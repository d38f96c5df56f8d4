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
      guard let day = parser.number(digits: 1...2) else { return nil }
      if parser.ordinalEnding() { _ = parser.take("of") }
      return parser.word { CalendarNames.commonMonth($0) }.map { ($0, day) }
    }
  }

  /// Reads `nov 25`, `november 25th`, `nov25`.
  private mutating func monthThenDay() -> (month: Int, day: Int)? {
    attempt { parser in
      guard let month = parser.word({ CalendarNames.commonMonth($0) }) else { return nil }
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

  /// Reads `15th`: that day of a month.
  mutating func dayOfMonth() -> DateExpression.Base? {
    attempt { parser in
      _ = parser.take("the")
      guard let day = parser.number(digits: 1...2), parser.ordinalEnding() else { return nil }
      guard (1...31).contains(day) else {
        parser.fault = ISO8601Fault.impossibleDay.dayError
        return nil
      }
      return .dayOfMonth(day)
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
