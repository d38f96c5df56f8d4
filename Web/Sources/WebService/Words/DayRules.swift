import Foundation
import Hummingbird
import Tally

/// The rules by which a person counts days and weeks: the browser's settings, or else the program's.
struct DayRules: Hashable, Sendable {
  /// The first day of the week, from 1 for Monday to 7 for Sunday; `nil` for that of the program.
  var weekStart: Int?
  /// The minutes after midnight at which a day begins, before noon; `nil` for those of the program.
  var dayStartInMinutes: Int?
}

extension DayRules {
  static let weekStartCookie = "tally-week-start"
  static let dayStartCookie = "tally-day-start"

  /// The rules of the browser that sends a request.
  init(_ request: Request) {
    func number(_ name: String, in range: Range<Int>) -> Int? {
      request.cookies[name].flatMap { Int($0.value) }.flatMap { range.contains($0) ? $0 : nil }
    }
    weekStart = number(Self.weekStartCookie, in: 1..<8)
    dayStartInMinutes = number(Self.dayStartCookie, in: 0..<720)
  }

  fileprivate func apply<Base: ~Copyable>(to transaction: inout StoreTransaction<Base>) {
    var calendar = transaction.calendar
    // The calendar's days begin with Sunday, the library's with Monday.
    if let weekStart { calendar.firstWeekday = weekStart % 7 + 1 }
    transaction.countDays(in: calendar, startingAtMinute: dayStartInMinutes ?? transaction.dayStartInMinutes)
  }
}

extension TaskStore {
  /// Reads from one snapshot, whose days and weeks are those of a person.
  func read<Result>(
    by rules: DayRules, _ body: (inout StoreReadTransaction) throws -> Result
  ) throws -> Result {
    try read { transaction in
      rules.apply(to: &transaction)
      return try body(&transaction)
    }
  }

  /// Changes the store; days and weeks are those of a person.
  func write<Result: Sendable>(
    by rules: DayRules, _ body: @escaping @Sendable (inout StoreWriteTransaction) throws -> Result
  ) async throws -> Result {
    try await write { transaction in
      rules.apply(to: &transaction)
      return try body(&transaction)
    }
  }
}

extension DateReference {
  /// `2026-11-21 14:00`, a text that a field can show and read again.
  func text(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    return "\(time.day.iso8601) \(time.clock)"
  }

  /// `waits until Fri 4 Dec`, or `waits for someday`; `nil` for a task that does not wait.
  func wait(of task: TaskItem) -> String? {
    guard task.isWaiting(on: today) else { return nil }
    return task.start?.day.map { "waits until \(relativeName(of: $0))" } ?? "waits for someday"
  }
}
