public import Foundation
public import TallyEngine

/// How a task repeats: on days of the calendar, every few hours, or some time after each completion.
///
/// ```swift
/// let rent = try Recurrence(phrase: "every month on the 1st")
/// let plants = try Recurrence(phrase: "every 3 days after completion")
/// rent.text                                      // "FREQ=MONTHLY;BYMONTHDAY=1"
/// plants.words                                   // "3 days after completion"
/// ```
public enum Recurrence: Hashable, Sendable {
  /// On the days of a rule, or at its hours.
  case rule(RecurrenceRule)
  /// An interval of days or longer units after each completion of the task.
  case afterCompletion(RecurrenceInterval)
}

/// A distance on the calendar: a number of hours, days, weeks, months or years.
public struct RecurrenceInterval: Hashable, Sendable {
  /// The number of units, within ``counts``.
  public let count: Int
  /// The unit that is counted.
  public let unit: RecurrenceUnit

  /// The numbers of units that an interval can have.
  public static let counts = 1...9_999

  /// Creates an interval.
  ///
  /// - Throws: `invalidRecurrence` unless `count` is within ``counts``.
  public init(_ count: Int, _ unit: RecurrenceUnit) throws(TallyError) {
    guard Self.counts.contains(count) else {
      throw .invalidRecurrence("The interval is not between 1 and 9999", remedy: "Give a number from 1 to 9999")
    }
    self.count = count
    self.unit = unit
  }
}

/// What an interval counts.
public enum RecurrenceUnit: CaseIterable, Hashable, Sendable {
  /// Hours by the clock; only for rules.
  case hour
  /// Days.
  case day
  /// Weeks.
  case week
  /// Months.
  case month
  /// Years.
  case year
}

extension RecurrenceUnit {
  /// The unit's name in English, in the singular.
  var name: String {
    switch self {
    case .hour: "hour"
    case .day: "day"
    case .week: "week"
    case .month: "month"
    case .year: "year"
    }
  }

  /// The unit's name as a value of `FREQ` in RFC 5545.
  var frequency: String {
    switch self {
    case .hour: "HOURLY"
    case .day: "DAILY"
    case .week: "WEEKLY"
    case .month: "MONTHLY"
    case .year: "YEARLY"
    }
  }
}

extension RecurrenceInterval {
  /// The interval in English: `day`, `2 weeks`.
  var words: String { count == 1 ? unit.name : counted }

  /// The interval in English, always with its number: `1 day`, `2 weeks`.
  var counted: String { "\(count) \(unit.name)\(count == 1 ? "" : "s")" }

  /// The day one interval later; the last day of the month if that month is too short, such as February 29
  /// after January 31.
  ///
  /// - Returns: `nil` after the year 9999.
  func day(after day: CalendarDay) -> CalendarDay? {
    switch unit {
    case .hour: return try? day.adding(days: (count + 23) / 24)
    case .day: return try? day.adding(days: count)
    case .week: return try? day.adding(days: 7 * count)
    case .month, .year:
      let month = CivilMonth(of: day).adding(months: unit == .year ? 12 * count : count)
      guard let days = month.days else { return nil }
      return CalendarDay(clamping: Int64(min(days.lowerBound + day.day - 1, days.upperBound)))
    }
  }
}

/// A weekday of a rule, or a numbered one of a month or year: Monday, the second Monday, the last Friday.
///
/// RFC 5545, section 3.3.10, calls it `weekdaynum`: `MO`, `2MO`, `-1FR`.
public struct RecurrenceWeekday: Hashable, Sendable {
  /// The day of the week, from 1 for Monday to 7 for Sunday, as ISO 8601 numbers it.
  public let weekday: Int
  /// Which occurrence in its month or year: 1 for the first, -1 for the last; `nil` for every one.
  public let ordinal: Int?

  /// Creates a weekday.
  ///
  /// - Throws: `invalidRecurrence` unless `weekday` is from 1 to 7 and `ordinal` from 1 to 53 or from -53 to -1.
  public init(_ weekday: Int, ordinal: Int? = nil) throws(TallyError) {
    guard (1...7).contains(weekday) else {
      throw .invalidRecurrence("The weekday is not between 1 and 7", remedy: "Use 1 for Monday to 7 for Sunday")
    }
    guard ordinal.map({ $0 != 0 && abs(clamping: $0) <= 53 }) ?? true else {
      throw .invalidRecurrence(
        "The ordinal of a weekday is not between 1 and 53, or -53 and -1",
        remedy: "Use 1 for the first weekday of its kind, -1 for the last")
    }
    self.weekday = weekday
    self.ordinal = ordinal
  }
}

extension RecurrenceWeekday {
  /// The weekday of a day, without an ordinal.
  init(of day: CalendarDay) {
    (weekday, ordinal) = (day.weekday, nil)
  }

  /// From Monday to Friday.
  static let workdays = (1...5).compactMap { try? RecurrenceWeekday($0) }
  /// Saturday and Sunday.
  static let weekend = (6...7).compactMap { try? RecurrenceWeekday($0) }

  /// The codes of the weekdays in RFC 5545, from Monday on.
  static let codes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  /// The weekday as RFC 5545 writes it.
  var text: String { (ordinal.map { "\($0)" } ?? "") + Self.codes[weekday - 1] }

  /// Sorts the weekdays of a rule: those without an ordinal, first, second and so on, second to last, last;
  /// then by weekday.
  static func precedes(_ left: RecurrenceWeekday, _ right: RecurrenceWeekday) -> Bool {
    (left.ordinal ?? 0).ordinalRank == (right.ordinal ?? 0).ordinalRank
      ? left.weekday < right.weekday : (left.ordinal ?? 0).ordinalRank < (right.ordinal ?? 0).ordinalRank
  }
}

extension Int {
  /// A rank that sorts ordinals as a reader expects them: 1, 2, 3, then -3, -2, -1.
  var ordinalRank: UInt { UInt(bitPattern: self) }
}

/// The absolute value of a number; the greatest number for the least one, whose absolute value does not fit.
func abs(clamping number: Int) -> Int {
  number == .min ? .max : abs(number)
}

/// The place of a task in its series: the tasks that one recurring task becomes, one after another.
public struct RecurrenceSeries: Hashable, Sendable {
  /// The id of the series' first task.
  public let id: UUID
  /// The day on which the series began: `DTSTART` of RFC 5545.
  public let start: CalendarDay
  /// The day that the recurrence gives this task, even if the task has been moved since.
  public let occurrence: CalendarDay
  /// How many tasks of the series came before this one; zero for the first.
  public let index: Int
  /// How many steps this task is after the start of a rule for hours, those without a task included; zero for any other
  /// recurrence.
  public let step: Int

  /// Creates a place in a series.
  public init(id: UUID, start: CalendarDay, occurrence: CalendarDay, index: Int, step: Int = 0) {
    (self.id, self.start, self.occurrence, self.index, self.step) = (id, start, occurrence, index, step)
  }

  /// Begins a series with its first task and its first day.
  public init(startingWith id: UUID, on start: CalendarDay) {
    self.init(id: id, start: start, occurrence: start, index: 0)
  }
}

extension RecurrenceSeries {
  /// Returns the place of the task that follows this one, as far as days decide it.
  ///
  /// By a rule, it is the rule's first day that is after this occurrence and not before today. A task that is done
  /// early does not shorten the series, and one that is done late stands for the occurrences it missed, so that they
  /// do not pile up. After completion, it is exactly one interval later, even if that day has passed.
  ///
  /// The index, and therefore the id, does not depend on when the task is completed: two devices that complete
  /// it on different days make one task, not two. A rule for hours counts from midnight here, since a place has no time.
  ///
  /// - Parameters:
  ///   - recurrence: How the task repeats.
  ///   - completion: The local day on which the task was completed.
  ///   - today: The current local day.
  /// - Returns: The place; `nil` if the recurrence has ended.
  /// - Complexity: That of ``RecurrenceRule/next(after:from:)``.
  public func next(
    by recurrence: Recurrence, completedOn completion: CalendarDay, today: CalendarDay
  ) -> RecurrenceSeries? {
    let day: CalendarDay?
    switch recurrence {
    case .rule(let rule) where rule.hours != nil:
      return next(by: HourlySteps(of: rule, from: start), notBefore: today)
    case .rule(let rule):
      let yesterday = CalendarDay(clamping: Int64(today.dayNumber) - 1)
      day = rule.next(after: max(occurrence, yesterday), from: start)
    case .afterCompletion(let interval): day = interval.day(after: completion)
    }
    return day.map { RecurrenceSeries(id: id, start: start, occurrence: $0, index: index + 1) }
  }

  /// Returns the place at the next step of a rule for hours that is not before a day.
  func next(by steps: HourlySteps, notBefore day: CalendarDay = .earliest) -> RecurrenceSeries? {
    guard let step = steps.next(after: step, notBefore: day), let occurrence = steps.day(of: step) else { return nil }
    return RecurrenceSeries(id: id, start: start, occurrence: occurrence, index: index + 1, step: step)
  }

  /// The id of the task at this place, derived from the series and the index alone.
  public var taskID: UUID {
    index == 0 ? id : UUID(derivedFrom: id, index: UInt64(clamping: index))
  }
}

extension RecurrenceSeries: Codable {
  private enum CodingKeys: String, CodingKey { case id, start, occurrence, index, step }

  /// Decodes a place; without a step, that is zero.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(UUID.self, forKey: .id), start: try container.decode(CalendarDay.self, forKey: .start),
      occurrence: try container.decode(CalendarDay.self, forKey: .occurrence),
      index: try container.decode(Int.self, forKey: .index),
      step: try container.decodeIfPresent(Int.self, forKey: .step) ?? 0)
  }

  /// Encodes the place, with its step unless that is zero.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(start, forKey: .start)
    try container.encode(occurrence, forKey: .occurrence)
    try container.encode(index, forKey: .index)
    if step != 0 { try container.encode(step, forKey: .step) }
  }
}

extension RecurrenceSeries {
  /// The size of the stored value in bytes.
  var storedByteCount: Int { step == 0 ? Self.byteCount : Self.byteCountWithStep }
  static let (byteCount, byteCountWithStep) = (28, 32)
}

extension Recurrence: TextCodable {
  /// The recurrence as it is stored and exported: `FREQ=MONTHLY;BYDAY=-1FR` or `after 3 days`.
  ///
  /// Equal recurrences have the same text.
  public var text: String {
    switch self {
    case .rule(let rule): rule.text
    case .afterCompletion(let interval): "after \(interval.counted)"
    }
  }

  /// Reads a recurrence from its ``text``; an instant in `UNTIL` means its day in UTC.
  ///
  /// - Throws: The same as ``init(text:timeZone:)``.
  public init(text: String) throws(TallyError) {
    try self.init(text: text, timeZone: .gmt)
  }

  /// Reads a recurrence: a rule of RFC 5545, with or without `RRULE:`, or `after 3 days`.
  ///
  /// Case and the order of the parts do not matter. An `UNTIL` with a time in UTC means its day in the time zone; most
  /// calendars write the last instant of the last day, or the last occurrence itself. A task whose time on that last
  /// day is later than the time of `UNTIL` therefore has one occurrence more than by the RFC, which compares instants.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - timeZone: The time zone for which the rule was made.
  /// - Throws: `invalidRecurrence` for any other text, and for a rule with parts that are not supported.
  public init(text: String, timeZone: TimeZone) throws(TallyError) {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard text.lowercased().hasPrefix("after ") else {
      self = .rule(try RecurrenceRuleParser.rule(text, timeZone: timeZone))
      return
    }
    var phrase = RecurrencePhrase(text)
    self = try phrase.whole().recurrence()
  }
}

extension Recurrence {
  /// Reads a recurrence as people write it in English, or in the form of ``text``.
  ///
  /// ```swift
  /// try Recurrence(phrase: "every other monday")
  /// try Recurrence(phrase: "every month on the 1st and the last day, 12 times")
  /// try Recurrence(phrase: "3 days after completion")
  /// ```
  ///
  /// A phrase is one of
  /// - `daily`, `weekly`, `biweekly` and `fortnightly` (every 2 weeks), `monthly`, `bimonthly` (every 2 months),
  ///   `quarterly`, `yearly`; `every 3 days`, `every other week`;
  /// - `every weekday`, `every weekend`, `every monday and thursday`, `every other friday`;
  /// - `every 15th`, `every last friday of the month`, `every last day of the month`;
  /// - `every last weekday of the month`, `every first workday`, `every last friday of november`;
  /// - `every 1 march and 15 september`, `every year on 24 december`, `every last day of february`;
  /// - `every hour`, `hourly`, `every 8 hours`, `every 6 hours on monday and friday`;
  /// - `every 2 weeks on monday and friday`, `every month on the last friday`, `yearly on the 20th monday`;
  /// - `after 3 days`, `every 3 days after completion`, `every week when done`.
  ///
  /// Except after completion, a phrase may have months (`in june and july`), exceptions (`except sundays`, `except in
  /// august`, `except 24 december 2026`), and its end: `until 31 December 2026`, `until 2026-12-31` or `for 10 times`.
  /// They may come in any order, and also before the rest: `until 2026-12-31 every day`. Case does not matter, and the
  /// names of weekdays and months may be cut after three letters. Every text that ``words`` returns is a phrase.
  ///
  /// In months that are too short for a day, the phrase means the last day: `every month on the 30th` includes February
  /// 28, unless `skipping shorter months` follows. ``WrittenRecurrence`` reads phrases that depend on the first day.
  ///
  /// - Throws: `invalidRecurrence` for any other text.
  public init(phrase text: String) throws(TallyError) {
    guard !text.contains("=") else {
      try self.init(text: text)
      return
    }
    var phrase = RecurrencePhrase(text)
    self = try phrase.whole().recurrence()
  }
}
