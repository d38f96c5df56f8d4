import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Everything there is to say about what was completed, exact in the calendar's time zone.
  ///
  /// ```swift
  /// let statistics = try store.read { try $0.statistics() }
  /// print(statistics.completed.today, statistics.monthTrend.message)
  /// ```
  ///
  /// - Throws: `listNotFound` for a list that has never had a task completed or created and does not exist;
  ///   `valueOutOfRange` if the days are in the wrong order or the start of day lies outside a day.
  /// - Complexity: follows the number of days of history, not the number of tasks; cycle times over named days follow
  ///   the completions in them.
  public func statistics(_ options: StatisticsOptions = StatisticsOptions()) throws -> Statistics {
    let frame = try statisticsFrame(options)
    let daily = try dailyCompletions(frame)
    let completed = completedCounts(daily, frame.periods, allTime: try total(.completed, frame.scope))
    return Statistics(
      asOf: now, timeZone: calendar.timeZone,
      weekStart: StatisticsPeriods.isoWeekday(ofFoundation: calendar.firstWeekday), completed: completed,
      monthTrend: try trend("month", frame.periods.thisMonth, frame.periods.lastMonth, daily, frame),
      weekTrend: try trend("week", frame.periods.thisWeek, frame.periods.lastWeek, daily, frame),
      streak: Streak(daily, today: frame.periods.today), open: try openCounts(frame),
      cycleTime: try cycleTime(frame), byWeekday: byWeekday(daily, frame), byHour: try byHour(frame),
      byList: try byList(frame), series: try series(frame))
  }

  func statisticsFrame(_ options: StatisticsOptions) throws -> StatisticsFrame {
    guard (0..<1_440).contains(options.dayStartInMinutes) else {
      throw TallyError(
        .valueOutOfRange, "The start of the day lies outside a day", remedy: "Give 0 to 1,439 minutes after midnight")
    }
    if let from = options.from, let to = options.to, from > to {
      throw TallyError(
        .valueOutOfRange, "The first day comes after the last one", remedy: "Give the earlier day first")
    }
    if let id = options.listID, try list(id) == nil, try total(.created, .list(id)) == 0 {
      throw TallyError.listNotFound(id)
    }
    return StatisticsFrame(now: now, calendar: calendar, options: options)
  }

  /// The completions of each local day of all history.
  func dailyCompletions(_ frame: StatisticsFrame) throws -> DailyCounts {
    let history = try dayRange(frame.series, frame.scope) ?? frame.periods.today...frame.periods.today
    let days = (history.lowerBound - 1)...(history.upperBound + 1)
    let pieces = frame.completionDays(days)
    let cumulative = try cumulativeCounts(
      frame.series, frame.scope, at: pieces.pieces.map(\.start) + [pieces.end])
    return DailyCounts(days, localDays: pieces, cumulative: cumulative)
  }

  private func completedCounts(
    _ daily: DailyCounts, _ periods: StatisticsPeriods, allTime: Int
  ) -> CompletedCounts {
    CompletedCounts(
      today: daily.sum(periods.today...periods.today), thisWeek: daily.sum(periods.thisWeek),
      lastWeek: daily.sum(periods.lastWeek), thisMonth: daily.sum(periods.thisMonth),
      lastMonth: daily.sum(periods.lastMonth), thisYear: daily.sum(periods.thisYear), allTime: allTime)
  }

  private func trend(
    _ unit: String, _ current: ClosedRange<Int32>, _ previous: ClosedRange<Int32>, _ daily: DailyCounts,
    _ frame: StatisticsFrame
  ) throws -> Trend {
    let dayCount = frame.periods.today - current.lowerBound
    return Trend(
      unit: unit, current: daily.sum(current), previous: daily.sum(previous),
      allTime: try total(.completed, frame.scope),
      elapsed: (
        current: try elapsedCount(current, dayCount: dayCount, daily, frame),
        previous: try elapsedCount(previous, dayCount: dayCount, daily, frame)
      ))
  }

  /// The completions in a period's first days and in the part of the next one that has passed of today.
  private func elapsedCount(
    _ period: ClosedRange<Int32>, dayCount: Int32, _ daily: DailyCounts, _ frame: StatisticsFrame
  ) throws -> Int {
    let day = period.lowerBound + dayCount
    guard day <= period.upperBound else { return daily.sum(period) }
    var count = dayCount > 0 ? daily.sum(period.lowerBound...(day - 1)) : 0
    let days = frame.completionDays(day...day)
    for (index, piece) in days.pieces.enumerated() where piece.dayNumber == day {
      let end = index + 1 < days.pieces.count ? days.pieces[index + 1].start : days.end
      let dayStart =
        Int64(day) * QuarterHour.microsecondsPerDay + frame.dayStartInMicroseconds - piece.offsetInMicroseconds
      // What was completed at this very moment belongs to the elapsed part.
      let elapsedEnd = min(end, dayStart + frame.elapsedTodayInMicroseconds + 1)
      count += try self.count(frame.series, frame.scope, from: piece.start, to: elapsedEnd)
    }
    return count
  }

  private func byWeekday(_ daily: DailyCounts, _ frame: StatisticsFrame) -> [Int] {
    var counts = Array(repeating: 0, count: 7)
    let first = StatisticsPeriods.isoWeekday(ofFoundation: calendar.firstWeekday)
    let days = frame.namedDays
    daily.forEach { day, count in
      guard days?.contains(day) ?? true else { return }
      counts[(CalendarDay(clamping: Int64(day)).weekday - first + 7) % 7] += count
    }
    return counts
  }
}

extension Streak {
  /// Looks for days in a row among the days up to today.
  init(_ daily: DailyCounts, today: Int32) {
    var run = 0
    var longest = 0
    var longestEnd: Int32?
    var lastDay: Int32?
    daily.forEach { day, count in
      guard day <= today else { return }
      // A day without a completion yet does not break the current streak.
      if count == 0, day == today { return }
      run = count == 0 ? 0 : run + 1
      lastDay = day
      if run > longest { (longest, longestEnd) = (run, day) }
    }
    let isCurrent = lastDay.map { $0 >= today - 1 } ?? false
    self.init(
      current: isCurrent ? run : 0, longest: longest,
      longestEnded: longestEnd.map { CalendarDay(clamping: Int64($0)) })
  }
}
