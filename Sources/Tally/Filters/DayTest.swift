import Foundation

/// Consecutive days; none if the first one is after the last.
struct DayTest: Hashable {
  let first: Int64
  let last: Int64

  /// The days that compare with a value, given the last day below it and the last one that is not above it.
  private init(_ comparison: FilterOperator, lastBelow: Int64, lastNotAbove: Int64) {
    switch comparison {
    case .equal: (first, last) = (lastBelow + 1, lastNotAbove)
    case .less: (first, last) = (.min, lastBelow)
    case .lessOrEqual: (first, last) = (.min, lastNotAbove)
    case .greater: (first, last) = (lastNotAbove + 1, .max)
    case .greaterOrEqual: (first, last) = (lastBelow + 1, .max)
    case .contains: (first, last) = (1, 0)
    }
  }

  private init(_ comparison: FilterOperator, _ day: CalendarDay) {
    let number = Int64(day.dayNumber)
    self.init(comparison, lastBelow: number - 1, lastNotAbove: number)
  }

  /// The planned days that compare with a day, or with the local day of an instant.
  init(planned comparison: FilterOperator, _ date: ResolvedDate, in timeZone: TimeZone) {
    switch date {
    case .day(let day): self.init(comparison, day)
    case .instant(let instant): self.init(comparison, CalendarDay(containing: instant, in: timeZone))
    }
  }

  /// The due days that compare with a day, or whose last microsecond compares with an instant.
  init(due comparison: FilterOperator, _ date: ResolvedDate, in timeZone: TimeZone) {
    switch date {
    case .day(let day): self.init(comparison, day)
    case .instant(let instant):
      self.init(
        comparison, lastBelow: Self.lastDay(endingAtOrBefore: instant.microsecondsSince1970 - 1, in: timeZone),
        lastNotAbove: Self.lastDay(endingAtOrBefore: instant.microsecondsSince1970, in: timeZone))
    }
  }

  func holds(_ day: Int32) -> Bool { first <= Int64(day) && Int64(day) <= last }

  /// The last day whose last microsecond is not after an instant.
  private static func lastDay(endingAtOrBefore microseconds: Int64, in timeZone: TimeZone) -> Int64 {
    var day = CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone)
    // Where clocks go back over midnight the day of an instant may have ended once before.
    if let next = try? day.adding(days: 1) { day = next }
    while day.end(in: timeZone).microsecondsSince1970 > microseconds {
      guard let previous = try? day.adding(days: -1) else { return Int64(day.dayNumber) - 1 }
      day = previous
    }
    return Int64(day.dayNumber)
  }
}

extension CalendarDay {
  /// The last microsecond of the day.
  func end(in timeZone: TimeZone) -> Timestamp {
    (try? adding(days: 1))?.start(in: timeZone).adding(microseconds: -1) ?? .latest
  }
}
