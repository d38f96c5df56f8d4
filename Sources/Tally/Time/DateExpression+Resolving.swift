/// The day or the instant that a ``DateExpression`` means at one moment.
public enum ResolvedDate: Hashable, Sendable {
  /// A calendar day without a time.
  case day(CalendarDay)
  /// A point in time.
  case instant(Timestamp)
}

extension DateExpression {
  /// The day or the instant that the expression means at a moment.
  ///
  /// - Throws: `valueOutOfRange` outside the years 1 to 9999.
  public func resolved(against reference: DateReference) throws(TallyError) -> ResolvedDate {
    switch form {
    case .day(let day): .day(try day.resolved(against: reference))
    case .time(let time): .instant(reference.instant(of: time))
    case .dayAndTime(let day, let time): .instant(try reference.instant(of: day, at: time))
    case .sinceNow(let offset): .instant(try reference.now.adding(offset, in: reference))
    case .instant(let instant): .instant(instant)
    }
  }
}

extension DateExpression.Day {
  func resolved(against reference: DateReference) throws(TallyError) -> CalendarDay {
    try base.resolved(against: reference).adding(offset)
  }
}

extension DateExpression.Base {
  fileprivate func resolved(against reference: DateReference) throws(TallyError) -> CalendarDay {
    let today = reference.today
    switch self {
    case .today: return today
    case .weekday(let weekday, let occurrence): return try reference.day(of: weekday, occurrence)
    case .date(let day): return day
    case .dayOfYear(let month, let day):
      // A 29 February is at most eight years away.
      return try reference.firstDay(day, among: 0...8) { CivilMonth(year: today.year + $0, month: month) }
    case .dayOfMonth(let day):
      return try reference.firstDay(day, among: 0...2) { CivilMonth(of: today).adding(months: $0) }
    case .start(let period): return try reference.start(of: period)
    case .end(.week): return try reference.start(of: .week).adding(days: 6)
    case .end(.month): return CivilMonth(of: today).days.map { CalendarDay(clamping: Int64($0.upperBound)) } ?? today
    case .end(.year): return try CalendarDay(year: today.year, month: 12, day: 31)
    }
  }
}

extension DateReference {
  fileprivate func day(of weekday: Int, _ occurrence: DateExpression.Occurrence) throws(TallyError) -> CalendarDay {
    let daysAhead = (weekday - today.weekday + 7) % 7
    let daysAfterToday = daysAhead == 0 ? 7 : daysAhead
    switch occurrence {
    case .nearest where direction == .forward: return try today.adding(days: daysAfterToday)
    case .nearest: return try today.adding(days: daysAhead == 0 ? 0 : daysAhead - 7)
    case .this: return try today.adding(days: daysAhead)
    case .next: return try start(of: .week).adding(days: 7 + (weekday - weekStart + 7) % 7)
    case .last: return try today.adding(days: daysAfterToday - 7 == 0 ? -7 : daysAfterToday - 7)
    }
  }

  /// The nearest day with a number, today included, among the following months or those before.
  fileprivate func firstDay(
    _ number: Int, among distances: ClosedRange<Int>, month: (Int) -> CivilMonth
  ) throws(TallyError) -> CalendarDay {
    for distance in distances {
      guard let days = month(direction == .forward ? distance : -distance).days, number <= days.count else { continue }
      let day = CalendarDay(clamping: Int64(days.lowerBound + number - 1))
      if direction == .forward ? day >= today : day <= today { return day }
    }
    throw ISO8601Fault.yearOutOfRange.dayError
  }

  fileprivate func start(of period: DateExpression.Period) throws(TallyError) -> CalendarDay {
    switch period {
    case .week: try today.adding(days: -((today.weekday - weekStart + 7) % 7))
    case .month: try CalendarDay(year: today.year, month: today.month, day: 1)
    case .year: try CalendarDay(year: today.year, month: 1, day: 1)
    }
  }
}

extension DateReference {
  /// The next instant after the present at which a clock shows a time, or the last one up to it.
  fileprivate func instant(of time: DateExpression.TimeOfDay) -> Timestamp {
    let day = Int64(CalendarDay(containing: now, in: timeZone).dayNumber)
    func instant(_ distance: Int64) -> Timestamp {
      CalendarDay(clamping: day + distance).instant(atMinute: time.minute, in: timeZone)
    }
    let today = instant(0)
    switch direction {
    case .forward: return today > now ? today : instant(1)
    case .backward: return today <= now ? today : instant(-1)
    }
  }

  fileprivate func instant(
    of day: DateExpression.Day, at time: DateExpression.TimeOfDay
  ) throws(TallyError) -> Timestamp {
    let resolved = try day.resolved(against: self)
    let instant = resolved.instant(atMinute: time.minute, in: timeZone)
    // Friday at 17:00, said of the past on a Friday morning, was a week ago.
    guard direction == .backward, instant > now, case .weekday(_, .nearest) = day.base, day.offset == .zero else {
      return instant
    }
    return try resolved.adding(days: -7).instant(atMinute: time.minute, in: timeZone)
  }
}
