import Foundation
public import TallyEngine

/// A rule for days at regular places of the calendar (every other Monday, the last day of each month), or for hours.
///
/// The recurrence rules of RFC 5545, section 3.3.10, with `FREQ` from `HOURLY` to `YEARLY`, and days that are left out
/// (`EXDATE`). Its occurrences are days; only a ``TaskSeries`` with a rule for hours (every 8 hours) has several on one day,
/// which follow from the time of its first task. The parts for hours, minutes and seconds are not supported.
///
/// ```swift
/// let rule = try RecurrenceRule(every: RecurrenceInterval(2, .week), on: [RecurrenceWeekday(1), RecurrenceWeekday(4)])
/// rule.text                                      // "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"
/// rule.next(after: today, from: today)           // the first such day after today
/// ```
///
/// Two rules are equal if their parts are equal, in whatever order the parts were given.
public struct RecurrenceRule: Hashable, Sendable {
  /// The distance between the hours, days, weeks, months or years that have occurrences: `FREQ` and `INTERVAL`.
  public internal(set) var interval: RecurrenceInterval
  /// The weekdays on which occurrences fall, sorted: `BYDAY`; empty if there is no such limit.
  ///
  /// In a rule for years, an ordinal counts within each of the ``months``, or within the year if there are none.
  public internal(set) var weekdays: [RecurrenceWeekday]
  /// The days of the month on which occurrences fall, sorted: `BYMONTHDAY`; empty if there is no such limit.
  ///
  /// From 1 to 31, or from -31 to -1 counted from the end of the month. Months that are too short are skipped.
  public internal(set) var monthDays: [Int]
  /// The days of the year on which occurrences fall, sorted: `BYYEARDAY`; empty if there is no such limit.
  ///
  /// From 1 to 366, or from -366 to -1 counted from the end of the year.
  public internal(set) var yearDays: [Int] = []
  /// The numbers of the weeks in which occurrences fall, sorted: `BYWEEKNO`; empty if there is no such limit.
  ///
  /// From 1 to 53, or from -53 to -1 counted from the end of the year. The first week of a year is the first that has
  /// at least four days of it.
  public internal(set) var weekNumbers: [Int] = []
  /// The months in which occurrences fall, from 1 for January, sorted: `BYMONTH`; empty if there is no such limit.
  public internal(set) var months: [Int] = []
  /// Which of the days of each period are occurrences, sorted: `BYSETPOS`; empty for all of them.
  ///
  /// 1 is the first day that the other parts give within a day, week, month or year, and -1 the last.
  public internal(set) var positions: [Int] = []
  /// The days that are left out although the rule gives them, sorted: `EXDATE`.
  ///
  /// They count as occurrences for ``RecurrenceEnd/count(_:)``.
  public internal(set) var exceptions: [CalendarDay] = []
  /// When the rule ends: `COUNT` or `UNTIL`.
  public internal(set) var end: RecurrenceEnd
  /// The first day of the week, from 1 for Monday to 7 for Sunday: `WKST`.
  ///
  /// It decides which weeks a rule such as every other week means, and is 1 where it makes no difference.
  public internal(set) var weekStart: Int

  /// Creates a rule.
  ///
  /// Without any days, occurrences fall on the start's weekday, on its day of the month, or on its month and day,
  /// depending on the unit.
  ///
  /// - Parameters:
  ///   - interval: The distance between the hours, days, weeks, months or years that have occurrences; a rule for hours
  ///     has no limits but weekdays and months.
  ///   - weekdays: The weekdays; ordinals are allowed only for months and years.
  ///   - monthDays: The days of the month, from 1, or from -1 counted from the end; not allowed for weeks.
  ///   - yearDays: The days of the year, from 1, or from -1 counted from the end; allowed only for years.
  ///   - weekNumbers: The weeks of the year, from 1, or from -1 counted from the end; allowed only for years.
  ///   - months: The months.
  ///   - positions: The places among the days of a period; they need another limit as well.
  ///   - exceptions: The days to leave out, at most ``mostExceptions``.
  ///   - end: When the rule ends.
  ///   - weekStart: The first day of the week, from 1 for Monday to 7 for Sunday.
  /// - Throws: `invalidRecurrence` if a value is out of its range, or if RFC 5545 forbids the combination.
  public init(
    every interval: RecurrenceInterval, on weekdays: [RecurrenceWeekday] = [], onMonthDays monthDays: [Int] = [],
    onYearDays yearDays: [Int] = [], inWeeks weekNumbers: [Int] = [], inMonths months: [Int] = [],
    atPositions positions: [Int] = [], except exceptions: [CalendarDay] = [], end: RecurrenceEnd = .never,
    weekStart: Int = 1
  ) throws(TallyError) {
    try Self.check(weekdays, in: interval.unit)
    try Self.check(monthDays: monthDays, in: interval.unit)
    try end.check()
    guard (1...7).contains(weekStart) else {
      throw .invalidRecurrence("The first day of the week is not between 1 and 7", remedy: "Use 1 for Monday")
    }
    self.interval = interval
    self.weekdays = Set(weekdays).sorted(by: RecurrenceWeekday.precedes)
    self.monthDays = Self.sorted(monthDays)
    self.yearDays = Self.sorted(yearDays)
    self.weekNumbers = Self.sorted(weekNumbers)
    self.months = Self.sorted(months)
    self.positions = Self.sorted(positions)
    self.exceptions = Set(exceptions).sorted()
    self.end = end
    // The first day of the week matters only if weeks are counted, or if some weeks are skipped, and the others have
    // several days or one that need not be the start's weekday.
    let hasWeeks = interval.unit == .week && !weekdays.isEmpty && (interval.count > 1 || !positions.isEmpty)
    self.weekStart = hasWeeks || !weekNumbers.isEmpty ? weekStart : 1
    try checkHours()
    try checkYear()
    try checkPositions()
    guard self.exceptions.count <= Self.mostExceptions else {
      throw .invalidRecurrence(
        "The rule leaves out more than \(Self.mostExceptions) days (EXDATE)", remedy: "Leave out fewer days")
    }
  }

  /// The maximum number of days that a rule can leave out.
  public static let mostExceptions = 366

  private static func sorted(_ numbers: [Int]) -> [Int] {
    Set(numbers).sorted { $0.ordinalRank < $1.ordinalRank }
  }

  private static func check(_ weekdays: [RecurrenceWeekday], in unit: RecurrenceUnit) throws(TallyError) {
    let limit =
      switch unit {
      case .hour, .day, .week: 0
      case .month: 5
      case .year: 53
      }
    guard weekdays.allSatisfy({ abs($0.ordinal ?? 0) <= limit }) else {
      let fault = limit == 0 ? "Only a month or a year has a first or last weekday" : "A month has no such weekday"
      throw .invalidRecurrence("\(fault) (BYDAY)", remedy: "Use ordinals from 1 to 5 or -1 to -5, with FREQ=MONTHLY")
    }
  }

  private static func check(monthDays: [Int], in unit: RecurrenceUnit) throws(TallyError) {
    guard monthDays.isEmpty || unit != .week else {
      throw .invalidRecurrence(
        "A weekly rule cannot have days of the month (BYMONTHDAY)", remedy: "Use FREQ=MONTHLY, or weekdays (BYDAY)")
    }
    guard monthDays.allSatisfy({ $0 != 0 && abs(clamping: $0) <= 31 }) else {
      throw .invalidRecurrence(
        "A day of the month is not between 1 and 31, or -31 and -1 (BYMONTHDAY)",
        remedy: "Use 1 for the first day of a month, -1 for the last")
    }
  }

  private func checkHours() throws(TallyError) {
    guard hours == nil || [monthDays, yearDays, weekNumbers, positions].allSatisfy(\.isEmpty) else {
      throw .invalidRecurrence(
        "A rule for hours has no limits but weekdays and months (BYDAY, BYMONTH)", remedy: "Use FREQ=DAILY, or BYDAY")
    }
  }

  private func checkYear() throws(TallyError) {
    guard interval.unit == .year || yearDays.isEmpty && weekNumbers.isEmpty else {
      throw .invalidRecurrence(
        "Only a yearly rule can have days or weeks of the year (BYYEARDAY, BYWEEKNO)", remedy: "Use FREQ=YEARLY")
    }
    guard yearDays.allSatisfy({ $0 != 0 && abs(clamping: $0) <= 366 }) else {
      throw .invalidRecurrence(
        "A day of the year is not between 1 and 366, or -366 and -1 (BYYEARDAY)",
        remedy: "Use 1 for January 1, -1 for December 31")
    }
    guard weekNumbers.allSatisfy({ $0 != 0 && abs(clamping: $0) <= 53 }) else {
      throw .invalidRecurrence(
        "The number of a week is not between 1 and 53, or -53 and -1 (BYWEEKNO)",
        remedy: "Use 1 for the first week of a year, -1 for the last")
    }
    guard weekNumbers.isEmpty || weekdays.allSatisfy({ $0.ordinal == nil }) else {
      throw .invalidRecurrence(
        "A rule for weeks of the year cannot have a first or last weekday (BYDAY with BYWEEKNO)",
        remedy: "Use weekdays without a number")
    }
    guard months.allSatisfy({ (1...12).contains($0) }) else {
      throw .invalidRecurrence("A month is not between 1 and 12 (BYMONTH)", remedy: "Use 1 for January")
    }
  }

  private func checkPositions() throws(TallyError) {
    guard positions.allSatisfy({ $0 != 0 && abs(clamping: $0) <= 366 }) else {
      throw .invalidRecurrence(
        "A position is not between 1 and 366, or -366 and -1 (BYSETPOS)",
        remedy: "Use 1 for the first day of each period, -1 for the last")
    }
    let hasLimit = !weekdays.isEmpty || !months.isEmpty || ![monthDays, yearDays, weekNumbers].joined().isEmpty
    guard positions.isEmpty || hasLimit else {
      throw .invalidRecurrence(
        "The rule has a position (BYSETPOS), but no days among which to count it",
        remedy: "Add days, as in BYDAY=MO,TU,WE,TH,FR")
    }
  }
}

extension RecurrenceRule {
  /// Whether the rule names no days, so that they follow from its start.
  var isOpen: Bool { weekdays.isEmpty && [monthDays, yearDays, weekNumbers, positions].joined().isEmpty }

  /// Whether every version of the program can read the rule.
  var isOfFirstVersion: Bool {
    hours == nil && exceptions.isEmpty && [yearDays, weekNumbers, months, positions].joined().isEmpty
  }
}

/// When a rule ends.
public enum RecurrenceEnd: Hashable, Sendable {
  /// It does not end.
  case never
  /// After a number of occurrences, from 1 to 999,999.
  ///
  /// Every occurrence counts, also those for which no task was made. The start counts only if it is an occurrence.
  case count(Int)
  /// With the last occurrence on or before a day.
  case until(CalendarDay)

  fileprivate func check() throws(TallyError) {
    guard case .count(let count) = self, !(1...999_999).contains(count) else { return }
    throw .invalidRecurrence("The number of occurrences (COUNT) is not between 1 and 999999", remedy: "Correct it")
  }
}

extension TallyError {
  static func invalidRecurrence(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidRecurrence, message, remedy: remedy)
  }
}

extension RecurrenceRule {
  /// The periods of a rule of days from a start on: the days, weeks, months or years, one `interval` apart, that can
  /// have occurrences.
  struct Periods: Sendable {
    private let interval: RecurrenceInterval
    private let weekdays: [RecurrenceWeekday]
    private let monthDays: [Int]
    private let yearDays: [Int]
    private let weekNumbers: [Int]
    private let months: [Int]
    private let positions: [Int]
    private let weekStart: Int
    private let start: CalendarDay
  }
}

extension RecurrenceRule.Periods {
  /// Creates the periods of a rule; parts that the rule leaves open (the weekday, the day or the month) come from the
  /// start.
  init(of rule: RecurrenceRule, from start: CalendarDay) {
    let usesDayOfStart = rule.weekdays.isEmpty && rule.monthDays.isEmpty && rule.yearDays.isEmpty
    let unit = rule.interval.unit
    let isByWeek = unit == .week || !rule.weekNumbers.isEmpty
    weekdays = usesDayOfStart && isByWeek ? [RecurrenceWeekday(of: start)] : rule.weekdays
    monthDays = usesDayOfStart && !isByWeek && unit != .day && unit != .hour ? [start.day] : rule.monthDays
    let usesMonthOfStart = usesDayOfStart && !isByWeek && unit == .year && rule.months.isEmpty
    months = usesMonthOfStart ? [start.month] : rule.months
    (yearDays, weekNumbers, positions) = (rule.yearDays, rule.weekNumbers, rule.positions)
    interval = rule.interval
    weekStart = rule.weekStart
    self.start = start
  }

  /// The day numbers of a period, where period 0 contains the start; `nil` after the year 9999.
  ///
  /// A week may begin before the year 1 or end after the year 9999.
  func days(ofPeriod index: Int) -> ClosedRange<Int>? {
    let distance = index * interval.count
    switch interval.unit {
    case .hour, .day:
      let day = Int(start.dayNumber) + distance
      return day > CalendarDay.latest.dayNumber ? nil : day...day
    case .week:
      let first = Int(start.dayNumber) - (start.weekday - weekStart + 7) % 7 + 7 * distance
      return first > CalendarDay.latest.dayNumber ? nil : first...(first + 6)
    case .month: return CivilMonth(of: start).adding(months: distance).days
    case .year:
      let year = start.year + distance
      // Other months have no occurrences.
      guard let first = CivilMonth(year: year, month: months.first ?? 1).days,
        let last = CivilMonth(year: year, month: months.last ?? 12).days
      else { return nil }
      return first.lowerBound...last.upperBound
    }
  }

  /// The index of the period that contains a day, which is not before the start, or of the last period before that day.
  func indexOfPeriod(upTo day: CalendarDay) -> Int {
    let distance =
      switch interval.unit {
      case .hour, .day: Int(day.dayNumber - start.dayNumber)
      case .week: (Int(day.dayNumber - start.dayNumber) + (start.weekday - weekStart + 7) % 7) / 7
      case .month: CivilMonth(of: day).months(since: CivilMonth(of: start))
      case .year: day.year - start.year
      }
    return distance / interval.count
  }

  /// The number of periods after which they repeat: the Gregorian calendar repeats every 400 years, which are
  /// whole weeks.
  ///
  /// If that many periods in a row have no occurrence, the rule has none left.
  var countOfCycle: Int {
    let (days, months) = (146_097, 4_800)
    let cycle =
      switch interval.unit {
      case .hour, .day: days
      case .week: days / 7
      case .month: months
      case .year: months / 12
      }
    var (divisor, rest) = (cycle, interval.count)
    while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
    return cycle / divisor
  }

  /// The days of a period that are at the rule's positions; `nil` if it has none.
  func selection(in period: ClosedRange<Int>) -> Set<Int>? {
    guard !positions.isEmpty else { return nil }
    let days = period.clamped(to: Int(CalendarDay.earliest.dayNumber)...Int(CalendarDay.latest.dayNumber)).filter {
      contains(CalendarDay(clamping: Int64($0)), in: period)
    }
    let indexes = positions.map { $0 > 0 ? $0 - 1 : days.count + $0 }
    return Set(indexes.filter(days.indices.contains).map { days[$0] })
  }

  /// Whether a day of a period is an occurrence, or one of those among which the positions are counted.
  func contains(_ day: CalendarDay, in period: ClosedRange<Int>) -> Bool {
    (months.isEmpty || months.contains(day.month)) && containsWeekday(of: day, in: period) && containsMonthDay(of: day)
      && containsYearDay(of: day) && containsWeek(of: day)
  }

  private func containsYearDay(of day: CalendarDay) -> Bool {
    guard !yearDays.isEmpty else { return true }
    let first = Int(CivilDate(year: day.year, month: 1, day: 1).dayNumber)
    let last = Int(CivilDate(year: day.year, month: 12, day: 31).dayNumber)
    return yearDays.contains(Int(day.dayNumber) - first + 1) || yearDays.contains(Int(day.dayNumber) - last - 1)
  }

  private func containsWeek(of day: CalendarDay) -> Bool {
    guard !weekNumbers.isEmpty else { return true }
    let number = Int(day.dayNumber)
    let starts = (day.year - 1...day.year + 2).map(startOfWeeks)
    // The first days of a year may belong to the last week of the year before, and the last ones to the next year.
    let index = number < starts[1] ? 0 : number < starts[2] ? 1 : 2
    let week = (number - starts[index]) / 7 + 1
    let count = (starts[index + 1] - starts[index]) / 7
    return weekNumbers.contains(week) || index < 2 && weekNumbers.contains(week - count - 1)
  }

  /// The day number on which the first week of a year begins: the week that has January 4.
  private func startOfWeeks(of year: Int) -> Int {
    // The Gregorian calendar repeats every 400 years, so the years 0 and 10000 are like 400 and 9600.
    let cycle = year < 1 ? -1 : year > 9_999 ? 1 : 0
    let date = CivilDate(year: year - 400 * cycle, month: 1, day: 4)
    let weekday = CalendarDay(clamping: Int64(date.dayNumber)).weekday
    return Int(date.dayNumber) - (weekday - weekStart + 7) % 7 + 146_097 * cycle
  }

  private func containsWeekday(of day: CalendarDay, in period: ClosedRange<Int>) -> Bool {
    guard !weekdays.isEmpty else { return true }
    let weekday = day.weekday
    let isByMonth = interval.unit == .year && !months.isEmpty
    let period = isByMonth ? CivilMonth(of: day).days ?? period : period
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

/// The days of a rule in ascending order, found one at a time; of a rule for hours, those that have an hour.
///
/// They are the same as those of the Python library dateutil for a rule that starts at midnight, except where RFC 5545
/// says otherwise: `BYDAY` with and without ordinals in one rule (`MO,-1FR`) gives the days of both, `BYWEEKNO` without
/// days gives the start's weekday, and the positions in the first week (`BYSETPOS`) count from that week's first day.
public struct RecurrenceOccurrences: Sequence, Sendable {
  fileprivate let rule: RecurrenceRule
  fileprivate let start: CalendarDay

  /// Returns an iterator that begins at the first day.
  public func makeIterator() -> Iterator {
    Iterator(rule, from: start)
  }

  /// Finds the days of a rule.
  ///
  /// It ends with the year 9999, or sooner for a rule that never matches, such as the 30th of every twelfth
  /// month from February on.
  public struct Iterator: IteratorProtocol, Sendable {
    private let periods: RecurrenceRule.Periods
    /// The steps of a rule for hours, with the last one found; `nil` for a rule of days.
    private var steps: (all: HourlySteps, last: Int)?
    private let lastDay: Int
    private var remainingCount: Int
    private var indexOfPeriod = 0
    private var emptyPeriodCount = 0
    private var exceptions: ArraySlice<CalendarDay>
    /// The days of the current period that are at the rule's positions; `nil` if it has none.
    private var selection: Set<Int>?
    /// The days of the current period; `nil` at the end.
    private var period: ClosedRange<Int>?
    /// The number of the next day to check.
    private var day: Int

    fileprivate init(_ rule: RecurrenceRule, from start: CalendarDay) {
      periods = RecurrenceRule.Periods(of: rule, from: start)
      if rule.hours != nil { steps = (HourlySteps(of: rule, from: start), -1) }
      var (lastDay, count) = (CalendarDay.latest, Int.max)
      switch rule.end {
      case .never: break
      case .count(let number): count = number
      case .until(let day): lastDay = day
      }
      self.lastDay = Int(lastDay.dayNumber)
      remainingCount = count
      day = Int(start.dayNumber)
      exceptions = rule.exceptions[...]
      period = periods.days(ofPeriod: 0)
      selection = period.flatMap(periods.selection)
    }

    /// Finds the next day.
    ///
    /// - Returns: The day; `nil` after the last one.
    /// - Complexity: Proportional to the number of days in the periods up to the occurrence.
    public mutating func next() -> CalendarDay? {
      if let (all, last) = steps {
        guard let step = all.next(after: last, notBefore: CalendarDay(clamping: Int64(day))),
          let found = all.day(of: step)
        else { return nil }
        steps?.last = step
        day = Int(found.dayNumber) + 1
        return found
      }
      while let period, day <= lastDay, remainingCount > 0 {
        while day <= Swift.min(period.upperBound, lastDay) {
          let candidate = CalendarDay(clamping: Int64(day))
          day += 1
          guard selection?.contains(day - 1) ?? periods.contains(candidate, in: period) else { continue }
          remainingCount -= 1
          emptyPeriodCount = -1
          if !isException(candidate) { return candidate }
          guard remainingCount > 0 else { return nil }
        }
        emptyPeriodCount += 1
        move(toPeriod: indexOfPeriod + 1)
      }
      return nil
    }

    /// Whether a day is left out; the days that are asked about ascend.
    private mutating func isException(_ day: CalendarDay) -> Bool {
      exceptions = exceptions.drop { $0 < day }
      return exceptions.first == day
    }

    private mutating func move(toPeriod index: Int) {
      indexOfPeriod = index
      // The first period may have lost its occurrences to the start or to a skip.
      period = emptyPeriodCount > periods.countOfCycle ? nil : periods.days(ofPeriod: index)
      day = Swift.max(day, period?.lowerBound ?? day)
      selection = period.flatMap(periods.selection)
    }

    /// Skips the days before another day; not for a rule with a count, which has to count them.
    fileprivate mutating func skip(to day: CalendarDay) {
      guard day.dayNumber > self.day else { return }
      self.day = Int(day.dayNumber)
      guard steps == nil else { return }
      move(toPeriod: periods.indexOfPeriod(upTo: day))
    }
  }
}

extension RecurrenceRule {
  /// The rule's days from a start on; the start is included only if it matches the rule.
  ///
  /// - Complexity: Constant; the days are found as they are asked for.
  public func occurrences(from start: CalendarDay) -> RecurrenceOccurrences {
    RecurrenceOccurrences(rule: self, start: start)
  }

  /// The first occurrence after a day.
  ///
  /// - Parameters:
  ///   - day: The day after which to look.
  ///   - start: The day on which the rule begins.
  /// - Returns: The day; `nil` if the rule has ended by then.
  /// - Complexity: A few periods, however long ago the start is; for ``RecurrenceEnd/count(_:)``, one step for
  ///   each occurrence since the start.
  public func next(after day: CalendarDay, from start: CalendarDay) -> CalendarDay? {
    guard let earliest = try? day.adding(days: 1) else { return nil }
    var days = occurrences(from: start).makeIterator()
    if case .count = end {} else { days.skip(to: earliest) }
    return IteratorSequence(days).first { $0 >= earliest }
  }

  /// Which occurrence a day is, counted from 1; `nil` if it is not one.
  ///
  /// - Complexity: One step for each occurrence up to the day.
  public func number(of day: CalendarDay, from start: CalendarDay) -> Int? {
    let days = occurrences(from: start).prefix { $0 <= day }
    return days.last == day ? days.count : nil
  }

  /// How many days count for ``RecurrenceEnd/count(_:)``, from the start to a day, including those that are left out
  /// (RFC 5545, section 3.8.5.1).
  ///
  /// - Complexity: One step for each of them.
  func countOfDays(from start: CalendarDay, to day: CalendarDay) -> Int {
    var rule = self
    rule.exceptions = []
    return rule.occurrences(from: start).prefix { $0 <= day }.count
  }
}

extension RecurrenceRule {
  /// The rule with another day in place of the only one that it names; the same rule if it names several.
  fileprivate func moved(to day: CalendarDay) -> RecurrenceRule {
    var rule = self
    if interval.unit == .year, months.count == 1 { rule.months = [day.month] }
    guard rule.months.isEmpty || rule.months.contains(day.month), yearDays.isEmpty, weekNumbers.isEmpty else {
      return self
    }
    if let weekday = weekdays.first, weekdays.count == 1, monthDays.isEmpty, positions.isEmpty {
      rule.weekdays = [weekday.moved(to: day, inYear: interval.unit == .year && months.isEmpty)]
      return rule
    }
    let days = daysOrElseLast ?? (positions.isEmpty ? monthDays : [])
    guard let last = days.first, days.count == 1, weekdays.isEmpty else { return self }
    (rule.monthDays, rule.positions) = ([day.day], [])
    if interval.unit == .year, rule.months == [2], day.day == 29 { rule.monthDays = [-1] }
    // A rule that leaves short months out goes on doing so.
    let skipsShortMonths = daysOrElseLast == nil && last > 28
    return skipsShortMonths ? rule : rule.clamped
  }
}

extension RecurrenceWeekday {
  /// The weekday of a day; if this one has an ordinal, with one that counts from the same end of the month or year.
  ///
  /// A fifth weekday, which many months lack, is the last one.
  fileprivate func moved(to day: CalendarDay, inYear isInYear: Bool) -> RecurrenceWeekday {
    let months = isInYear ? (1, 12) : (day.month, day.month)
    guard let ordinal, let first = CivilMonth(year: day.year, month: months.0).days?.lowerBound,
      let last = CivilMonth(year: day.year, month: months.1).days?.upperBound
    else { return RecurrenceWeekday(of: day) }
    let (fromStart, fromEnd) = ((Int(day.dayNumber) - first) / 7 + 1, (Int(day.dayNumber) - last) / 7 - 1)
    let isLast = ordinal < 0 || fromStart == (isInYear ? 53 : 5)
    return (try? RecurrenceWeekday(day.weekday, ordinal: isLast ? fromEnd : fromStart)) ?? self
  }
}

extension Recurrence {
  /// The first day of a task that repeats: the first on or after a day that the recurrence gives.
  ///
  /// The series begins on that day, so a rule for every other week counts its weeks from there. After completion, the
  /// first day is the given one.
  ///
  /// - Parameter day: The earliest day: the one for which the task is planned, or today.
  /// - Returns: The day; `nil` if the rule has ended by then.
  public func firstDay(onOrAfter day: CalendarDay) -> CalendarDay? {
    guard case .rule(var rule) = self, let interval = try? RecurrenceInterval(1, rule.interval.unit) else { return day }
    rule.interval = interval
    return rule.occurrences(from: day).first { _ in true }
  }

  /// The recurrence of a series that moves to another day.
  ///
  /// A rule that gives one day of each week, month or year names the new day instead; one that gives several days, or the
  /// new day already, stays. Where words mean the last day of a short month, the new rule does, too.
  func moved(to day: CalendarDay) -> Recurrence {
    guard case .rule(let rule) = self else { return self }
    let before = CalendarDay(clamping: Int64(day.dayNumber) - 1)
    guard !rule.isOpen, rule.next(after: before, from: day) != day else { return inWords(beginningOn: day) }
    return Recurrence.rule(rule.moved(to: day)).inWords(beginningOn: day)
  }

  /// Whether every version of the program can read the recurrence; see ``StoreFeatures/taskLife``.
  package var isOfFirstVersion: Bool {
    switch self {
    case .rule(let rule): rule.isOfFirstVersion
    case .afterCompletion: true
    }
  }
}
