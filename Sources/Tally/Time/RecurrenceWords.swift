import TallyEngine

extension Recurrence {
  /// The recurrence in English: `every 2 weeks on Monday and Thursday, until 31 December 2026`.
  ///
  /// ``init(phrase:)`` reads it back.
  public var words: String {
    switch self {
    case .rule(let rule): rule.words
    case .afterCompletion(let interval): "\(interval.counted) after completion"
    }
  }
}

extension Recurrence: CustomStringConvertible {
  /// The same as ``words``.
  public var description: String { words }
}

extension RecurrenceRule {
  /// The rule in English.
  var words: String {
    var words = "every " + (nameOfWeekly ?? "\(interval.words)\(limits)")
    if namedDates == nil {
      if !weekNumbers.isEmpty {
        words += " in week\(weekNumbers.count == 1 ? "" : "s") \(Self.list(weekNumbers.map { "\($0)" }, "and"))"
      }
      words += nameOfMonths
    }
    if !positions.isEmpty, positionsOfGroup == nil, daysOrElseLast == nil {
      words += ", but only \(Self.list(positions.map { "the \($0.ordinalWord)" }, "and")) of these"
    }
    if interval.unit == .month, weekdays.isEmpty, positions.isEmpty, Self.clamped(monthDays) != nil {
      words += ", skipping shorter months"
    }
    if weekStart != 1 { words += ", with weeks from \(CalendarNames.weekdays[weekStart - 1])" }
    switch end {
    case .never: break
    case .count(let count): words += ", \(count) time\(count == 1 ? "" : "s")"
    case .until(let day): words += ", until \(Self.name(of: day))"
    }
    if !exceptions.isEmpty { words += ", except \(Self.list(exceptions.map(Self.name), "and"))" }
    return words
  }

  private static func name(of day: CalendarDay) -> String {
    "\(day.day) \(CalendarNames.months[day.month - 1]) \(day.year)"
  }

  /// The weekdays of a rule for every week: `weekday`, `Monday and Thursday`, `day except Sunday`; `nil` for any other
  /// rule.
  private var nameOfWeekly: String? {
    guard interval.unit == .week, interval.count == 1, !weekdays.isEmpty else { return nil }
    let days = weekdays.map(\.weekday)
    if days.count == 6, positions.isEmpty, let missing = nameOfMissingWeekday { return "day except \(missing)" }
    return days == Array(1...5) ? "weekday" : Self.list(weekdays.map(\.name), "and")
  }

  /// The name of the first weekday that the rule does not have.
  private var nameOfMissingWeekday: String? {
    let days = weekdays.map(\.weekday)
    return (1...7).first { !days.contains($0) }.map { CalendarNames.weekdays[$0 - 1] }
  }

  private var nameOfMonths: String {
    guard !months.isEmpty else { return "" }
    func names(_ months: [Int]) -> [String] { months.map { CalendarNames.months[$0 - 1] } }
    let others = Array(Set(1...12).subtracting(months)).sorted()
    guard interval.unit != .year, (1...5).contains(others.count) else {
      return " in \(Self.list(names(months), "and"))"
    }
    return " except in \(Self.list(names(others), "and"))"
  }

  private var limits: String {
    let days = monthDays.map { "the \($0.ordinalNumber)" + ($0 < 0 ? " day" : "") }
    let weekdaysAsCondition = Self.list(weekdays.map { $0.words(each: "a ") }, "or")
    switch interval.unit {
    case .hour where weekdays.count == 6: return nameOfMissingWeekday.map { " except \($0)" } ?? ""
    case .day:
      return Self.condition([Self.list(days, "or"), weekdaysAsCondition])
    case .hour, .week: return weekdays.isEmpty ? "" : " on \(Self.list(weekdays.map(\.name), "and"))"
    case .month, .year:
      if let dates = namedDates { return " on \(Self.list(dates.map(\.words), "and"))" }
      if let positions = positionsOfGroup {
        let name = weekdays.count == 5 ? "weekday" : "weekend day"
        return " on \(Self.list(positions.map { "the \($0.ordinalWord) \(name)" }, "and"))"
      }
      if let days = daysOrElseLast {
        return " on \(Self.list(days.map { "the \($0.ordinalNumber)" }, "and")) or else the last day"
      }
      if !yearDays.isEmpty {
        let names = Self.list(yearDays.map { "the \($0.ordinalNumber) day" }, "and")
        return " on \(names) of the year" + Self.condition([Self.list(days, "or"), weekdaysAsCondition])
      }
      guard !days.isEmpty else {
        return weekdays.isEmpty ? "" : " on \(Self.list(weekdays.map { $0.words(each: "each ") }, "and"))"
      }
      let months = interval.unit == .year ? " of each month" : ""
      return " on \(Self.list(days, "and"))\(months)\(Self.condition([weekdaysAsCondition]))"
    }
  }

  private static func condition(_ names: [String]) -> String {
    let names = names.filter { !$0.isEmpty }
    return names.isEmpty ? "" : " if it is \(names.joined(separator: " and "))"
  }

  /// Joins names: `a`, `a and b`, `a, b and c`.
  private static func list(_ names: [String], _ conjunction: String) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }
}

/// A day of each year: 24 December, or the last day of February.
struct DayOfYear: Hashable {
  var month: Int
  /// From 1, or from -1 counted from the end of the month.
  var day: Int

  /// The lengths of the months in a leap year.
  private static let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  /// Whether every year has the day.
  var isInEveryYear: Bool { abs(clamping: day) <= (month == 2 ? 28 : Self.lengths[month - 1]) }

  /// Its number among the days of a year, as `BYYEARDAY` has it: from the nearer end, so that it does not depend on the
  /// length of February; `nil` if no number is right in every year.
  var number: Int? {
    guard isInEveryYear else { return nil }
    if month == 2, day < 0 { return day == -1 ? Self.lastOfFebruary : nil }
    let first = Self.lengths.prefix(month - 1).reduce(0, +)
    let number = first + (day > 0 ? day : Self.lengths[month - 1] + day + 1)
    return month < 3 ? number : number - 367
  }

  /// The last day of February, counted from the end of the year.
  private static let lastOfFebruary = -307

  init(month: Int, day: Int) { (self.month, self.day) = (month, day) }

  /// Creates the day with a number of `BYYEARDAY`; `nil` if the number is not that of one day in every year.
  init?(number: Int) {
    guard number != Self.lastOfFebruary else {
      (month, day) = (2, -1)
      return
    }
    guard (1...59).contains(number) || (-306 ... -1).contains(number) else { return nil }
    var (month, day) = (1, number > 0 ? number : number + 367)
    while day > Self.lengths[month - 1] { (month, day) = (month + 1, day - Self.lengths[month - 1]) }
    (self.month, self.day) = (month, day)
  }

  /// The day in English: `24 December`, `the last day of February`.
  var words: String {
    let name = CalendarNames.months[month - 1]
    return day > 0 ? "\(day) \(name)" : "the \(day.ordinalNumber) day of \(name)"
  }

  /// The months and the days of the month if the dates are all days in all of these months.
  static func product(_ dates: [DayOfYear]) -> (months: [Int], days: [Int])? {
    let (months, days) = (Set(dates.map(\.month)), Set(dates.map(\.day)))
    return months.count * days.count == Set(dates).count ? (Array(months), Array(days)) : nil
  }
}

// Rules that have short words.
extension RecurrenceRule {
  /// The dates of a rule for years that has dates alone; `nil` for any other rule.
  private var namedDates: [DayOfYear]? {
    guard interval.unit == .year, weekdays.isEmpty, weekNumbers.isEmpty, positions.isEmpty else { return nil }
    if !yearDays.isEmpty, monthDays.isEmpty, months.isEmpty {
      let dates = yearDays.compactMap(DayOfYear.init(number:))
      guard dates.count == yearDays.count, dates.count <= Self.mostNamedDates, DayOfYear.product(dates) == nil else {
        return nil
      }
      return dates.sorted { ($0.month, $0.day) < ($1.month, $1.day) }
    }
    let dates = months.flatMap { month in monthDays.map { DayOfYear(month: month, day: $0) } }
    let isShort = (1...Self.mostNamedDates).contains(dates.count)
    return yearDays.isEmpty && isShort && dates.allSatisfy(\.isInEveryYear) ? dates : nil
  }

  private static let mostNamedDates = 12

  /// The positions in a rule for the first or last weekday, or day of the weekend, of a month or year.
  private var positionsOfGroup: [Int]? {
    let isGroup = weekdays == RecurrenceWeekday.workdays || weekdays == RecurrenceWeekday.weekend
    let isLimited = ![monthDays, yearDays, weekNumbers].joined().isEmpty
    return [.month, .year].contains(interval.unit) && isGroup && !isLimited && !positions.isEmpty ? positions : nil
  }

  /// The days of the month in a rule that takes the last day of a month without the last of them: 1, 15 and 30.
  var daysOrElseLast: [Int]? {
    guard interval.unit == .month, weekdays.isEmpty, positions.last == -1, let last = monthDays.last, last > 28 else {
      return nil
    }
    let days = monthDays.filter { $0 < 28 } + [last]
    guard let clamped = Self.clamped(days), clamped.days == monthDays, clamped.positions == positions else {
      return nil
    }
    return days
  }

  /// The days of a month and their positions that stand for the last day where a month is too short for the last of
  /// some days; `nil` if every month has these days, or if no rule says it.
  static func clamped(_ days: [Int]) -> (days: [Int], positions: [Int])? {
    guard days.allSatisfy({ $0 > 0 }), let last = days.last, last > 28 else { return nil }
    let others = Array(days.dropLast())
    // The 31st or else the last day is the last day.
    guard last < 31 else { return (others + [-1], []) }
    guard others.allSatisfy({ $0 <= 28 }) else { return nil }
    return (others.filter { $0 < 28 } + Array(28...last), Array(1..<others.count + 1) + [-1])
  }

  /// The rule as words mean it: the last day of each month that is too short for its days.
  var clamped: RecurrenceRule {
    guard interval.unit == .month, weekdays.isEmpty, positions.isEmpty, let clamped = Self.clamped(monthDays) else {
      return self
    }
    var rule = self
    (rule.monthDays, rule.positions) = clamped
    return rule
  }
}

extension Recurrence {
  /// The recurrence as words without a day mean it in a series that begins on a day.
  ///
  /// `every month` from the 31st is the last day of each month, and `every year` from February 29 the last day of
  /// February, where RFC 5545 leaves out the months and years without that day. A date of each year on which the series
  /// begins needs no words.
  ///
  /// - Parameter day: The first day of the series.
  /// - Returns: The recurrence; the same one if the day makes no difference.
  public func inWords(beginningOn day: CalendarDay) -> Recurrence {
    guard case .rule(var rule) = self else { return self }
    switch rule.interval.unit {
    case .month where rule.isOpen && day.day > 28:
      rule.monthDays = [day.day]
      return .rule(rule.clamped)
    case .year where rule.isOpen && rule.months.isEmpty && day.month == 2 && day.day == 29:
      (rule.months, rule.monthDays) = ([2], [-1])
    case .year where rule.months == [day.month] && rule.monthDays == [day.day] && (day.month, day.day) != (2, 29):
      var open = rule
      (open.months, open.monthDays) = ([], [])
      return open.isOpen ? .rule(open) : self
    default: return self
    }
    return .rule(rule)
  }
}

extension RecurrenceWeekday {
  fileprivate var name: String { CalendarNames.weekdays[weekday - 1] }

  /// The weekday in English: `the last Friday`, or `each Friday`.
  fileprivate func words(each: String) -> String {
    ordinal.map { "the \($0.ordinalWord) \(name)" } ?? "\(each)\(name)"
  }
}

extension Int {
  /// The words for the smallest ordinals, beginning with the first.
  static let ordinalWords = ["first", "second", "third", "fourth", "fifth"]

  /// The number as an ordinal in digits: `1st`, `22nd`, `11th`; counted from the end: `last`, `2nd to last`.
  var ordinalNumber: String { ordinal { "\($0)\($0.ordinalEnding)" } }

  /// The number as an ordinal in words: `first`, `20th`; counted from the end: `last`, `second to last`.
  var ordinalWord: String {
    ordinal { $0 <= Self.ordinalWords.count ? Self.ordinalWords[$0 - 1] : "\($0)\($0.ordinalEnding)" }
  }

  private func ordinal(_ name: (Int) -> String) -> String {
    self > 0 ? name(self) : self == -1 ? "last" : "\(name(-self)) to last"
  }

  var ordinalEnding: String {
    switch (self % 10, self / 10 % 10) {
    case (1, let tens) where tens != 1: "st"
    case (2, let tens) where tens != 1: "nd"
    case (3, let tens) where tens != 1: "rd"
    default: "th"
    }
  }
}
