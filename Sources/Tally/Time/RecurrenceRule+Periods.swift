extension RecurrenceRule {
  /// The periods of a rule from a start: the days, weeks, months or years, each `interval` after the one before, that
  /// can have occurrences.
  struct Periods: Sendable {
    private let interval: RecurrenceInterval
    private let weekdays: [RecurrenceWeekday]
    private let monthDays: [Int]
    private let weekStart: Int
    private let start: CalendarDay
    /// Whether a year has no occurrences except in the month of the start.
    private let isMonthOfYear: Bool
  }
}

extension RecurrenceRule.Periods {
  /// The periods of a rule, which takes from the start what it does not say: the weekday, the day or the month.
  init(of rule: RecurrenceRule, from start: CalendarDay) {
    let takesDayOfStart = rule.weekdays.isEmpty && rule.monthDays.isEmpty
    let unit = rule.interval.unit
    weekdays = takesDayOfStart && unit == .week ? [RecurrenceWeekday(of: start)] : rule.weekdays
    monthDays = takesDayOfStart && (unit == .month || unit == .year) ? [start.day] : rule.monthDays
    isMonthOfYear = takesDayOfStart && unit == .year
    interval = rule.interval
    weekStart = rule.weekStart
    self.start = start
  }

  /// The numbers of the days of a period, counted from that of the start; `nil` after the year 9999.
  ///
  /// A week may begin before the year 1 or end after the year 9999.
  func days(ofPeriod index: Int) -> ClosedRange<Int>? {
    let distance = index * interval.count
    switch interval.unit {
    case .day:
      let day = Int(start.dayNumber) + distance
      return day > CalendarDay.latest.dayNumber ? nil : day...day
    case .week:
      let first = Int(start.dayNumber) - (start.weekday - weekStart + 7) % 7 + 7 * distance
      return first > CalendarDay.latest.dayNumber ? nil : first...(first + 6)
    case .month: return CivilMonth(of: start).adding(months: distance).days
    case .year:
      let year = start.year + distance
      guard !isMonthOfYear else { return CivilMonth(year: year, month: start.month).days }
      guard let january = CivilMonth(year: year, month: 1).days, let december = CivilMonth(year: year, month: 12).days
      else { return nil }
      return january.lowerBound...december.upperBound
    }
  }

  /// The period that a day from the start on lies in, or else the last one before it.
  func indexOfPeriod(upTo day: CalendarDay) -> Int {
    let distance =
      switch interval.unit {
      case .day: Int(day.dayNumber - start.dayNumber)
      case .week: (Int(day.dayNumber - start.dayNumber) + (start.weekday - weekStart + 7) % 7) / 7
      case .month: CivilMonth(of: day).months(since: CivilMonth(of: start))
      case .year: day.year - start.year
      }
    return distance / interval.count
  }

  /// The number of periods after which they repeat: the Gregorian calendar does after 400 years, which are whole weeks.
  ///
  /// If that many have no occurrence, none has.
  var countOfCycle: Int {
    let (days, months) = (146_097, 4_800)
    let cycle =
      switch interval.unit {
      case .day: days
      case .week: days / 7
      case .month: months
      case .year: months / 12
      }
    var (divisor, rest) = (cycle, interval.count)
    while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
    return cycle / divisor
  }

  /// Whether a day of a period is an occurrence.
  func contains(_ day: CalendarDay, in period: ClosedRange<Int>) -> Bool {
    containsWeekday(of: day, in: period) && containsMonthDay(of: day)
  }

  private func containsWeekday(of day: CalendarDay, in period: ClosedRange<Int>) -> Bool {
    guard !weekdays.isEmpty else { return true }
    let weekday = day.weekday
    let fromStart = (Int(day.dayNumber) - period.lowerBound) / 7 + 1
    let fromEnd = (Int(day.dayNumber) - period.upperBound) / 7 - 1
    return weekdays.contains {
      $0.weekday == weekday && ($0.ordinal == nil || $0.ordinal == fromStart || $0.ordinal == fromEnd)
    }
  }

  private func containsMonthDay(of day: CalendarDay) -> Bool {
    guard !monthDays.isEmpty else { return true }
    let fromStart = day.day
    guard !monthDays.contains(fromStart) else { return true }
    guard let last = monthDays.last, last < 0, let month = CivilMonth(of: day).days else { return false }
    return monthDays.contains(fromStart - month.count - 1)
  }
}
