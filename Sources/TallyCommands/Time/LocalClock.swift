import Foundation
import Tally

/// The current time and the time zone in which a command answers.
struct LocalClock: DateNaming {
  /// The beginning of the current second: programs such as jq read no fraction.
  let now: Timestamp
  /// The present to the microsecond, by which the store orders its changes.
  let exactNow: Timestamp
  let zone: NamedTimeZone
  let today: CalendarDay
  /// The minutes after midnight at which a day begins.
  let dayStartInMinutes: Int
  /// The first day of the week as Foundation's calendars count; looked up only where weeks count.
  let firstWeekday: @Sendable () throws -> Int
  /// How dates in digits are read, by the setting or the locale.
  let dateOrder: @Sendable () -> DateOrder?

  var timeZone: TimeZone { zone.zone }

  /// Creates a clock; `exactNow` is `now` unless it is given.
  init(
    now: Timestamp, exactNow: Timestamp? = nil, in zone: NamedTimeZone,
    beginningDaysAtMinute dayStartInMinutes: Int = 0,
    firstWeekday: @escaping @Sendable () throws -> Int = { 2 },
    dateOrder: @escaping @Sendable () -> DateOrder? = { nil }
  ) {
    self.now = now
    self.exactNow = exactNow ?? now
    self.zone = zone
    self.firstWeekday = firstWeekday
    self.dateOrder = dateOrder
    self.dayStartInMinutes = dayStartInMinutes
    today = CalendarDay(containing: now, in: zone.zone, startingAtMinute: dayStartInMinutes)
  }

  /// An instant in a sentence, which may be unknown: another program may have completed a task without a date.
  func knownName(of instant: Timestamp) -> String {
    instant == TaskDocument.longAgo ? "date unknown" : name(of: instant)
  }

  /// A clock whose days begin some minutes after midnight, so that yesterday may not be over yet.
  func beginningDays(atMinute dayStartInMinutes: Int) -> LocalClock {
    LocalClock(
      now: now, exactNow: exactNow, in: zone, beginningDaysAtMinute: dayStartInMinutes, firstWeekday: firstWeekday,
      dateOrder: dateOrder)
  }
}
