import Foundation
import Tally

/// The current time and the time zone in which a command answers.
struct LocalClock {
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

  var timeZone: TimeZone { zone.zone }

  /// Creates a clock; `exactNow` is `now` unless it is given.
  init(
    now: Timestamp, exactNow: Timestamp? = nil, in zone: NamedTimeZone,
    beginningDaysAtMinute dayStartInMinutes: Int = 0,
    firstWeekday: @escaping @Sendable () throws -> Int = { 2 }
  ) {
    self.now = now
    self.exactNow = exactNow ?? now
    self.zone = zone
    self.firstWeekday = firstWeekday
    self.dayStartInMinutes = dayStartInMinutes
    today = CalendarDay(containing: now, in: zone.zone, startingAtMinute: dayStartInMinutes)
  }

  /// A clock whose days begin some minutes after midnight, so that yesterday may not be over yet.
  func beginningDays(atMinute dayStartInMinutes: Int) -> LocalClock {
    LocalClock(
      now: now, exactNow: exactNow, in: zone, beginningDaysAtMinute: dayStartInMinutes, firstWeekday: firstWeekday)
  }

  /// The local day in which an instant lies, by when days begin.
  func day(of instant: Timestamp) -> CalendarDay {
    CalendarDay(containing: instant, in: timeZone, startingAtMinute: dayStartInMinutes)
  }
}

/// A local time, as a clock on the wall shows it.
struct WallTime: Hashable {
  let day: CalendarDay
  let hour: Int
  let minute: Int
  let second: Int

  /// The due time of a day alone: the whole day counts.
  var isLastSecondOfDay: Bool { hour == 23 && minute == 59 && second == 59 }
}

extension LocalClock {
  /// What a clock on the wall shows at an instant.
  func wallTime(at instant: Timestamp) -> WallTime {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    let dayNumber = floorDivide(local, by: 86_400)
    let secondOfDay = Int(local - dayNumber * 86_400)
    return WallTime(
      day: CalendarDay(clamping: dayNumber),
      hour: secondOfDay / 3_600,
      minute: secondOfDay / 60 % 60,
      second: secondOfDay % 60
    )
  }
}
