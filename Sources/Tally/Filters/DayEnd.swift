import Foundation

/// The end of a local day, which is the start of the next one.
struct DayEnd: Hashable {
  /// The first instant of the next day; of the first instant of all days before there are any.
  let start: Int64
  private let day: Int64
  private let timeZone: TimeZone

  /// The longest time of a day that comes again after the next one has begun, where clocks go back over midnight.
  private static let longestRepeat: Int64 = 3 * 3_600_000_000

  init(_ day: Int64, in timeZone: TimeZone) {
    self.day = day
    self.timeZone = timeZone
    switch day + 1 {
    case ..<Int64(CalendarDay.earliest.dayNumber + 1): start = .min
    case (Int64(CalendarDay.latest.dayNumber) + 1)...: start = .max
    default: start = CalendarDay(clamping: day + 1).start(in: timeZone).microsecondsSince1970
    }
  }

  /// Whether an instant lies on a later day; the zone is asked only where that is in doubt, as it costs a microsecond.
  func isBefore(_ microseconds: Int64) -> Bool {
    guard microseconds >= start else { return false }
    if microseconds >= latestStart || start == .min { return true }
    return CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone).dayNumber > day
  }

  /// From here on no instant lies on this day.
  var latestStart: Int64 { start > .max - Self.longestRepeat ? .max : start + Self.longestRepeat }
}
