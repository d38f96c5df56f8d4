import TestSupport

@testable import Tally

extension SeededGenerator {
  /// A rule of any kind that is valid.
  mutating func rule() throws -> RecurrenceRule {
    let unit = RecurrenceUnit.allCases.randomElement(using: &self) ?? .day
    let interval = try RecurrenceInterval(oneIn(2) ? 1 : .random(in: 1...14, using: &self), unit)
    let ends: [RecurrenceEnd] = [
      .never, .count(.random(in: 1...40, using: &self)),
      .until(CalendarDay(clamping: .random(in: 15_000...30_000, using: &self))),
    ]
    return try RecurrenceRule(
      every: interval, on: oneIn(2) ? weekdays(in: unit) : [],
      onMonthDays: unit == .week || oneIn(2) ? [] : (0...Int.random(in: 0...3, using: &self)).map { _ in monthDay() },
      end: ends.randomElement(using: &self) ?? .never, weekStart: .random(in: 1...7, using: &self))
  }

  /// A recurrence of any kind that is valid.
  mutating func recurrence() throws -> Recurrence {
    guard oneIn(8) else { return .rule(try rule()) }
    let unit = RecurrenceUnit.allCases.randomElement(using: &self) ?? .day
    return .afterCompletion(try RecurrenceInterval(.random(in: RecurrenceInterval.counts, using: &self), unit))
  }

  private mutating func weekdays(in unit: RecurrenceUnit) throws -> [RecurrenceWeekday] {
    let limit = unit == .month ? 5 : unit == .year ? 53 : 0
    return try (0...Int.random(in: 0...5, using: &self)).map { _ in
      let ordinal = Int.random(in: -limit...limit, using: &self)
      return try RecurrenceWeekday(.random(in: 1...7, using: &self), ordinal: ordinal == 0 ? nil : ordinal)
    }
  }

  private mutating func monthDay() -> Int {
    let day = Int.random(in: -31...30, using: &self)
    return day < 0 ? day : day + 1
  }
}
