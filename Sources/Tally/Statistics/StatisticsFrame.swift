import Foundation

/// What every part of one answer shares: now, the days around it, the zone's offsets and what is counted for whom.
struct StatisticsFrame {
  let options: StatisticsOptions
  let calendar: Calendar
  let scope: CounterScope
  /// The series of completions: by instant, or by the local time recorded with them.
  let series: CounterSeries
  let dayStartInMicroseconds: Int64
  let periods: StatisticsPeriods
  /// How much of today has passed, in microseconds.
  let elapsedTodayInMicroseconds: Int64

  init(now: Timestamp, calendar: Calendar, options: StatisticsOptions) {
    self.options = options
    self.calendar = calendar
    scope = options.listID.map { .list($0) } ?? .all
    series = options.usesRecordedOffsets ? .completedAsRecorded : .completed
    dayStartInMicroseconds = Int64(options.dayStartInMinutes) * 60_000_000
    let offset = Int64(calendar.timeZone.secondsFromGMT(for: now.date)) * 1_000_000
    let local = now.microsecondsSince1970 + offset - dayStartInMicroseconds
    let today = floorDivide(local, by: QuarterHour.microsecondsPerDay)
    elapsedTodayInMicroseconds = local - today * QuarterHour.microsecondsPerDay
    periods = StatisticsPeriods(today: Int32(clamping: today), calendar: calendar)
  }

  /// The pieces of local days for completions, which may be counted by their recorded local time.
  func completionDays(_ days: ClosedRange<Int32>) -> LocalDays {
    localDays(days, isLocal: options.usesRecordedOffsets)
  }

  /// The pieces of local days in the calendar's zone.
  func zoneDays(_ days: ClosedRange<Int32>) -> LocalDays {
    localDays(days, isLocal: false)
  }

  private func localDays(_ days: ClosedRange<Int32>, isLocal: Bool) -> LocalDays {
    let margin = 3 * QuarterHour.microsecondsPerDay
    let start = Int64(days.lowerBound) * QuarterHour.microsecondsPerDay - margin
    let end = (Int64(days.upperBound) + 1) * QuarterHour.microsecondsPerDay + margin
    let offsets =
      isLocal ? ZoneOffsets(localFrom: start, to: end) : ZoneOffsets(of: calendar.timeZone, from: start, to: end)
    return LocalDays(days, offsets: offsets, dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The days that the options name, if they name any.
  var namedDays: ClosedRange<Int32>? {
    guard options.from != nil || options.to != nil else { return nil }
    return seriesDays
  }

  /// The days of the series: as named, or as many buckets as fit a screen.
  var seriesDays: ClosedRange<Int32> {
    let last = options.to?.dayNumber ?? max(periods.today, options.from?.dayNumber ?? .min)
    return (options.from?.dayNumber ?? firstDay(before: last))...last
  }

  /// Thirty days, or twelve weeks, months or years.
  private func firstDay(before last: Int32) -> Int32 {
    guard options.unit != .day else { return last - 29 }
    var first = StatisticsPeriods.period(options.unit, containing: last, calendar: calendar).lowerBound
    for _ in 1..<12 {
      first = StatisticsPeriods.period(options.unit, containing: first - 1, calendar: calendar).lowerBound
    }
    return first
  }
}
