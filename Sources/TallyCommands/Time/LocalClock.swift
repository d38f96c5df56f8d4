import Foundation
import Tally

/// The current time and the time zone in which a command answers.
struct LocalClock {
  let now: Timestamp
  let zone: NamedTimeZone
  private(set) var today: CalendarDay

  var timeZone: TimeZone { zone.zone }

  init(now: Timestamp, in zone: NamedTimeZone) {
    self.now = now
    self.zone = zone
    today = CalendarDay(containing: now, in: zone.zone)
  }

  /// A clock whose days begin some minutes after midnight, so that yesterday may not be over yet.
  func beginningDays(atMinute dayStartInMinutes: Int) -> LocalClock {
    let time = wallTime(at: now)
    let isYesterday = 60 * time.hour + time.minute < dayStartInMinutes
    var clock = self
    clock.today = CalendarDay(clamping: Int64(time.day.dayNumber) - (isYesterday ? 1 : 0))
    return clock
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

  /// The instant at which a clock on the wall shows a time.
  ///
  /// A time that a clock change skips is moved forward by the length of the change (02:30 becomes 03:30); of one that
  /// occurs twice the first is used.
  func instant(of day: CalendarDay, hour: Int, minute: Int) -> Timestamp {
    let local = Int64(day.dayNumber) * 86_400 + Int64(hour) * 3_600 + Int64(minute) * 60
    // Offsets stay within a day of UTC, so these are the ones before and after any change near the time.
    let earlier = local - timeZone.secondsFromGMT(atSecond: local - 86_400)
    let later = local - timeZone.secondsFromGMT(atSecond: local + 86_400)
    func shows(_ second: Int64) -> Bool { second + timeZone.secondsFromGMT(atSecond: second) == local }
    return Timestamp(clampingSeconds: !shows(earlier) && shows(later) ? later : earlier)
  }

  /// The last instant of a day: what is due then becomes overdue as the next day begins.
  ///
  /// Not the start of the next day, which would make it due then; nor the last whole second, which would make it overdue
  /// before the day is over.
  func end(of day: CalendarDay) -> Timestamp {
    guard let next = try? day.adding(days: 1) else { return .latest }
    return next.start(in: timeZone).adding(microseconds: -1)
  }
}
