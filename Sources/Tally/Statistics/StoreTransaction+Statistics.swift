import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// All statistics, exact in the calendar's time zone.
  ///
  /// ```swift
  /// let statistics = try store.read { try $0.statistics() }
  /// print(statistics.completed.today, statistics.monthTrend.message)
  /// ```
  ///
  /// - Throws: `listNotFound` for a list that has never had a task completed or created and does not exist, and for one
  ///   that the filter names; `valueOutOfRange` if the days are in the wrong order or the start of day lies outside a
  ///   day; `invalidGoal` for a goal below one task; `invalidFilter`.
  /// - Complexity: follows the number of days of history, not the number of tasks; cycle times over named days follow
  ///   the completions in them, as do the groups of one list, tag or priority in a store that has tags or priorities.
  ///   With a filter that no counter has, all completions are looked at, see ``Statistics/path-swift.property``.
  @_specialize(where Base == ReadTransaction)
  public func statistics(_ options: StatisticsOptions = StatisticsOptions()) throws -> Statistics {
    let frame = try statisticsFrame(options, needsHistory: true)
    let (daily, profile) = try dailyCompletions(frame)
    let (periods, groups) = (frame.periods, try groupCounts(frame))
    return Statistics(
      asOf: now,
      path: frame.events == nil ? .counters : .ledger,
      timeZone: calendar.timeZone,
      weekStart: CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday),
      completed: CompletedCounts(
        today: daily.sum(periods.today...periods.today), thisWeek: daily.sum(periods.thisWeek),
        lastWeek: daily.sum(periods.lastWeek), thisMonth: daily.sum(periods.thisMonth),
        lastMonth: daily.sum(periods.lastMonth), thisYear: daily.sum(periods.thisYear),
        allTime: try total(.completed, frame)),
      monthTrend: try trend("month", periods.thisMonth, periods.lastMonth, daily, frame),
      weekTrend: try trend("week", periods.thisWeek, periods.lastWeek, daily, frame),
      streak: Streak(daily, today: periods.today),
      goal: options.goal.map { GoalProgress($0, daily, frame) },
      open: try openCounts(frame),
      cycleTime: try cycleTime(frame),
      byWeekday: byWeekday(daily, frame),
      byHour: try byHour(frame, profile),
      byList: try byList(groups),
      byTag: try byTag(groups),
      byPriority: groups.byPriority,
      series: try series(frame)
    )
  }

  /// Checks the options, and walks for the events that no counter has; a result that covers the days of the whole
  /// history needs `needsHistory`.
  func statisticsFrame(_ options: StatisticsOptions, needsHistory: Bool = false) throws -> StatisticsFrame {
    var frame = try emptyFrame(options, needsHistory: needsHistory)
    frame.events = try frame.selection.predicate.map { try selectedEvents($0, frame) }
    return frame
  }

  /// A frame without events.
  func emptyFrame(_ options: StatisticsOptions, needsHistory: Bool) throws -> StatisticsFrame {
    try check(options)
    let filter = options.filter == .all ? .constant(true) : try resolved(options.filter, by: .created).predicate
    let selection = EventSelection(filter, listID: options.listID)
    let history = needsHistory ? try dayRange(CounterSeries(options), selection.scope) : nil
    return StatisticsFrame(now: now, calendar: calendar, options: options, selection: selection, history: history)
  }

  private func check(_ options: StatisticsOptions) throws {
    guard (0..<1_440).contains(options.dayStartInMinutes) else {
      throw TallyError(
        .valueOutOfRange, "The start of the day lies outside a day", remedy: "Give 0 to 1,439 minutes after midnight")
    }
    if let from = options.from, let to = options.to, from > to {
      throw TallyError(.valueOutOfRange, "The first day comes after the last one", remedy: "Give the earlier day first")
    }
    try options.goal?.validate()
    if let id = options.listID, try list(id) == nil, try total(.created, .list(id)) == 0 {
      throw TallyError.listNotFound(id)
    }
  }

  /// The completions of each local day of the whole history, and those of each hour, in one scan.
  func dailyCompletions(_ frame: StatisticsFrame) throws -> (DailyCounts, HourProfile) {
    let days = frame.completedDays
    let localDays = frame.completionDays(days)
    var profile = HourProfile(localDays.intervals)
    let cumulative = try cumulativeCounts(frame.series, frame, at: localDays.boundaries) { block, fields in
      profile.add(fields, of: block)
    }
    let daily = DailyCounts(days, localDays: localDays, cumulative: cumulative, skippedDays: frame.skippedDays)
    return (daily, profile)
  }

  /// The events of each of some local days.
  func dailyCounts(
    _ series: CounterSeries, _ days: ClosedRange<Int32>, _ frame: StatisticsFrame
  ) throws -> DailyCounts {
    let localDays = series == frame.series ? frame.completionDays(days) : frame.zoneDays(days)
    return DailyCounts(
      days, localDays: localDays, cumulative: try cumulativeCounts(series, frame, at: localDays.boundaries),
      skippedDays: frame.skippedDays)
  }

  private func trend(
    _ unit: String, _ current: ClosedRange<Int32>, _ previous: ClosedRange<Int32>, _ daily: DailyCounts,
    _ frame: StatisticsFrame
  ) throws -> Trend {
    Trend(
      unit: unit,
      current: daily.sum(current),
      previous: daily.sum(previous),
      allTime: try total(.completed, frame),
      elapsed: (
        current: try elapsedCount(of: current, daily, frame),
        previous: try elapsedCount(of: previous, sameAs: current, daily, frame)
      )
    )
  }

  /// The completions of the current period up to now, this very moment included.
  private func elapsedCount(
    of period: ClosedRange<Int32>, _ daily: DailyCounts, _ frame: StatisticsFrame
  ) throws -> Int {
    let (today, localNow) = (frame.periods.today, frame.localTimeElapsed(on: frame.periods.today))
    // A clock that goes back over midnight brings yesterday again: a part of it may lie ahead.
    let recent = max(period.lowerBound, today - 1)...today
    let before = recent.lowerBound > period.lowerBound ? daily.sum(period.lowerBound...(recent.lowerBound - 1)) : 0
    return try before
      + completionCount(frame, on: recent) { _ in
        (frame.options.usesRecordedOffsets ? localNow : frame.now.microsecondsSince1970) + 1
      }
  }

  /// The completions of the same number of days of a period as have passed of the current one, the last day up to the
  /// current time.
  private func elapsedCount(
    of period: ClosedRange<Int32>, sameAs current: ClosedRange<Int32>, _ daily: DailyCounts, _ frame: StatisticsFrame
  ) throws -> Int {
    let day = period.lowerBound + (frame.periods.today - current.lowerBound)
    guard day <= period.upperBound else { return daily.sum(period) }
    let before = day > period.lowerBound ? daily.sum(period.lowerBound...(day - 1)) : 0
    return try before
      + completionCount(frame, on: day...day) { frame.localTimeElapsed(on: day) - $0.offsetInMicroseconds + 1 }
  }

  /// The completions on some days, of each piece of them up to an end.
  private func completionCount(
    _ frame: StatisticsFrame, on days: ClosedRange<Int32>, until end: (LocalDays.Piece) -> Int64
  ) throws -> Int {
    let localDays = frame.completionDays(days)
    var count = 0
    for (index, piece) in localDays.pieces.enumerated() where piece.dayNumber != LocalDays.noDay {
      let end = min(localDays.end(ofPiece: index), end(piece))
      count += try self.count(frame.series, frame, from: piece.start, to: end)
    }
    return count
  }

  private func byWeekday(_ daily: DailyCounts, _ frame: StatisticsFrame) -> [Int] {
    var counts = Array(repeating: 0, count: 7)
    let first = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    let days = frame.namedDays
    for (day, count) in daily.existing where days?.contains(day) ?? true {
      counts[(CalendarDay(clamping: Int64(day)).weekday - first + 7) % 7] += count
    }
    return counts
  }
}

extension Streak {
  /// Finds days in a row among the days up to today.
  init(_ daily: DailyCounts, today: Int32) {
    var run = StreakRun()
    for (day, count) in daily.existing where day <= today {
      run.add(count > 0, isCurrent: day == today, lastDay: day)
    }
    self = run.streak
  }
}
