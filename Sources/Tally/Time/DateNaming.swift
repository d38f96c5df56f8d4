public import Foundation

/// Names days and instants in English, as people say them: what ``DateExpression`` reads, the other way round.
///
/// ```swift
/// let words = try store.read { $0.dateReference.relativeName(of: deadline) }  // tomorrow 14:00
/// ```
public protocol DateNaming {
  /// The present.
  var now: Timestamp { get }
  /// The day that `today` means.
  var today: CalendarDay { get }
  /// The time zone of days and of times on the clock.
  var timeZone: TimeZone { get }
  /// The minutes after midnight at which a day begins.
  var dayStartInMinutes: Int { get }
}

extension DateReference: DateNaming {}

extension DateNaming {
  /// A day as people write it: `Sat 21 Nov`, with its year if that is not the current one.
  public func name(of day: CalendarDay) -> String {
    "\(CalendarNames.weekdays[day.weekday - 1].prefix(3)) \(day.shortName(asOf: today))"
  }

  /// A day in a sentence: `today`, `tomorrow`, `yesterday`, or its name.
  public func relativeName(of day: CalendarDay) -> String {
    switch Int(day.dayNumber) - Int(today.dayNumber) {
    case 0: "today"
    case 1: "tomorrow"
    case -1: "yesterday"
    default: name(of: day)
    }
  }

  /// A day above its tasks: `Tomorrow · Sun 22 Nov`.
  public func heading(of day: CalendarDay) -> String {
    let (relative, name) = (relativeName(of: day), name(of: day))
    return relative == name ? name : relative.prefix(1).uppercased() + relative.dropFirst() + " · " + name
  }

  /// An instant in a sentence: `today 14:00`; only the day if it lies within a day's last second.
  public func relativeName(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    let day = relativeDayName(of: instant)
    return time.isLastSecondOfDay ? day : "\(day) \(time.clock)"
  }

  /// The day of an instant in a sentence.
  ///
  /// A night belongs to the day before it if days begin after midnight. Only a night to come is named by the calendar, as
  /// in what people type: 'tomorrow 02:00'.
  public func relativeDayName(of instant: Timestamp) -> String {
    let written = wallTime(at: instant).day
    let relative = written > wallTime(at: now).day ? written : day(of: instant)
    return abs(relative.dayNumber - today.dayNumber) <= 1 ? relativeName(of: relative) : name(of: written)
  }

  /// An instant on a sheet: `Sat 21 Nov 14:00`; only the day if it lies within a day's last second.
  public func name(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    return time.isLastSecondOfDay ? name(of: time.day) : "\(name(of: time.day)) \(time.clock)"
  }

  /// What a clock on the wall shows at an instant.
  public func wallTime(at instant: Timestamp) -> WallTime { WallTime(at: instant, in: timeZone) }

  /// The local day in which an instant lies, by when days begin.
  public func day(of instant: Timestamp) -> CalendarDay {
    CalendarDay(containing: instant, in: timeZone, startingAtMinute: dayStartInMinutes)
  }
}

extension CalendarDay {
  /// The day without its weekday: `21 Nov`, with the year if it is not the year of `today`.
  public func shortName(asOf today: CalendarDay) -> String {
    "\(day) \(CalendarNames.months[month - 1].prefix(3))" + (year == today.year ? "" : " \(year)")
  }
}
