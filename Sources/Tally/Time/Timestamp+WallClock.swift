public import Foundation

extension Timestamp {
  /// The instant at the same distance from another day: as many local days away, at the same local time.
  ///
  /// Nine in the morning on the day before stays nine in the morning on the day before, however clocks change in
  /// between. A local time that the clocks skip is moved forward by the length of the gap, and a repeated local time
  /// means its first occurrence (RFC 5545, section 3.3.5).
  ///
  /// - Parameters:
  ///   - day: The day from which the instant has its distance.
  ///   - newDay: The day to which it keeps that distance.
  ///   - timeZone: The time zone of the local days and times.
  /// - Returns: The instant, or the nearest one of the years 1 to 9999.
  public func moved(from day: CalendarDay, to newDay: CalendarDay, in timeZone: TimeZone) -> Timestamp {
    moved(byLocalSeconds: 86_400 * (Int64(newDay.dayNumber) - Int64(day.dayNumber)), in: timeZone)
  }

  /// Moves the instant by the wall-clock distance from `old` to `new`.
  ///
  /// A reminder at 9:00 for a meeting at 10:00 stays at 9:00 if the meeting moves by days over a clock change.
  func moved(byClockFrom old: Timestamp, to new: Timestamp, in timeZone: TimeZone) -> Timestamp {
    // Return early: in a repeated hour, the conversion would pick the first of the two instants.
    if old == new { return self }
    return moved(byLocalSeconds: new.localSeconds(in: timeZone) - old.localSeconds(in: timeZone), in: timeZone)
  }

  private func moved(byLocalSeconds distance: Int64, in timeZone: TimeZone) -> Timestamp {
    let fraction = microsecondsSince1970 - wholeSeconds * 1_000_000
    return Timestamp(localSecond: localSeconds(in: timeZone) + distance, in: timeZone).adding(microseconds: fraction)
  }

  /// The local time as if it were UTC, in seconds since 1970.
  private func localSeconds(in timeZone: TimeZone) -> Int64 {
    wholeSeconds + timeZone.secondsFromGMT(at: self)
  }

  /// The instant at which clocks in a time zone show a time.
  ///
  /// - Parameters:
  ///   - localSecond: The local time as if it were UTC, in seconds since 1970.
  ///   - timeZone: The time zone of the clocks.
  package init(localSecond: Int64, in timeZone: TimeZone) {
    let rules = TimeZoneRules(of: timeZone)
    // No zone was ever further from UTC than 16 hours, or changed its offset twice within two days: these are the
    // offsets before and after any change near the time.
    let offsetBefore = rules.offset(atSecond: localSecond - 86_400)
    let offsetAfter = rules.offset(atSecond: localSecond + 86_400)
    func isShown(with offset: Int64) -> Bool { rules.offset(atSecond: localSecond - offset) == offset }
    // The first instant of a repeated time and a skipped time both use the offset before the change.
    let isAfter = !isShown(with: offsetBefore) && isShown(with: offsetAfter)
    self.init(clampingSeconds: localSecond - (isAfter ? offsetAfter : offsetBefore))
  }
}
