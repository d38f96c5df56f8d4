public import Foundation

extension CalendarDay {
  /// The local day in which an instant lies.
  public init(containing instant: Timestamp, in timeZone: TimeZone) {
    self.init(clamping: floorDivide(instant.wholeSeconds + timeZone.secondsFromGMT(at: instant), by: 86_400))
  }

  /// The local day in which an instant lies, if days begin some minutes after midnight.
  package init(containing instant: Timestamp, in timeZone: TimeZone, startingAtMinute dayStartInMinutes: Int) {
    let local = instant.wholeSeconds + timeZone.secondsFromGMT(at: instant)
    self.init(clamping: floorDivide(local - 60 * Int64(dayStartInMinutes), by: 86_400))
  }

  /// The local day in which an instant lies, in a calendar's time zone.
  ///
  /// Only the time zone of the calendar counts: days are those of the Gregorian calendar in every calendar system.
  public init(containing instant: Timestamp, in calendar: Calendar) {
    self.init(containing: instant, in: calendar.timeZone)
  }

  /// The local day in which a date lies, in a calendar's time zone; the nearest one of the years 1 to 9999.
  ///
  /// ```swift
  /// let day = CalendarDay(Date(), in: .current)
  /// ```
  public init(_ date: Date, in calendar: Calendar) {
    self.init(containing: Timestamp(clamping: date), in: calendar)
  }

  /// The first instant of this day in a calendar's time zone.
  public func start(in calendar: Calendar) -> Timestamp {
    start(in: calendar.timeZone)
  }

  /// The first instant of this day in a time zone.
  ///
  /// Usually midnight. Where clocks go forward over midnight it is the instant of the change; a day that a zone skipped
  /// (Apia's 2011-12-30) starts, empty, where the next one does. Where clocks go back over midnight, so that the day
  /// begins twice, it is the first beginning. Never before the earliest or after the latest instant.
  public func start(in timeZone: TimeZone) -> Timestamp {
    let midnight = Int64(dayNumber) * 86_400
    // No zone was ever further from UTC than 16 hours (Manila before 1844: 15:56 behind), so the day begins inside.
    // No zone ever changed its offset twice within that window.
    let before = midnight - 18 * 3_600
    let after = midnight + 18 * 3_600
    let rules = TimeZoneRules(of: timeZone)
    let offsetBefore = rules.offset(atSecond: before)
    let offsetAfter = rules.offset(atSecond: after)
    guard offsetBefore != offsetAfter, let change = rules.change(afterSecond: before),
      midnight - offsetBefore >= change
    else { return Timestamp(clampingSeconds: midnight - offsetBefore) }
    return Timestamp(clampingSeconds: max(change, midnight - offsetAfter))
  }

  /// Foundation counts from Sunday as 1, ISO 8601 from Monday as 1.
  static func isoWeekday(ofFoundation weekday: Int) -> Int {
    (weekday + 5) % 7 + 1
  }
}
