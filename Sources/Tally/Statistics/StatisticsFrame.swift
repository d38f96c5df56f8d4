import Foundation

/// The values that every part of one result shares: now, the days around it, the zone's offsets, the series and scope.
struct StatisticsFrame {
  let options: StatisticsOptions
  let calendar: Calendar
  let selection: EventSelection
  /// The events that a walk has found, where no counter has them.
  var events: SelectedEvents?
  /// The series of completions: by instant, or by the local time recorded with them.
  let series: CounterSeries
  let now: Timestamp
  let dayStartInMicroseconds: Int64
  let periods: StatisticsPeriods
  /// The part of today that has passed, in microseconds.
  let elapsedTodayInMicroseconds: Int64
  /// The days on which a task may have been completed.
  let historyDays: ClosedRange<Int32>?
  /// The days of the series: as named, or the number of buckets that fits a screen.
  let seriesDays: ClosedRange<Int32>
  /// The days that the zone skipped.
  let skippedDays: Set<Int32>
  private let offsets: ZoneOffsets

  /// Creates the frame; `history` is the UTC days with any events, if the result covers all of them.
  init(
    now: Timestamp, calendar: Calendar, options: StatisticsOptions, selection: EventSelection,
    history: ClosedRange<Int32>?
  ) {
    self.options = options
    self.selection = selection
    self.calendar = calendar
    self.now = now
    series = CounterSeries(options)
    dayStartInMicroseconds = Int64(options.dayStartInMinutes) * 60_000_000
    let offset = calendar.timeZone.secondsFromGMT(at: now) * 1_000_000
    let local = now.microsecondsSince1970 + offset - dayStartInMicroseconds
    let today = floorDivide(local, by: QuarterHour.microsecondsPerDay)
    elapsedTodayInMicroseconds = local - today * QuarterHour.microsecondsPerDay
    periods = StatisticsPeriods(today: Int32(clamping: today), calendar: calendar)
    seriesDays = Self.seriesDays(options, periods.today, calendar)
    // Local days differ from UTC's by an offset and the start of day: two days earlier at most, or one later. A streak
    // may end on the two days after that, one of which the zone may have skipped.
    historyDays = history.map { ($0.lowerBound - 2)...($0.upperBound + 3) }
    let days = [historyDays, seriesDays, periods.days].compactMap { $0 }
    let first = days.map(\.lowerBound).min() ?? periods.today
    let last = days.map(\.upperBound).max() ?? periods.today
    offsets = ZoneOffsets(of: calendar.timeZone, in: Self.reach(of: first...last))
    skippedDays = offsets.skippedDays(dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The scope whose counters are asked.
  var scope: CounterScope { selection.scope }

  /// The days that the options name, if they name any.
  var namedDays: ClosedRange<Int32>? {
    options.from == nil && options.to == nil ? nil : seriesDays
  }

  /// The days with completions, today without any.
  var completedDays: ClosedRange<Int32> { historyDays ?? periods.today...periods.today }

  /// The time of the named days, of recorded clocks if those count; all time if no days are named.
  var namedTimes: [Range<Int64>] {
    guard let namedDays else { return [-QuarterHour.endOfTime..<QuarterHour.endOfTime] }
    return completionDays(namedDays).intervals.map { $0.start..<$0.end }
  }

  /// The local time of a day at which the same part of it has passed as of today, in microseconds since 1970 as if in
  /// UTC.
  func localTimeElapsed(on day: Int32) -> Int64 {
    Int64(day) * QuarterHour.microsecondsPerDay + dayStartInMicroseconds + elapsedTodayInMicroseconds
  }

  /// The pieces of local days for completions, which may be counted by their recorded local time.
  func completionDays(_ days: ClosedRange<Int32>) -> LocalDays {
    guard options.usesRecordedOffsets else { return zoneDays(days) }
    let local = ZoneOffsets(localIn: Self.reach(of: days))
    return LocalDays(days, offsets: local, dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The pieces of local days in the calendar's zone; days of the history, of the series or of the periods.
  func zoneDays(_ days: ClosedRange<Int32>) -> LocalDays {
    LocalDays(days, offsets: offsets, dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The time from before the first of some local days begins anywhere until after the last has ended everywhere.
  private static func reach(of days: ClosedRange<Int32>) -> Range<Int64> {
    let day = QuarterHour.microsecondsPerDay
    return (Int64(days.lowerBound) - 3) * day..<(Int64(days.upperBound) + 4) * day
  }

  private static func seriesDays(
    _ options: StatisticsOptions, _ today: Int32, _ calendar: Calendar
  ) -> ClosedRange<Int32> {
    let last = options.to?.dayNumber ?? max(today, options.from?.dayNumber ?? .min)
    if let from = options.from { return from.dayNumber...last }
    // Thirty days, or twelve weeks, months or years.
    guard options.unit != .day else { return (last - 29)...last }
    var first = StatisticsPeriods.period(options.unit, containing: last, calendar: calendar).lowerBound
    for _ in 1..<12 {
      first = StatisticsPeriods.period(options.unit, containing: first - 1, calendar: calendar).lowerBound
    }
    return first...last
  }
}

extension CounterSeries {
  /// The series of completions of the options.
  init(_ options: StatisticsOptions) {
    self = options.usesRecordedOffsets ? .completedAsRecorded : .completed
  }
}
