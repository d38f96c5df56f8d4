public import Foundation

/// A local time, as a clock on the wall shows it.
public struct WallTime: Hashable, Sendable {
  /// The day of the calendar, which begins at midnight.
  public let day: CalendarDay
  /// The hour, from 0 to 23.
  public let hour: Int
  /// The minute, from 0 to 59.
  public let minute: Int
  /// The second, from 0 to 59.
  public let second: Int

  /// What clocks in a time zone show at an instant.
  public init(at instant: Timestamp, in timeZone: TimeZone) {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    let dayNumber = floorDivide(local, by: 86_400)
    let secondOfDay = Int(local - dayNumber * 86_400)
    day = CalendarDay(clamping: dayNumber)
    (hour, minute, second) = (secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60)
  }

  /// Whether the time lies in a day's last second, as the due time of a day alone does: the whole day counts.
  public var isLastSecondOfDay: Bool { hour == 23 && minute == 59 && second == 59 }

  /// The time of day as `14:00`.
  public var clock: String { Self.clock(ofMinute: 60 * hour + minute) }

  /// A minute of the day as `14:00`.
  public static func clock(ofMinute minute: Int) -> String {
    let (hour, minute) = (minute / 60, minute % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
