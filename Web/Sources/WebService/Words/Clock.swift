import Foundation
import Tally

/// The present of a snapshot, and the names that it gives to days and instants.
struct Clock: Equatable, Sendable {
  let now: Timestamp
  let today: CalendarDay
  let timeZone: TimeZone

  init(_ reference: DateReference) {
    (now, today, timeZone) = (reference.now, reference.today, reference.timeZone)
  }

  init<Base: ~Copyable>(_ transaction: borrowing StoreTransaction<Base>) {
    now = transaction.now
    today = transaction.today
    timeZone = transaction.calendar.timeZone
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `Sat 21 Nov`, with its year if that is not the current one.
  func name(of day: CalendarDay) -> String {
    let year = day.year == today.year ? "" : " \(day.year)"
    return "\(Self.weekdays[day.weekday - 1]) \(day.day) \(Self.months[day.month - 1])\(year)"
  }

  /// `November 2026`.
  func monthName(of day: CalendarDay) -> String { "\(Self.months[day.month - 1]) \(day.year)" }

  /// The name of a day of the week from 1, Monday, to 7; `nil` for another number.
  static func weekdayName(_ number: Int) -> String? {
    (1...7).contains(number)
      ? ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][number - 1] : nil
  }

  /// `today`, `tomorrow`, `yesterday`, or its name.
  func relativeName(of day: CalendarDay) -> String {
    switch Int(day.dayNumber) - Int(today.dayNumber) {
    case 0: "today"
    case 1: "tomorrow"
    case -1: "yesterday"
    default: name(of: day)
    }
  }

  /// A day above its tasks: `Tomorrow · Sun 22 Nov`.
  func heading(of day: CalendarDay) -> String {
    let (relative, name) = (relativeName(of: day), name(of: day))
    return relative == name ? name : relative.prefix(1).uppercased() + relative.dropFirst() + " · " + name
  }

  /// `today 14:00`.
  func relativeName(of instant: Timestamp) -> String {
    "\(relativeName(of: CalendarDay(containing: instant, in: timeZone))) \(clock(at: instant))"
  }

  /// `2026-11-21 14:00`, which the field that shows it reads again.
  func text(of instant: Timestamp) -> String {
    "\(CalendarDay(containing: instant, in: timeZone).iso8601) \(clock(at: instant))"
  }

  /// The time on a wall, and the weekday from 1, Monday, to 7.
  func wallTime(at instant: Timestamp) -> (weekday: Int, hour: Int, minute: Int) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let time = calendar.dateComponents([.weekday, .hour, .minute], from: instant.date)
    return (((time.weekday ?? 1) + 5) % 7 + 1, time.hour ?? 0, time.minute ?? 0)
  }

  private func clock(at instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    return String(format: "%02d:%02d", time.hour, time.minute)
  }
}
