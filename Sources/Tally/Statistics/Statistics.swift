public import Foundation
import LMDB

/// Completions over time and by group: the result of `StoreTransaction.statistics(_:)`.
///
/// Completions dated after `asOf` count in their own periods; streaks look at days up to today. Coded, every part has the
/// name of its property, which stays; `nil` is left out, and the time zone is Foundation's `{"identifier": …}`.
public struct Statistics: Hashable, Codable, Sendable {
  /// Where the numbers come from.
  public enum Path: String, CaseIterable, Hashable, Codable, Sendable {
    /// The counters: of everything, of one list or none, of one tag or of one priority.
    case counters
    /// A walk over the ledger of completions and the open tasks, as no counter has what the filter selects.
    case ledger
  }

  /// The instant that counted as now.
  public internal(set) var asOf: Timestamp
  /// How it was counted.
  public let path: Path
  /// The time zone of the days.
  public let timeZone: TimeZone
  /// The first day of the week, 1 for Monday to 7 for Sunday (ISO 8601).
  public let weekStart: Int
  /// Completions by period.
  public let completed: CompletedCounts
  /// This month against last month.
  public let monthTrend: Trend
  /// This week against last week.
  public let weekTrend: Trend
  /// Days in a row with a completion.
  public let streak: Streak
  /// How often the goal of the options was met; `nil` without one.
  public let goal: GoalProgress?
  /// The open tasks.
  public let open: OpenCounts
  /// The time from creation to completion.
  public let cycleTime: CycleTime
  /// Completions by day of the week, beginning with `weekStart`; 7 counts.
  public let byWeekday: [Int]
  /// Completions by hour of the local day; 24 counts.
  public let byHour: [Int]
  /// Completions by list: no list first, then the lists in their order, then deleted ones; none without completions.
  public let byList: [ListCount]
  /// Completions by the tags that the tasks had: most first, equal ones by name; none without completions.
  public let byTag: [TagCount]
  /// Completions by the priority that the tasks had: the highest first, `none` last; none without completions.
  public let byPriority: [PriorityCount]
  /// Completions, creations and open tasks over time.
  public let series: Series

  /// Whether two results are equal except for their instant.
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
  /// In the current week, all seven days of it.
  public let thisWeek: Int
  /// In the week before.
  public let lastWeek: Int
  /// In the current month, all of it.
  public let thisMonth: Int
  /// In the month before.
  public let lastMonth: Int
  /// In the current year, all of it.
  public let thisYear: Int
  /// Ever.
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

/// Days in a row on each of which a task was completed, or days or weeks in a row in which a goal was met.
public struct Streak: Hashable, Codable, Sendable {
  /// The days or weeks in a row that end with the current one, or with the one before if that is not over yet.
  public let current: Int
  /// The most in a row, up to the current one.
  public let longest: Int
  /// The last day of the longest streak, the first of them if there are several; `nil` if there is none.
  public let longestEnded: CalendarDay?
}

/// The number of open tasks, and the progress of today.
public struct OpenCounts: Hashable, Codable, Sendable {
  /// The tasks that are not completed.
  public let total: Int
  /// Those among them that are active.
  public let active: Int
  /// Those among them whose due date has passed.
  public let overdue: Int
  /// The tasks scheduled for today, completed ones included.
  public let scheduledToday: Int
  /// Those among them that are completed.
  public let completedOfToday: Int
}

/// The time that tasks took from creation to completion; to the second up to two minutes, then to 1%.
public struct CycleTime: Hashable, Codable, Sendable {
  /// The number of completions it covers.
  public let count: Int
  /// Half of them took at most this long; `nil` without completions.
  public let medianInSeconds: Int64?
  /// Nine in ten of them took at most this long; `nil` without completions.
  public let percentile90InSeconds: Int64?
}

/// A selection of statistics.
///
/// ```swift
/// var options = StatisticsOptions()
/// options.unit = .month
/// let statistics = try store.read { try $0.statistics(options) }
/// ```
public struct StatisticsOptions: Hashable, Sendable {
  /// Only completions in this list; `nil` for all.
  public var listID: UUID?
  /// Only what a filter finds; a completion has the list, the tags and the priority of its moment.
  ///
  /// Everything else is that of the task now, and absent if the task has been deleted: <doc:StatisticsAndTimeZones>.
  public var filter = TaskFilter.all
  /// The first day of the series, the profiles and the cycle times; `nil` with `to` for the last 30 days in the series
  /// and everything elsewhere.
  public var from: CalendarDay?
  /// The last day of them, included.
  public var to: CalendarDay?
  /// The length of a bucket of the series.
  public var unit = Series.Unit.day
  /// The number of tasks to complete per day or week; `nil` for none.
  public var goal: Goal?
  /// When a day begins, in minutes after local midnight, up to 1,439: for people who work past midnight.
  public var dayStartInMinutes = 0
  /// Whether completions count on the local day of the place where they happened, so that travel moves none of them;
  /// otherwise on the local day of the calendar's zone.
  public var usesRecordedOffsets = false

  /// Selects everything, in all lists.
  public init() {}
}

/// The local days that make up the periods around today.
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

  /// All days of these periods.
  var days: ClosedRange<Int32> {
    min(lastWeek.lowerBound, lastMonth.lowerBound, thisYear.lowerBound)...max(thisWeek.upperBound, thisYear.upperBound)
  }

  /// The first day of a day's week.
  static func weekStart(of dayNumber: Int32, calendar: Calendar) -> Int32 {
    let first = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    let weekday = CalendarDay(clamping: Int64(dayNumber)).weekday
    return dayNumber - Int32((weekday - first + 7) % 7)
  }

  /// The days of a week, month or year of the calendar, Gregorian or not.
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

  /// Months and years do not depend on the zone once the day is known: Greenwich's days are all 24 hours long.
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

  /// The days of a Gregorian month or year without Foundation, which takes about ten microseconds, and is Julian before 1582,
  /// unlike Tally's days.
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
