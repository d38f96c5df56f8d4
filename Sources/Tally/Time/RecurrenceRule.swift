/// A rule that gives days at fixed places of the calendar: every other Monday, the last day of each month.
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
/// Two rules are equal if their parts are, whatever order those were given in.
public struct RecurrenceRule: Hashable, Sendable {
  /// How far apart the days, weeks, months or years with occurrences are: `FREQ` and `INTERVAL`.
  public let interval: RecurrenceInterval
  /// The weekdays that occurrences fall on, sorted: `BYDAY`; empty for no such limit.
  public let weekdays: [RecurrenceWeekday]
  /// The days of the month that occurrences fall on, sorted: `BYMONTHDAY`; empty for no such limit.
  ///
  /// From 1 to 31, or from -31 to -1, counted from the end of the month. A month that is too short is left out.
  public let monthDays: [Int]
  /// When the rule ends: `COUNT` or `UNTIL`.
  public let end: RecurrenceEnd
  /// The day that weeks begin with, from 1 for Monday to 7 for Sunday: `WKST`.
  ///
  /// It decides which weeks every other week means, and is 1 where that changes nothing.
  public let weekStart: Int

  /// Creates a rule.
  ///
  /// Without weekdays and days of the month, occurrences fall on the weekday, the day of the month, or the month and day
  /// of the start.
  ///
  /// - Parameters:
  ///   - interval: How far apart the days, weeks, months or years with occurrences are.
  ///   - weekdays: The weekdays; with ordinals only in months and years.
  ///   - monthDays: The days of the month, from 1 or, counted from the end, from -1; not in weeks.
  ///   - end: When the rule ends.
  ///   - weekStart: The day that weeks begin with, from 1 for Monday to 7 for Sunday.
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
    // Weeks matter only where some are left out and others have several days, or one that need not be the start's.
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
  /// All of them count, also those that nobody has made a task for. The start counts only if it is one.
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
