/// The days of a rule, in ascending order, found one by one.
///
/// The same as those of the Python library dateutil for a rule that starts at midnight, with one difference: `BYDAY` with
/// and without ordinals in one rule (`MO,-1FR`) gives the days of both, as RFC 5545 says.
public struct RecurrenceOccurrences: Sequence, Sendable {
  fileprivate let rule: RecurrenceRule
  fileprivate let start: CalendarDay

  /// Begins again at the first day.
  public func makeIterator() -> Iterator {
    Iterator(rule, from: start)
  }

  /// Finds the days of a rule.
  ///
  /// Ends with the year 9999, and sooner for a rule that never matches, such as the 30th of every twelfth month from
  /// February on.
  public struct Iterator: IteratorProtocol, Sendable {
    private let periods: RecurrenceRule.Periods
    private let lastDay: Int
    private var remainingCount: Int
    private var indexOfPeriod = 0
    private var emptyPeriodCount = 0
    /// The days of the current period; `nil` at the end.
    private var period: ClosedRange<Int>?
    /// The number of the next day to look at.
    private var day: Int

    fileprivate init(_ rule: RecurrenceRule, from start: CalendarDay) {
      periods = RecurrenceRule.Periods(of: rule, from: start)
      var (lastDay, count) = (CalendarDay.latest, Int.max)
      switch rule.end {
      case .never: break
      case .count(let number): count = number
      case .until(let day): lastDay = day
      }
      self.lastDay = Int(lastDay.dayNumber)
      remainingCount = count
      day = Int(start.dayNumber)
      period = periods.days(ofPeriod: 0)
    }

    /// Finds the next day.
    ///
    /// - Returns: The day; `nil` after the last one.
    /// - Complexity: proportional to the number of days in the periods up to the occurrence.
    public mutating func next() -> CalendarDay? {
      while let period, day <= lastDay, remainingCount > 0 {
        while day <= Swift.min(period.upperBound, lastDay) {
          let candidate = CalendarDay(clamping: Int64(day))
          day += 1
          guard periods.contains(candidate, in: period) else { continue }
          remainingCount -= 1
          emptyPeriodCount = -1
          return candidate
        }
        emptyPeriodCount += 1
        move(toPeriod: indexOfPeriod + 1)
      }
      return nil
    }

    private mutating func move(toPeriod index: Int) {
      indexOfPeriod = index
      // The first period may have lost its occurrences to the start or a skip.
      period = emptyPeriodCount > periods.countOfCycle ? nil : periods.days(ofPeriod: index)
      day = Swift.max(day, period?.lowerBound ?? day)
    }

    /// Leaves out the days before another one; not for a rule with a count, which must see them.
    fileprivate mutating func skip(to day: CalendarDay) {
      guard day.dayNumber > self.day else { return }
      self.day = Int(day.dayNumber)
      move(toPeriod: periods.indexOfPeriod(upTo: day))
    }
  }
}

extension RecurrenceRule {
  /// The rule's days from a start on; the start is one of them only if it matches the rule.
  ///
  /// - Complexity: none; the days are found as they are asked for.
  public func occurrences(from start: CalendarDay) -> RecurrenceOccurrences {
    RecurrenceOccurrences(rule: self, start: start)
  }

  /// The first occurrence after a day.
  ///
  /// - Parameters:
  ///   - day: The day before the first one that can be returned.
  ///   - start: The day with which the rule begins.
  /// - Returns: The day; `nil` if the rule has ended by then.
  /// - Complexity: a few periods however long ago the start is; with ``RecurrenceEnd/count(_:)``, a step for each
  ///   occurrence since.
  public func next(after day: CalendarDay, from start: CalendarDay) -> CalendarDay? {
    guard let earliest = try? day.adding(days: 1) else { return nil }
    var days = occurrences(from: start).makeIterator()
    if case .count = end {} else { days.skip(to: earliest) }
    while let next = days.next() {
      if next >= earliest { return next }
    }
    return nil
  }

  /// Which occurrence a day is, counted from 1; `nil` if it is not one.
  ///
  /// - Complexity: a step for each occurrence up to the day.
  public func number(of day: CalendarDay, from start: CalendarDay) -> Int? {
    let days = occurrences(from: start).prefix { $0 <= day }
    return days.last == day ? days.count : nil
  }
}
