public import Foundation

/// The present against which words such as `today` and `friday` are understood.
public struct DateReference: Hashable, Sendable {
  /// Which way an expression without a date looks.
  public enum Direction: Hashable, Sendable {
    /// To the future, for plans: `friday` is the first one after today, `17:00` the next time a clock shows it.
    case forward
    /// To the past, for work done: `friday` is the last one up to today, `17:00` the last time a clock showed it.
    case backward
  }

  /// The present.
  public let now: Timestamp
  /// The day that `today` means.
  public let today: CalendarDay
  /// The time zone of days and of times on the clock.
  public let timeZone: TimeZone
  /// How dates in digits such as `3/4` are read; `nil` where nobody knows, so that only `24/12` and the like are dates.
  public var dateOrder: DateOrder?
  /// The first day of the week as ISO 8601 numbers it, from 1 for Monday to 7 for Sunday.
  public let weekStart: Int
  /// Which way an expression without a date looks.
  public var direction: Direction
  /// The minutes after midnight at which a day begins, for the day to which a night belongs.
  public let dayStartInMinutes: Int

  /// Creates a reference from the present and a calendar, whose time zone and first weekday count.
  ///
  /// - Parameters:
  ///   - now: The present.
  ///   - today: The day that `today` means; by default the one that contains `now`. Another one is for people whose day
  ///     begins hours after midnight.
  ///   - calendar: Gives the time zone and the first day of the week.
  ///   - direction: Which way an expression without a date looks.
  ///   - dateOrder: How dates in digits are read.
  ///   - dayStartInMinutes: The minutes after midnight at which a day begins.
  public init(
    now: Timestamp, today: CalendarDay? = nil, calendar: Calendar, direction: Direction = .forward,
    dateOrder: DateOrder? = nil, dayStartInMinutes: Int = 0
  ) {
    self.now = now
    self.today =
      today ?? CalendarDay(containing: now, in: calendar.timeZone, startingAtMinute: dayStartInMinutes)
    self.dayStartInMinutes = dayStartInMinutes
    timeZone = calendar.timeZone
    weekStart = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    self.direction = direction
    self.dateOrder = dateOrder
  }
}
