public import Foundation
import LMDB
public import TallyEngine

/// Completions over time and by group, as returned by `StoreTransaction.statistics(_:)`.
///
/// Completions dated after `asOf` count in their own periods; streaks use the days up to today. When encoded,
/// each part has the name of its property, which will not change; `nil` is left out, and the time zone is
/// Foundation's `{"identifier": …}`.
public struct Statistics: Hashable, Codable, Sendable {
  /// The source of the numbers.
  public enum Path: String, CaseIterable, Hashable, Codable, Sendable {
    /// The counters of everything, of one list or no list, of one tag, or of one priority.
    case counters
    /// A walk over the ledger of completions and the open tasks, if no counter covers what the filter selects.
    case ledger
  }

  /// The instant that the result treats as now.
  public internal(set) var asOf: Timestamp
  /// The source of the numbers.
  public let path: Path
  /// The time zone of the days.
  public let timeZone: TimeZone
  /// The first day of the week, from 1 for Monday to 7 for Sunday (ISO 8601).
  public let weekStart: Int
  /// Completions by period.
  public let completed: CompletedCounts
  /// This month compared with last month.
  public let monthTrend: Trend
  /// This week compared with last week.
  public let weekTrend: Trend
  /// The consecutive days with a completion.
  public let streak: Streak
  /// The progress towards the goal in the options; `nil` if they have no goal.
  public let goal: GoalProgress?
  /// The counts of open tasks.
  public let open: OpenCounts
  /// The time from creation to completion.
  public let cycleTime: CycleTime
  /// Completions by day of the week, beginning with `weekStart`; 7 counts.
  public let byWeekday: [Int]
  /// Completions by hour of the local day; 24 counts.
  public let byHour: [Int]
  /// Completions by list: first those without a list, then the lists in their order, then deleted lists; only
  /// those with completions.
  public let byList: [ListCount]
  /// Completions by tag at the time of completion, the most frequent first and ties by name; only tags with
  /// completions.
  public let byTag: [TagCount]
  /// Completions by priority at the time of completion, from the highest to `none`; only priorities with completions.
  public let byPriority: [PriorityCount]
  /// Completions, creations and open tasks over time.
  public let series: Series

  /// Whether two results are equal apart from their instant.
  func saysTheSame(as other: Statistics) -> Bool {
    var other = other
    other.asOf = asOf
    return self == other
  }
}

/// The numbers of tasks completed in the periods around now.
public struct CompletedCounts: Hashable, Codable, Sendable {
  /// On the current local day.
  public let today: Int
  /// In the whole current week.
  public let thisWeek: Int
  /// In the previous week.
  public let lastWeek: Int
  /// In the whole current month.
  public let thisMonth: Int
  /// In the previous month.
  public let lastMonth: Int
  /// In the whole current year.
  public let thisYear: Int
  /// In all time.
  public let allTime: Int

  /// The day's count as a sentence: `1 task completed today`.
  public var todayMessage: String { Self.message(today, "today") }

  /// The week's count as a sentence: `12 tasks completed this week`.
  public var weekMessage: String { Self.message(thisWeek, "this week") }

  /// The month's count as a sentence: `0 tasks completed this month`.
  public var monthMessage: String { Self.message(thisMonth, "this month") }

  private static func message(_ count: Int, _ period: String) -> String {
    "\(count == 1 ? "1 task" : "\(count) tasks") completed \(period)"
  }
}

/// Consecutive days with a completion, or consecutive days or weeks in which a goal was met.
public struct Streak: Hashable, Codable, Sendable {
  /// The number of consecutive days or weeks up to the current one, or up to the previous one if the current
  /// one may still count.
  public let current: Int
  /// The length of the longest streak up to the current day or week.
  public let longest: Int
  /// The last day of the longest streak, or of the first if several are equally long; `nil` if there is none.
  public let longestEnded: CalendarDay?
}

/// The number of open tasks, and the progress of today.
///
/// Tasks that wait for their start count in the total only.
public struct OpenCounts: Hashable, Codable, Sendable {
  /// The number of tasks that are not completed.
  public let total: Int
  /// The number of open tasks that are active.
  public let active: Int
  /// The number of open tasks that are overdue.
  public let overdue: Int
  /// The number of tasks scheduled for today, including completed ones.
  public let scheduledToday: Int
  /// The number of tasks scheduled for today that are completed.
  public let completedOfToday: Int
}

/// The time that tasks took from creation to completion, to the second up to two minutes and to 1 % beyond.
public struct CycleTime: Hashable, Codable, Sendable {
  /// The number of completions included.
  public let count: Int
  /// Half of the completions took at most this long; `nil` without completions.
  public let medianInSeconds: Int64?
  /// Nine out of ten completions took at most this long; `nil` without completions.
  public let percentile90InSeconds: Int64?
}

/// Options that select what statistics cover.
///
/// ```swift
/// var options = StatisticsOptions()
/// options.unit = .month
/// let statistics = try store.read { try $0.statistics(options) }
/// ```
public struct StatisticsOptions: Hashable, Sendable {
  /// The list in which tasks were completed; `nil` for all lists.
  public var listID: UUID?
  /// A filter that selects tasks; a completion has the list, the tags and the priority of its time.
  ///
  /// All other fields are those of the task now, or absent if the task has been deleted; see
  /// <doc:StatisticsAndTimeZones>.
  public var filter = TaskFilter.all
  /// The first day of the series, the profiles and the cycle times; `nil` for the default.
  ///
  /// By default the series has 30 days, or 12 weeks, months or years, up to `to` or today. The profiles and
  /// the cycle times have the same days, unless `to` is `nil` as well: then they cover everything.
  public var from: CalendarDay?
  /// The last day of the series, the profiles and the cycle times, included.
  public var to: CalendarDay?
  /// The length of the series' buckets.
  public var unit = Series.Unit.day
  /// The goal for each day or week; `nil` for none.
  public var goal: Goal?
  /// The start of the day in minutes after local midnight, up to 1,439, for people who work past midnight.
  public var dayStartInMinutes = 0
  /// Whether a completion counts on the local day of the place where it happened, so that travel does not move
  /// it, instead of the local day in the calendar's time zone.
  public var usesRecordedOffsets = false

  /// Creates options that select everything in all lists.
  public init() {}
}

/// The periods around today, as ranges of local days.
struct StatisticsPeriods {
  let today: Int32
  let thisWeek: ClosedRange<Int32>
  let lastWeek: ClosedRange<Int32>
  let thisMonth: ClosedRange<Int32>
  let lastMonth: ClosedRange<Int32>
  let thisYear: ClosedRange<Int32>

  init(today: Int32, calendar: Calendar) {
    self.today = today
    let weekStart = Self.weekStart(of: today, calendar: calendar)
    thisWeek = weekStart...(weekStart + 6)
    lastWeek = (weekStart - 7)...(weekStart - 1)
    thisMonth = Self.period(Series.Unit.month, containing: today, calendar: calendar)
    lastMonth = Self.period(Series.Unit.month, containing: thisMonth.lowerBound - 1, calendar: calendar)
    thisYear = Self.period(Series.Unit.year, containing: today, calendar: calendar)
  }

  /// The days of all these periods.
  var days: ClosedRange<Int32> {
    min(lastWeek.lowerBound, lastMonth.lowerBound, thisYear.lowerBound)...max(thisWeek.upperBound, thisYear.upperBound)
  }

  /// The first day of the week that contains a day.
  static func weekStart(of dayNumber: Int32, calendar: Calendar) -> Int32 {
    let first = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    let weekday = CalendarDay(clamping: Int64(dayNumber)).weekday
    return dayNumber - Int32((weekday - first + 7) % 7)
  }

  /// The days of the week, month or year that contains a day, in the calendar's system, Gregorian or not.
  static func period(_ unit: Series.Unit, containing dayNumber: Int32, calendar: Calendar) -> ClosedRange<Int32> {
    switch unit {
    case .day: return dayNumber...dayNumber
    case .week:
      let start = weekStart(of: dayNumber, calendar: calendar)
      return start...(start + 6)
    case .month: return period(Calendar.Component.month, containing: dayNumber, calendar: calendar)
    case .year: return period(Calendar.Component.year, containing: dayNumber, calendar: calendar)
    }
  }

  /// Uses Greenwich time, because months and years do not depend on the zone once the day is known, and all
  /// days there have 24 hours.
  private static func period(
    _ component: Calendar.Component, containing dayNumber: Int32, calendar: Calendar
  ) -> ClosedRange<Int32> {
    if let period = gregorianPeriod(component, containing: dayNumber, calendar: calendar) { return period }
    var calendar = calendar
    calendar.timeZone = .gmt
    let noon = Date(timeIntervalSince1970: (Double(dayNumber) + 0.5) * 86_400)
    guard let interval = calendar.dateInterval(of: component, for: noon) else { return dayNumber...dayNumber }
    let first = Int32((interval.start.timeIntervalSince1970 / 86_400).rounded())
    let next = Int32((interval.end.timeIntervalSince1970 / 86_400).rounded())
    return first...max(first, next - 1)
  }

  /// The days of a Gregorian month or year, computed without Foundation, which takes about ten microseconds and
  /// uses the Julian calendar before 1582, unlike Tally.
  private static func gregorianPeriod(
    _ component: Calendar.Component, containing dayNumber: Int32, calendar: Calendar
  ) -> ClosedRange<Int32>? {
    let isGregorian = calendar.identifier == .gregorian || calendar.identifier == .iso8601
    guard isGregorian, CivilDate.dayNumbers.contains(dayNumber) else { return nil }
    let date = CivilDate(dayNumber: dayNumber)
    let isMonth = component == .month
    let first = CivilDate(year: date.year, month: isMonth ? date.month : 1, day: 1)
    var next = CivilDate(year: date.year + 1, month: 1, day: 1)
    if isMonth, date.month < 12 { next = CivilDate(year: date.year, month: date.month + 1, day: 1) }
    return first.dayNumber...(next.dayNumber - 1)
  }
}

/// The values shared by all parts of a result: now, the days around it, the zone's offsets, the series and the scope.
struct StatisticsContext {
  let options: StatisticsOptions
  let calendar: Calendar
  let selection: EventSelection
  /// The events that a walk has collected, if no counter has them.
  var events: SelectedEvents?
  /// The series of completions: by instant, or by recorded local time.
  let series: CounterSeries
  let now: Timestamp
  let dayStartInMicroseconds: Int64
  let periods: StatisticsPeriods
  /// The elapsed part of today in microseconds.
  let elapsedTodayInMicroseconds: Int64
  /// The days on which tasks may have been completed.
  let historyDays: ClosedRange<Int32>?
  /// The days of the series: the named ones, or the last periods, as many as fit a screen.
  let seriesDays: ClosedRange<Int32>
  /// The days that the zone skipped.
  let skippedDays: Set<Int32>
  private let offsets: ZoneOffsets

  /// Creates a context; `history` is the range of UTC days with events, if the result covers all of them.
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
    // Local days differ from UTC days by the offset and the start of the day, and are at most two days earlier
    // or one day later. A streak may end on the two days after that, one of which the zone may have skipped.
    historyDays = history.map { ($0.lowerBound - 2)...($0.upperBound + 3) }
    let days = [historyDays, seriesDays, periods.days].compactMap { $0 }
    let first = days.map(\.lowerBound).min() ?? periods.today
    let last = days.map(\.upperBound).max() ?? periods.today
    offsets = ZoneOffsets(of: calendar.timeZone, in: Self.reach(of: first...last))
    skippedDays = offsets.skippedDays(dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The scope whose counters are read.
  var scope: CounterScope { selection.scope }

  /// The days that the options name; `nil` if they name none.
  var namedDays: ClosedRange<Int32>? {
    options.from == nil && options.to == nil ? nil : seriesDays
  }

  /// The days on which tasks may have been completed; only today if there are no completions.
  var completedDays: ClosedRange<Int32> { historyDays ?? periods.today...periods.today }

  /// The time spans of the named days, in recorded local time if the options use it; all time if no days are named.
  var namedTimes: [Range<Int64>] {
    guard let namedDays else { return [-QuarterHour.endOfTime..<QuarterHour.endOfTime] }
    return completionDays(namedDays).intervals.map { $0.start..<$0.end }
  }

  /// The local time of a day when as much of it has elapsed as has of today, in microseconds since 1970 as if it
  /// were UTC.
  func localTimeElapsed(on day: Int32) -> Int64 {
    Int64(day) * QuarterHour.microsecondsPerDay + dayStartInMicroseconds + elapsedTodayInMicroseconds
  }

  /// The pieces of local days for completions, in recorded local time if the options use it.
  func completionDays(_ days: ClosedRange<Int32>) -> LocalDays {
    guard options.usesRecordedOffsets else { return zoneDays(days) }
    let local = ZoneOffsets(localIn: Self.reach(of: days))
    return LocalDays(days, offsets: local, dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The pieces of local days in the calendar's zone; the days must be in the history, the series or the periods.
  func zoneDays(_ days: ClosedRange<Int32>) -> LocalDays {
    LocalDays(days, offsets: offsets, dayStartInMicroseconds: dayStartInMicroseconds)
  }

  /// The time from before the first of some local days begins in any zone until after the last one has ended in
  /// every zone.
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
  /// Creates the series of completions that the options use.
  init(_ options: StatisticsOptions) {
    self = options.usesRecordedOffsets ? .completedAsRecorded : .completed
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Returns all statistics, exact in the calendar's time zone.
  ///
  /// ```swift
  /// let statistics = try store.read { try $0.statistics() }
  /// print(statistics.completed.today, statistics.monthTrend.message)
  /// ```
  ///
  /// - Throws: `listNotFound` for a list that does not exist and in which no task was ever completed or
  ///   created, and for a list named by the filter; `valueOutOfRange` if the days are in the wrong order or the
  ///   start of the day is not within a day; `invalidGoal` for a goal below one task; `invalidFilter`.
  /// - Complexity: Proportional to the number of days in the history, not to the number of tasks. Cycle times
  ///   over named days depend on the number of completions on them, and so do the groups of one list, tag or
  ///   priority in a store with tags or priorities. With a filter that no counter covers, all completions are
  ///   read; see ``Statistics/path-swift.property``.
  @_specialize(where Base == ReadTransaction)
  public func statistics(_ options: StatisticsOptions = StatisticsOptions()) throws -> Statistics {
    let context = try statisticsContext(options, needsHistory: true)
    let (daily, profile) = try dailyCompletions(context)
    let (periods, groups) = (context.periods, try groupCounts(context))
    return Statistics(
      asOf: now,
      path: context.events == nil ? .counters : .ledger,
      timeZone: calendar.timeZone,
      weekStart: CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday),
      completed: CompletedCounts(
        today: daily.sum(periods.today...periods.today), thisWeek: daily.sum(periods.thisWeek),
        lastWeek: daily.sum(periods.lastWeek), thisMonth: daily.sum(periods.thisMonth),
        lastMonth: daily.sum(periods.lastMonth), thisYear: daily.sum(periods.thisYear),
        allTime: try total(.completed, context)),
      monthTrend: try trend("month", periods.thisMonth, periods.lastMonth, daily, context),
      weekTrend: try trend("week", periods.thisWeek, periods.lastWeek, daily, context),
      streak: Streak(daily, today: periods.today),
      goal: options.goal.map { GoalProgress($0, daily, context) },
      open: try openCounts(context),
      cycleTime: try cycleTime(context),
      byWeekday: byWeekday(daily, context),
      byHour: try byHour(context, profile),
      byList: try byList(groups),
      byTag: try byTag(groups),
      byPriority: groups.byPriority,
      series: try series(context)
    )
  }

  /// Checks the options and creates a context, with the events if no counter has them; set `needsHistory` if the
  /// result covers all days of the history.
  func statisticsContext(_ options: StatisticsOptions, needsHistory: Bool = false) throws -> StatisticsContext {
    var context = try emptyContext(options, needsHistory: needsHistory)
    context.events = try context.selection.predicate.map { try selectedEvents($0, context) }
    return context
  }

  /// Creates a context without events.
  func emptyContext(_ options: StatisticsOptions, needsHistory: Bool) throws -> StatisticsContext {
    try check(options)
    let filter = options.filter == .all ? .constant(true) : try resolved(options.filter, by: .created).predicate
    let selection = EventSelection(filter, listID: options.listID)
    let history = needsHistory ? try dayRange(CounterSeries(options), selection.scope) : nil
    return StatisticsContext(now: now, calendar: calendar, options: options, selection: selection, history: history)
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
  func dailyCompletions(_ context: StatisticsContext) throws -> (DailyCounts, HourProfile) {
    let days = context.completedDays
    let localDays = context.completionDays(days)
    var profile = HourProfile(localDays.intervals)
    let cumulative = try cumulativeCounts(context.series, context, at: localDays.boundaries) { block, fields in
      profile.add(fields, of: block)
    }
    let daily = DailyCounts(days, localDays: localDays, cumulative: cumulative, skippedDays: context.skippedDays)
    return (daily, profile)
  }

  /// The number of events on each of some local days.
  func dailyCounts(
    _ series: CounterSeries, _ days: ClosedRange<Int32>, _ context: StatisticsContext
  ) throws -> DailyCounts {
    let localDays = series == context.series ? context.completionDays(days) : context.zoneDays(days)
    return DailyCounts(
      days, localDays: localDays, cumulative: try cumulativeCounts(series, context, at: localDays.boundaries),
      skippedDays: context.skippedDays)
  }

  private func trend(
    _ unit: String, _ current: ClosedRange<Int32>, _ previous: ClosedRange<Int32>, _ daily: DailyCounts,
    _ context: StatisticsContext
  ) throws -> Trend {
    Trend(
      unit: unit,
      current: daily.sum(current),
      previous: daily.sum(previous),
      allTime: try total(.completed, context),
      elapsed: (
        current: try elapsedCount(of: current, daily, context),
        previous: try elapsedCount(of: previous, sameAs: current, daily, context)
      )
    )
  }

  /// The completions of the current period up to and including this moment.
  private func elapsedCount(
    of period: ClosedRange<Int32>, _ daily: DailyCounts, _ context: StatisticsContext
  ) throws -> Int {
    let (today, localNow) = (context.periods.today, context.localTimeElapsed(on: context.periods.today))
    // If the clock goes back over midnight, yesterday comes again, and a part of it may be in the future.
    let recent = max(period.lowerBound, today - 1)...today
    let before = recent.lowerBound > period.lowerBound ? daily.sum(period.lowerBound...(recent.lowerBound - 1)) : 0
    return try before
      + completionCount(context, on: recent) { _ in
        (context.options.usesRecordedOffsets ? localNow : context.now.microsecondsSince1970) + 1
      }
  }

  /// The completions in the same elapsed part of another period: as many days as have passed of the current
  /// one, the last day up to the current time.
  private func elapsedCount(
    of period: ClosedRange<Int32>, sameAs current: ClosedRange<Int32>, _ daily: DailyCounts,
    _ context: StatisticsContext
  ) throws -> Int {
    let day = period.lowerBound + (context.periods.today - current.lowerBound)
    guard day <= period.upperBound else { return daily.sum(period) }
    let before = day > period.lowerBound ? daily.sum(period.lowerBound...(day - 1)) : 0
    return try before
      + completionCount(context, on: day...day) { context.localTimeElapsed(on: day) - $0.offsetInMicroseconds + 1 }
  }

  /// The completions on some days, where each piece of a day is counted only up to an end.
  private func completionCount(
    _ context: StatisticsContext, on days: ClosedRange<Int32>, until end: (LocalDays.Piece) -> Int64
  ) throws -> Int {
    let localDays = context.completionDays(days)
    var count = 0
    for (index, piece) in localDays.pieces.enumerated() where piece.dayNumber != LocalDays.noDay {
      let end = min(localDays.end(ofPiece: index), end(piece))
      count += try self.count(context.series, context, from: piece.start, to: end)
    }
    return count
  }

  private func byWeekday(_ daily: DailyCounts, _ context: StatisticsContext) -> [Int] {
    var counts = Array(repeating: 0, count: 7)
    let first = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    let days = context.namedDays
    for (day, count) in daily.existing where days?.contains(day) ?? true {
      counts[(CalendarDay(clamping: Int64(day)).weekday - first + 7) % 7] += count
    }
    return counts
  }
}

extension Streak {
  /// Finds consecutive days with a completion among the days up to today.
  init(_ daily: DailyCounts, today: Int32) {
    var run = StreakRun()
    for (day, count) in daily.existing where day <= today {
      run.add(count > 0, isCurrent: day == today, lastDay: day)
    }
    self = run.streak
  }
}
