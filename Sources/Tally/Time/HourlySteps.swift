import TallyEngine

/// The steps of a rule for hours: times on the clock, from the first one of a series on.
///
/// A step is a number: 8 hours after the start is step 1 of a rule for every 8 hours. Days and times are those of a clock
/// that nobody changes (RFC 5545, section 3.3.10, with floating times). The rule gives a step if it gives its day.
struct HourlySteps: Sendable {
  private let rule: RecurrenceRule
  private let hours: Int
  private let start: Int
  /// The time of the start in seconds since midnight.
  private let second: Int

  /// Creates the steps of a rule.
  ///
  /// - Parameters:
  ///   - rule: A rule for hours.
  ///   - start: The day of the first step.
  ///   - second: Its time, in seconds since midnight.
  init(of rule: RecurrenceRule, from start: CalendarDay, atSecond second: Int = 0) {
    (self.rule, hours, self.start, self.second) = (rule, rule.interval.count, Int(start.dayNumber), second)
  }

  /// The day of a step; `nil` after the year 9999.
  func day(of step: Int) -> CalendarDay? {
    let day = start + (second + step * hours * 3_600) / 86_400
    return day > CalendarDay.latest.dayNumber ? nil : CalendarDay(clamping: Int64(day))
  }

  /// The first step after another one that the rule gives and does not leave out.
  ///
  /// - Parameters:
  ///   - step: The step after which to look; -1 for the first one.
  ///   - earliest: A day before which the step is not.
  /// - Returns: The step; `nil` if the rule has ended by then.
  /// - Complexity: As ``RecurrenceRule/next(after:from:)``.
  func next(after step: Int, notBefore earliest: CalendarDay = .earliest) -> Int? {
    var candidate = max(step + 1, first(on: earliest))
    var remaining = Int.max
    if case .count(let count) = rule.end { remaining = count - number(ofStepsBefore: candidate) }
    var misses = 0
    while remaining > 0, misses <= Self.countOfCycle, let day = day(of: candidate), !rule.hasEnded(before: day) {
      if rule.gives(day) {
        (misses, remaining) = (0, remaining - 1)
        if !rule.exceptions.contains(day) { return candidate }
      } else {
        misses += 1
      }
      candidate += 1
    }
    return nil
  }

  /// The number of a step among those that a rule with a ``RecurrenceEnd/count(_:)`` gives, counted from 1.
  func number(of step: Int) -> Int { number(ofStepsBefore: step + 1) }

  private func number(ofStepsBefore step: Int) -> Int {
    guard rule.hasLimits, case .count(let limit) = rule.end else { return step }
    var (number, candidate) = (0, 0)
    while candidate < step, number < limit, let day = day(of: candidate) {
      if rule.gives(day) { number += 1 }
      candidate += 1
    }
    return number
  }

  /// The first step on or after a day.
  private func first(on day: CalendarDay) -> Int {
    let distance = (Int(day.dayNumber) - start) * 86_400 - second
    return distance <= 0 ? 0 : (distance + hours * 3_600 - 1) / (hours * 3_600)
  }

  /// More steps in a row than any rule leaves out that gives another one: the Gregorian calendar repeats every 400
  /// years, and only rules of whole days leave out more than a year.
  private static let countOfCycle = 146_097
}

extension RecurrenceRule {
  /// The number of hours of a step; `nil` for a rule of days.
  var hours: Int? { interval.unit == .hour ? interval.count : nil }

  fileprivate var hasLimits: Bool { !weekdays.isEmpty || !months.isEmpty }

  /// Whether the limits of a rule for hours give a day.
  fileprivate func gives(_ day: CalendarDay) -> Bool {
    (weekdays.isEmpty || weekdays.contains { $0.weekday == day.weekday })
      && (months.isEmpty || months.contains(day.month))
  }

  fileprivate func hasEnded(before day: CalendarDay) -> Bool {
    if case .until(let last) = end { last < day } else { false }
  }
}

extension Recurrence {
  /// The number of hours of a step; `nil` for a recurrence of days.
  package var hours: Int? { if case .rule(let rule) = self { rule.hours } else { nil } }
}
