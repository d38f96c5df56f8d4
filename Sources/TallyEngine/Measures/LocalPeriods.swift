public import Foundation

/// A unit of local time, by which a series is divided.
public enum Period: String, Hashable, Codable, Sendable, CaseIterable {
  /// An hour of the clock.
  case hour
  /// A calendar day.
  case day
  /// Seven days from the first weekday on.
  case week
  /// A calendar month.
  case month
  /// Three calendar months from January, April, July or October on.
  case quarter
  /// A calendar year.
  case year

  /// The seconds of a short period of the unit; a change of the clocks may make one shorter still.
  var shortestSeconds: Int64 {
    switch self {
    case .hour: 3_600
    case .day: 86_400
    case .week: 7 * 86_400
    case .month: 28 * 86_400
    case .quarter: 90 * 86_400
    case .year: 365 * 86_400
    }
  }
}

/// A number of a series.
public struct SeriesPoint: Hashable, Sendable {
  /// When its period begins; the first one may begin before the range of the series.
  public let start: Date
  /// The sum of the amounts in the part of the period that is in the range.
  public let value: Int64

  /// The most points of one series.
  public static let maximumCount = 1_000_000

  /// The local day on which the period begins.
  public func day(in timeZone: TimeZone) -> CalendarDay {
    CalendarDay(containing: Timestamp(clamping: start), in: timeZone)
  }
}

/// How many days in a row had an amount.
public struct Streak: Hashable, Sendable {
  /// The days up to today, or up to yesterday if today has none yet.
  public let current: Int
  /// The longest streak.
  public let longest: Int
}

/// A sum and that of an earlier period.
public struct Comparison: Hashable, Sendable {
  /// The sum of the range.
  public let value: Int64
  /// The sum of the earlier range.
  public let earlier: Int64
}

/// The instants at which local periods begin in a zone.
///
/// A day begins at midnight. If the clocks go forward over midnight, it begins when they do; if they go back over
/// midnight, it begins at the first one. A period that a zone has skipped has no beginning.
struct LocalPeriods {
  private let rules: TimeZoneRules
  /// The first weekday, from 1 for Monday.
  let firstWeekday: Int

  init(in zone: TimeZone, firstWeekday: Int) {
    rules = TimeZoneRules(of: zone)
    self.firstWeekday = min(max(firstWeekday, 1), 7)
  }

  /// Local time minus UTC from some second on, until it changes.
  private struct Span {
    var offset: Int64
    /// The second at which the offset changes; `Int64.max` if it never does.
    var end: Int64
  }

  private func span(at second: Int64) -> Span {
    Span(offset: rules.offset(atSecond: second), end: rules.change(afterSecond: second) ?? .max)
  }

  /// The number of the local day that contains a second.
  func dayNumber(containing second: Int64) -> Int64 {
    floorDivide(second + rules.offset(atSecond: second), by: 86_400)
  }

  /// The hour of the day, from 0, and the weekday, from 1 for Monday, of a second.
  func hourAndWeekday(of second: Int64) -> (hour: Int, weekday: Int) {
    let local = second + rules.offset(atSecond: second)
    let day = floorDivide(local, by: 86_400)
    return (Int((local - day * 86_400) / 3_600), Self.weekday(of: day))
  }

  /// The weekday of a day, from 1 for Monday; 1970-01-01 was a Thursday.
  static func weekday(of day: Int64) -> Int {
    let distance = day + 3
    return Int(distance - floorDivide(distance, by: 7) * 7) + 1
  }

  /// The seconds at which the periods begin that overlap a range, and the one at which the last of them ends.
  func starts(of period: Period, from lower: Int64, to upper: Int64) -> [Int64] {
    if period == .hour { return hourStarts(from: lower, to: upper) }
    let starts = starts(ofDays: days(of: period, from: lower, to: upper))
    // The first one may end before the range, and the last ones begin after it, if clocks go back over midnight.
    var (first, end) = (0, starts.count - 1)
    while first + 1 < end, starts[first + 1] <= lower { first += 1 }
    while end > first + 1, starts[end - 1] >= upper { end -= 1 }
    return Array(starts[first...end])
  }

  /// The first days of the periods that overlap a range, perhaps of one more after it, and the day after the last one.
  private func days(of period: Period, from lower: Int64, to upper: Int64) -> [Int64] {
    // Where clocks go back over midnight, an instant may show a day that is over.
    let first = dayNumber(containing: lower)
    let last = max(dayNumber(containing: upper - 1), first) + 1
    switch period {
    case .hour, .day: return Array(first...(last + 1))
    case .week:
      let back = (Self.weekday(of: first) - firstWeekday + 7) % 7
      var (days, day): ([Int64], Int64) = ([], first - Int64(back))
      while day <= last {
        days.append(day)
        day += 7
      }
      return days + [day]
    case .month: return days(everyMonths: 1, from: first, to: last)
    case .quarter: return days(everyMonths: 3, from: first, to: last)
    case .year: return days(everyMonths: 12, from: first, to: last)
    }
  }

  private func days(everyMonths count: Int, from first: Int64, to last: Int64) -> [Int64] {
    let date = CivilDate(dayNumber: Int32(clamping: first))
    var (year, month) = (date.year, (date.month - 1) / count * count + 1)
    var days: [Int64] = []
    repeat {
      days.append(Int64(CivilDate(year: year, month: month, day: 1).dayNumber))
      month += count
      if month > 12 { (year, month) = (year + 1, 1) }
    } while days[days.count - 1] <= last
    return days
  }

  /// The seconds at which days begin, in ascending order; those that the zone has skipped are left out.
  private func starts(ofDays days: [Int64]) -> [Int64] {
    guard let first = days.first else { return [] }
    // No zone was ever further from UTC than 16 hours.
    var span = span(at: first * 86_400 - 18 * 3_600)
    var starts: [Int64] = []
    starts.reserveCapacity(days.count)
    for day in days {
      let midnight = day * 86_400
      var start = midnight - span.offset
      while start >= span.end {
        let change = span.end
        span = self.span(at: change)
        // The midnight that the clocks skip is the instant at which they do.
        start = max(midnight - span.offset, change)
      }
      if starts.last != start { starts.append(start) }
    }
    return starts
  }

  /// The seconds at which hours of the clock begin; a change of the offset begins one, too.
  private func hourStarts(from lower: Int64, to upper: Int64) -> [Int64] {
    var span = span(at: lower)
    let local = lower + span.offset
    var start = lower - (local - floorDivide(local, by: 3_600) * 3_600)
    if span.offset != rules.offset(atSecond: start) { start = rules.change(afterSecond: start) ?? lower }
    var starts = [start]
    while start < upper {
      let local = start + span.offset
      var next = start + 3_600 - (local - floorDivide(local, by: 3_600) * 3_600)
      if next >= span.end {
        next = span.end
        span = self.span(at: next)
      }
      starts.append(next)
      start = next
    }
    return starts
  }
}
