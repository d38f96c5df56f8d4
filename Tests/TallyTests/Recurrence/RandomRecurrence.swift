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
    let weekdays = oneIn(2) ? try weekdays(in: unit) : []
    let monthDays = unit == .hour || unit == .week || oneIn(2) ? [] : numbers(1...4, upTo: 31)
    let yearDays = unit == .year && oneIn(4) ? numbers(1...4, upTo: 366) : []
    let isByWeek = unit == .year && oneIn(5) && weekdays.allSatisfy { $0.ordinal == nil }
    let weekNumbers = isByWeek ? numbers(1...3, upTo: 53) : []
    let months = oneIn(3) ? numbers(1...9, upTo: 12).map { abs($0) } : []
    let hasLimit = !weekdays.isEmpty || ![monthDays, yearDays, weekNumbers, months].joined().isEmpty
    let exceptions = oneIn(4) ? (0...Int.random(in: 0...9, using: &self)).map { _ in exception() } : []
    return try RecurrenceRule(
      every: interval, on: weekdays, onMonthDays: monthDays, onYearDays: yearDays, inWeeks: weekNumbers,
      inMonths: months,
      atPositions: hasLimit && unit != .hour && oneIn(4) ? numbers(1...3, upTo: oneIn(2) ? 4 : 366) : [],
      except: exceptions, end: ends.randomElement(using: &self) ?? .never, weekStart: .random(in: 1...7, using: &self))
  }

  private mutating func exception() -> CalendarDay { CalendarDay(clamping: .random(in: 15_000...30_000, using: &self)) }

  /// A recurrence of any kind that is valid.
  mutating func recurrence() throws -> Recurrence {
    guard oneIn(8) else { return .rule(try rule()) }
    let unit = RecurrenceUnit.allCases.filter { $0 != .hour }.randomElement(using: &self) ?? .day
    return .afterCompletion(try RecurrenceInterval(.random(in: RecurrenceInterval.counts, using: &self), unit))
  }

  private mutating func weekdays(in unit: RecurrenceUnit) throws -> [RecurrenceWeekday] {
    let limit = unit == .month ? 5 : unit == .year ? 53 : 0
    return try (0...Int.random(in: 0...5, using: &self)).map { _ in
      let ordinal = Int.random(in: -limit...limit, using: &self)
      return try RecurrenceWeekday(.random(in: 1...7, using: &self), ordinal: ordinal == 0 ? nil : ordinal)
    }
  }

  /// Some numbers from 1 or -1 to a limit.
  private mutating func numbers(_ counts: ClosedRange<Int>, upTo limit: Int) -> [Int] {
    (0..<Int.random(in: counts, using: &self)).map { _ in
      let number = Int.random(in: -limit..<limit, using: &self)
      return number < 0 ? number : number + 1
    }
  }
}
