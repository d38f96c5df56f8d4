import Foundation
import Tally

extension LocalClock {
  /// Reads the DAY of an option, whose name comes before the message of an error.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for a day that the calendar does not have.
  func day(
    _ text: String, of option: String, looking direction: DateReference.Direction = .forward
  ) throws -> CalendarDay {
    try read(text, as: .day, of: option, looking: direction) { try $0.day(against: $1) }
  }

  /// Reads the WHEN of an option, whose name comes before the message of an error.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for an instant that does not exist.
  func instant(
    _ text: String, of option: String, bareDay: TimeOfBareDay, looking direction: DateReference.Direction = .forward
  ) throws -> Timestamp {
    try read(text, as: .instant, of: option, looking: direction) { try $0.instant(against: $1, bareDay: bareDay) }
  }

  /// Reads the WHEN of an option that keeps a day without a time as a day.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for an instant that does not exist.
  func date(_ text: String, of option: String) throws -> ResolvedDate {
    try read(text, as: .instant, of: option, looking: .forward) { try $0.resolved(against: $1) }
  }

  /// The present as the library's words for days and times need it.
  func reference(
    looking direction: DateReference.Direction = .forward, countingWeeks countsWeeks: Bool = true
  ) throws -> DateReference {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    if countsWeeks { calendar.firstWeekday = try firstWeekday() }
    return DateReference(
      now: now, today: today, calendar: calendar, direction: direction, dateOrder: dateOrder(),
      dayStartInMinutes: dayStartInMinutes)
  }

  private func read<Value>(
    _ text: String, as kind: DateExpression.Kind, of option: String, looking direction: DateReference.Direction,
    _ value: (DateExpression, DateReference) throws -> Value
  ) throws -> Value {
    try CommandFailure.naming(option, quoting: text) {
      let expression = try DateExpression(text, as: kind, dateOrder: dateOrder())
      return try value(expression, reference(looking: direction, countingWeeks: expression.countsWeeks))
    }
  }
}

extension LocalClock {
  /// Reads `HH:MM`; hours below ten may have one digit.
  static func timeOfDay(_ text: String) -> (hour: Int, minute: Int)? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isTime =
      parts.count == 2 && (1...2).contains(parts[0].utf8.count) && parts[1].utf8.count == 2
      && parts.joined().utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isTime, let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60 else { return nil }
    return (hour, minute)
  }
}
