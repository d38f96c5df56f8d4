import Foundation
public import TallyEngine

/// A rule for days at regular places of the calendar: every other Monday, the last day of each month.
///
/// A subset of the recurrence rules of RFC 5545, section 3.3.10: `FREQ` from `DAILY` to `YEARLY`, `INTERVAL`, `BYDAY`,
/// `BYMONTHDAY`, `COUNT`, `UNTIL` and `WKST`. Its occurrences are days, without a time.
///
/// ```swift
/// let rule = try RecurrenceRule(every: RecurrenceInterval(2, .week), on: [RecurrenceWeekday(1), RecurrenceWeekday(4)])
/// rule.text                                      // "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"
/// rule.next(after: today, from: today)           // the first such day after today
/// ```
///
/// Two rules are equal if their parts are equal, in whatever order the parts were given.
public struct RecurrenceRule: Hashable, Sendable {
  /// The distance between the days, weeks, months or years that have occurrences: `FREQ` and `INTERVAL`.
  public let interval: RecurrenceInterval
  /// The weekdays on which occurrences fall, sorted: `BYDAY`; empty if there is no such limit.
  public let weekdays: [RecurrenceWeekday]
  /// The days of the month on which occurrences fall, sorted: `BYMONTHDAY`; empty if there is no such limit.
  ///
  /// From 1 to 31, or from -31 to -1 counted from the end of the month. Months that are too short are skipped.
  public let monthDays: [Int]
  /// When the rule ends: `COUNT` or `UNTIL`.
  public let end: RecurrenceEnd
  /// The first day of the week, from 1 for Monday to 7 for Sunday: `WKST`.
  ///
  /// It decides which weeks a rule such as every other week means, and is 1 where it makes no difference.
  public let weekStart: Int

  /// Creates a rule.
  ///
  /// Without weekdays and days of the month, occurrences fall on the start's weekday, on its day of the month,
  /// or on its month and day, depending on the unit.
  ///
  /// - Parameters:
  ///   - interval: The distance between the days, weeks, months or years that have occurrences.
  ///   - weekdays: The weekdays; ordinals are allowed only for months and years.
  ///   - monthDays: The days of the month, from 1, or from -1 counted from the end; not allowed for weeks.
  ///   - end: When the rule ends.
  ///   - weekStart: The first day of the week, from 1 for Monday to 7 for Sunday.
  /// - Throws: `invalidRecurrence` if a value is out of its range, or if RFC 5545 forbids the combination.
  public init(
    every interval: RecurrenceInterval, on weekdays: [RecurrenceWeekday] = [], onMonthDays monthDays: [Int] = [],
    end: RecurrenceEnd = .never, weekStart: Int = 1
  ) throws(TallyError) {
    try Self.check(weekdays, in: interval.unit)
    try Self.check(monthDays: monthDays, in: interval.unit)
    try end.check()
    guard (1...7).contains(weekStart) else {
      throw .invalidRecurrence("The first day of the week is not between 1 and 7", remedy: "Use 1 for Monday")
    }
    self.interval = interval
    self.weekdays = Set(weekdays).sorted(by: RecurrenceWeekday.precedes)
    self.monthDays = Set(monthDays).sorted { $0.ordinalRank < $1.ordinalRank }
    self.end = end
    // The first day of the week matters only if some weeks are skipped, and the others have several days or one
    // that need not be the start's weekday.
    let needsWeeks = interval.unit == .week && interval.count > 1 && !weekdays.isEmpty
    self.weekStart = needsWeeks ? weekStart : 1
  }

  private static func check(_ weekdays: [RecurrenceWeekday], in unit: RecurrenceUnit) throws(TallyError) {
    let limit =
      switch unit {
      case .day, .week: 0
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
  /// The rule in the form of RFC 5545, without `RRULE:`: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH`.
  ///
  /// The parts always have the same order, and those with a default value are left out.
  public var text: String {
    var parts = ["FREQ=\(interval.unit.frequency)"]
    if interval.count > 1 { parts.append("INTERVAL=\(interval.count)") }
    if !weekdays.isEmpty { parts.append("BYDAY=\(weekdays.map(\.text).joined(separator: ","))") }
    if !monthDays.isEmpty { parts.append("BYMONTHDAY=\(monthDays.map { "\($0)" }.joined(separator: ","))") }
    switch end {
    case .never: break
    case .count(let count): parts.append("COUNT=\(count)")
    case .until(let day): parts.append("UNTIL=\(day.iso8601.filter { $0 != "-" })")
    }
    if weekStart != 1 { parts.append("WKST=\(RecurrenceWeekday.codes[weekStart - 1])") }
    return parts.joined(separator: ";")
  }
}

extension RecurrenceRule {
  /// The periods of a rule from a start on: the days, weeks, months or years, one `interval` apart, that can
  /// have occurrences.
  struct Periods: Sendable {
    private let interval: RecurrenceInterval
    private let weekdays: [RecurrenceWeekday]
    private let monthDays: [Int]
    private let weekStart: Int
    private let start: CalendarDay
    /// Whether a year has occurrences only in the month of the start.
    private let isMonthOfYear: Bool
  }
}

extension RecurrenceRule.Periods {
  /// Creates the periods of a rule; parts that the rule leaves open (the weekday, the day or the month) come from the
  /// start.
  init(of rule: RecurrenceRule, from start: CalendarDay) {
    let usesDayOfStart = rule.weekdays.isEmpty && rule.monthDays.isEmpty
    let unit = rule.interval.unit
    weekdays = usesDayOfStart && unit == .week ? [RecurrenceWeekday(of: start)] : rule.weekdays
    monthDays = usesDayOfStart && (unit == .month || unit == .year) ? [start.day] : rule.monthDays
    isMonthOfYear = usesDayOfStart && unit == .year
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

  /// The index of the period that contains a day, which is not before the start, or of the last period before that day.
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

  /// The number of periods after which they repeat: the Gregorian calendar repeats every 400 years, which are
  /// whole weeks.
  ///
  /// If that many periods in a row have no occurrence, the rule has none left.
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

/// Reads recurrence rules of RFC 5545, section 3.3.10, in any case and with the parts in any order.
///
/// An unsupported part is an error and is not skipped: without it the task would repeat on other days.
struct RecurrenceRuleParser {
  // The parts that the RFC defines. An error may name these; any other name could be the user's text.
  private static let supported = ["FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "COUNT", "UNTIL", "WKST"]
  private static let unsupported = ["BYMONTH", "BYYEARDAY", "BYWEEKNO", "BYSETPOS", "BYHOUR", "BYMINUTE", "BYSECOND"]
  private static let remedy = "Use FREQ, INTERVAL, BYDAY, BYMONTHDAY, COUNT or UNTIL, and WKST"

  private let timeZone: TimeZone
  private var values: [String: String] = [:]

  /// Reads a rule, with or without `RRULE:`; an `UNTIL` that is an instant means its day in the time zone.
  static func rule(_ text: String, timeZone: TimeZone) throws(TallyError) -> RecurrenceRule {
    let text = text.uppercased()
    let parser = try Self(parts: text.dropFirst(text.hasPrefix("RRULE:") ? 6 : 0), timeZone: timeZone)
    return try parser.rule()
  }

  private init(parts text: Substring, timeZone: TimeZone) throws(TallyError) {
    self.timeZone = timeZone
    for part in text.split(separator: ";", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = sides.first ?? ""
      guard Self.supported.contains(name) else {
        let isKnown = Self.unsupported.contains(name)
        throw .invalidRecurrence(
          isKnown ? "\(name) is not supported" : "The rule has a part that is not known", remedy: Self.remedy)
      }
      guard sides.count == 2, values.updateValue(sides[1], forKey: name) == nil else {
        throw .invalidRecurrence("\(name) has no value, or occurs twice", remedy: "Write \(name)=VALUE once")
      }
    }
  }

  private func rule() throws(TallyError) -> RecurrenceRule {
    let weekStart = values["WKST"].map { RecurrenceWeekday.codes.firstIndex(of: $0) }
    guard weekStart != .some(nil) else { throw Self.malformed("WKST", remedy: "Write a weekday, as in WKST=MO") }
    return try RecurrenceRule(
      every: RecurrenceInterval(number(of: "INTERVAL") ?? 1, unit()),
      on: weekdays(), onMonthDays: monthDays(), end: end(), weekStart: (weekStart ?? 0).map { $0 + 1 } ?? 1)
  }

  private func unit() throws(TallyError) -> RecurrenceUnit {
    guard let unit = RecurrenceUnit.allCases.first(where: { $0.frequency == values["FREQ"] }) else {
      throw .invalidRecurrence(
        "The rule has no FREQ, or one that is not supported", remedy: "Use DAILY, WEEKLY, MONTHLY or YEARLY")
    }
    return unit
  }

  private func weekdays() throws(TallyError) -> [RecurrenceWeekday] {
    var weekdays: [RecurrenceWeekday] = []
    for value in list("BYDAY") {
      let (ordinal, code) = (value.dropLast(2), String(value.suffix(2)))
      guard let index = RecurrenceWeekday.codes.firstIndex(of: code),
        let number = ordinal.isEmpty ? .some(nil) : Self.number(ordinal).map(Optional.some)
      else { throw Self.malformed("BYDAY", remedy: "Write weekdays, as in BYDAY=MO,TH or BYDAY=-1FR") }
      weekdays.append(try RecurrenceWeekday(index + 1, ordinal: number))
    }
    return weekdays
  }

  private func monthDays() throws(TallyError) -> [Int] {
    let days = list("BYMONTHDAY").map { Self.number($0) }
    guard !days.contains(nil) else {
      throw Self.malformed("BYMONTHDAY", remedy: "Write days of the month, as in BYMONTHDAY=1,15 or BYMONTHDAY=-1")
    }
    return days.compactMap { $0 }
  }

  private func end() throws(TallyError) -> RecurrenceEnd {
    guard let until = values["UNTIL"] else { return try number(of: "COUNT").map(RecurrenceEnd.count) ?? .never }
    guard values["COUNT"] == nil else {
      throw .invalidRecurrence("The rule has both COUNT and UNTIL", remedy: "Use one of them")
    }
    guard let day = lastDay(until) else {
      throw Self.malformed("UNTIL", remedy: "Write a day, as in UNTIL=20261231, or an instant in UTC")
    }
    return .until(day)
  }

  /// Reads a day (`20261231`), or the day of a local time (`20261231T235959`) or of an instant (`20261231T235959Z`).
  private func lastDay(_ text: String) -> CalendarDay? {
    let digits = text.filter { $0.isASCII && $0.isNumber }
    func field(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
    let day = "\(field(0, 4))-\(field(4, 2))-\(field(6, 2))"
    let time = "\(field(8, 2)):\(field(10, 2)):\(field(12, 2))"
    if text == digits, digits.utf8.count == 8 { return try? CalendarDay(iso8601: day) }
    guard digits.utf8.count == 14, let instant = try? Timestamp(iso8601: "\(day)T\(time)Z") else { return nil }
    switch text {
    case "\(digits.prefix(8))T\(digits.dropFirst(8))": return CalendarDay(containing: instant, in: .gmt)
    case "\(digits.prefix(8))T\(digits.dropFirst(8))Z": return CalendarDay(containing: instant, in: timeZone)
    default: return nil
    }
  }

  /// The elements of a part's list; empty if the rule does not have the part.
  private func list(_ name: String) -> [Substring] {
    values[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
  }

  private func number(of name: String) throws(TallyError) -> Int? {
    guard let value = values[name] else { return nil }
    if value.utf8.count > 9, value.utf8.allSatisfy(\.isDigit) {
      throw .invalidRecurrence("The value of \(name) is too large", remedy: "Give a smaller number")
    }
    guard let number = Self.number(value[...]) else { throw Self.malformed(name, remedy: "Write \(name)=NUMBER") }
    return number
  }

  private static func number(_ text: Substring) -> Int? {
    // `Int` accepts any number of digits, but no valid value has more than nine.
    text.utf8.count <= 9 ? Int(text) : nil
  }

  private static func malformed(_ name: String, remedy: String) -> TallyError {
    .invalidRecurrence("The value of \(name) cannot be read", remedy: remedy)
  }
}

/// The days of a rule in ascending order, found one at a time.
///
/// They are the same as those of the Python library dateutil for a rule that starts at midnight, with one difference:
/// `BYDAY` with and without ordinals in one rule (`MO,-1FR`) gives the days of both, as RFC 5545 says.
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
    private let lastDay: Int
    private var remainingCount: Int
    private var indexOfPeriod = 0
    private var emptyPeriodCount = 0
    /// The days of the current period; `nil` at the end.
    private var period: ClosedRange<Int>?
    /// The number of the next day to check.
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
    /// - Complexity: Proportional to the number of days in the periods up to the occurrence.
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
      // The first period may have lost its occurrences to the start or to a skip.
      period = emptyPeriodCount > periods.countOfCycle ? nil : periods.days(ofPeriod: index)
      day = Swift.max(day, period?.lowerBound ?? day)
    }

    /// Skips the days before another day; not for a rule with a count, which has to count them.
    fileprivate mutating func skip(to day: CalendarDay) {
      guard day.dayNumber > self.day else { return }
      self.day = Int(day.dayNumber)
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
}
