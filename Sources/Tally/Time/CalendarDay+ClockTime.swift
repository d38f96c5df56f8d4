public import Foundation

extension CalendarDay {
  /// The instant of this day at which a clock on the wall shows a time.
  ///
  /// A time that a clock change skips is moved forward by the length of the change (02:30 becomes 03:30); of one that
  /// occurs twice, the first is used. These are the choices of RFC 5545, section 3.3.5.
  ///
  /// - Parameters:
  ///   - minuteOfDay: Minutes since midnight.
  ///   - timeZone: The zone of the clock.
  /// - Returns: The instant, clamped to the earliest and the latest one.
  public func instant(atMinute minuteOfDay: Int, in timeZone: TimeZone) -> Timestamp {
    Timestamp(localSecond: Int64(dayNumber) * 86_400 + Int64(minuteOfDay) * 60, in: timeZone)
  }
}
