import Foundation
import LMDB
public import TallyEngine

/// Counts over time, with one bucket for each period.
public struct Series: Hashable, Codable, Sendable {
  /// The length of a bucket.
  public enum Unit: String, CaseIterable, Hashable, Codable, Sendable {
    /// A local day.
    case day
    /// Seven days, beginning with the calendar's first weekday.
    case week
    /// A month of the calendar.
    case month
    /// A year of the calendar.
    case year
  }

  /// The counts of one period.
  public struct Bucket: Hashable, Codable, Sendable {
    /// The first day of the period within the series.
    public let start: CalendarDay
    /// The number of tasks completed in the period.
    public let completed: Int
    /// The number of tasks created in the period.
    public let created: Int
    /// The number of tasks open at the end of the period.
    public let open: Int
  }

  /// The length of a bucket.
  public let by: Unit
  /// The first day.
  public let from: CalendarDay
  /// The last day.
  public let to: CalendarDay
  /// The buckets; the series may begin or end within a period, and a skipped day has no bucket.
  public let buckets: [Bucket]
}

extension StoreTransaction where Base: ~Copyable {
  /// Completions, creations and open tasks on the days of the options.
  func series(_ context: StatisticsContext) throws -> Series {
    let days = context.seriesDays
    let buckets = seriesBuckets(days, context)
    let completed = try dailyCounts(context.series, days, context)
    let created = try dailyCounts(.created, days, context)
    let open = try openCounts(at: context.zoneDays(days).ends(of: buckets), context)
    return Series(
      by: context.options.unit,
      from: CalendarDay(clamping: Int64(days.lowerBound)),
      to: CalendarDay(clamping: Int64(days.upperBound)),
      buckets: buckets.indices.compactMap { index in
        let bucket = buckets[index]
        guard completed.contains(anyOf: bucket) else { return nil }
        return Series.Bucket(
          start: CalendarDay(clamping: Int64(bucket.lowerBound)),
          completed: completed.sum(bucket),
          created: created.sum(bucket),
          open: open[index]
        )
      }
    )
  }

  /// The days of each bucket, limited to those of the series.
  private func seriesBuckets(_ days: ClosedRange<Int32>, _ context: StatisticsContext) -> [ClosedRange<Int32>] {
    var buckets: [ClosedRange<Int32>] = []
    var first = days.lowerBound
    while first <= days.upperBound {
      let period = StatisticsPeriods.period(context.options.unit, containing: first, calendar: calendar)
      buckets.append(first...min(period.upperBound, days.upperBound))
      first = period.upperBound + 1
    }
    return buckets
  }

  /// The number of tasks open just before each of some ascending instants: those already created and not yet closed.
  private func openCounts(at instants: [Int64], _ context: StatisticsContext) throws -> [Int] {
    // The events that open and close tasks; a task completed before its creation is left out.
    let changes: [(series: CounterSeries, sign: Int)] = [
      (.created, 1), (.completed, -1), (.completedBeforeCreation, 1), (.createdAfterCompletion, -1), (.cancelled, -1),
    ]
    var open = Array(repeating: 0, count: instants.count)
    for change in changes {
      // Counts backward from the end of time, because usually only the last few days matter.
      let total = try total(change.series, context)
      let counts = try cumulativeCounts(change.series, context, at: instants + [QuarterHour.endOfTime])
      for index in open.indices { open[index] += change.sign * (total - counts[instants.count] + counts[index]) }
    }
    return open
  }

  /// The counts of open tasks.
  func openCounts(_ context: StatisticsContext) throws -> OpenCounts {
    let today = context.periods.today
    let day = CalendarDay(clamping: Int64(today))
    let waiting = try waitingTasks(on: day, context)
    let openToday =
      try scheduledCount(on: today, isCompleted: false, context) - waiting.count { $0.scheduledDate == day }
    let completedToday = try scheduledCount(on: today, isCompleted: true, context)
    return OpenCounts(
      total: try total(.created, context) - total(.completed, context) - total(.cancelled, context),
      active: try activeCount(context) - waiting.count { $0.state == .active },
      overdue: try overdueCount(context) - waiting.count { $0.isOverdue(at: context.now, on: day) },
      scheduledToday: openToday + completedToday,
      completedOfToday: completedToday
    )
  }

  /// The tasks that wait for their start: they are open, but views of what there is to do do not show them.
  private func waitingTasks(on day: CalendarDay, _ context: StatisticsContext) throws -> [TaskItem] {
    var tester = try tester(of: context.selection.predicate)
    return try waitingTasks(on: day).filter { try passes(&tester, $0) && contains(context.scope, $0) }
      .map { try indexedTask($0) }
  }

  /// The number of open tasks whose instant has passed or whose day has ended.
  private func overdueCount(_ context: StatisticsContext) throws -> Int {
    let now = context.now.microsecondsSince1970
    let today = DueKey.microseconds(of: context.periods.today)
    return try total(.openDue, context) + total(.openDueDay, context)
      - count(.openDue, context, from: now, to: QuarterHour.endOfTime)
      - count(.openDueDay, context, from: today, to: QuarterHour.endOfTime) + floatingOverdueCount(context)
  }

  /// The tasks that are overdue by a wall-clock time without being counted by its day, less those counted too early.
  ///
  /// Counters have wall-clock times among the due days; only those about today are in doubt.
  private func floatingOverdueCount(_ context: StatisticsContext) throws -> Int {
    let today = DueKey.microseconds(of: context.periods.today)
    let local = context.now.wallClock(in: calendar.timeZone).microsecondsSince1970
    let margin = QuarterHour.microsecondsPerDay
    var tester = try tester(of: context.selection.predicate)
    var count = 0
    try forEachFloating(from: min(today, local) - margin, to: max(today, local) + margin) { id, time, due in
      let (isOverdue, isCounted) = (due < context.now, time < today)
      guard isOverdue != isCounted, try passes(&tester, id), try contains(context.scope, id) else { return }
      count += isOverdue ? 1 : -1
    }
    return count
  }

  /// The number of open or of completed tasks scheduled for a day.
  private func scheduledCount(on day: Int32, isCompleted: Bool, _ context: StatisticsContext) throws -> Int {
    var count = 0
    let (start, end) = (DayKey.start(of: day, isCompleted: isCompleted), DayKey.end(of: day, isCompleted: isCompleted))
    var tester = try tester(of: context.selection.predicate)
    try forEachKey(of: tables.byDay, from: start, to: end) { key in
      // Cancelled tasks are among the completed ones in the index.
      if isCompleted, try !indexedTask(key.id).isCompleted { return }
      if try passes(&tester, key.id), try contains(context.scope, key.id) { count += 1 }
    }
    return count
  }

  private func activeCount(_ context: StatisticsContext) throws -> Int {
    if let events = context.events { return events.activeCount }
    guard context.scope != .all else { return try tables.byActive.count(in: base) }
    var count = 0
    guard case .list(let id) = context.scope else {
      // Only a few tasks are active at any time.
      try forEachKey(of: tables.byActive, from: .lowest) { if try contains(context.scope, $0.id) { count += 1 } }
      return count
    }
    try forEachKey(
      of: tables.byPlace,
      from: PlaceKey(listID: id, rankRawValue: StateRank.active.rawValue, order: .lowest),
      to: PlaceKey(listID: id, rankRawValue: StateRank.active.rawValue + 1, order: .lowest)
    ) { _ in count += 1 }
    return count
  }

  /// Whether a task in its current state belongs to a scope.
  private func contains(_ scope: CounterScope, _ id: UUID) throws -> Bool {
    try scope == .all || scope.contains(indexedTask(id).classification)
  }
}

// The tasks behind the other two lines of a series: those created on some days, and those open at the end of a day.

extension StoreTransaction where Base: ~Copyable {
  /// Calls `body` with each task that a series counts as created, newest first, until it returns false.
  ///
  /// The days, the list and the filter are those of the options, as in ``series(_:)``. The series also counts
  /// completed tasks that were deleted since, which this method cannot visit.
  ///
  /// - Throws: The errors of the closure, which end the walk, and those of `statistics(_:)`.
  /// - Complexity: The number of tasks created on the days, including those that the options exclude.
  public func forEachCreatedTask(matching options: StatisticsOptions, _ body: (TaskItem) throws -> Bool) throws {
    let context = try emptyContext(options, needsHistory: false)
    let spans = context.zoneDays(context.seriesDays).intervals.map { $0.start..<$0.end }
    try forEachTask(createdIn: spans, context) { try body($0) }
  }

  /// Calls `body` with each task that a series counts as open at the end of its last day, newest first, until
  /// it returns false.
  ///
  /// The list and the filter are those of the options, and the day is the last one of the series.
  ///
  /// - Throws: The errors of the closure, which end the walk, and those of `statistics(_:)`.
  /// - Complexity: The number of tasks created up to the day, including closed ones, until the closure
  ///   returns false.
  public func forEachOpenTask(atEndOf options: StatisticsOptions, _ body: (TaskItem) throws -> Bool) throws {
    let context = try emptyContext(options, needsHistory: false)
    let days = context.seriesDays
    guard let end = context.zoneDays(days).ends(of: [days]).first else { return }
    try forEachTask(createdIn: [-QuarterHour.endOfTime..<end], context) { task in
      if let closed = task.closedAt, closed.instant.microsecondsSince1970 < end { return true }
      return try body(task)
    }
  }

  /// Visits the selected tasks that were created in some ascending spans of time, newest first.
  private func forEachTask(
    createdIn spans: [Range<Int64>], _ context: StatisticsContext, _ body: (TaskItem) throws -> Bool
  ) throws {
    var tester = try tester(of: context.selection.predicate)
    var goesOn = true
    for span in spans.reversed() where goesOn {
      var cursor = try tables.byCreated.rawIndex.cursor(in: base)
      var walk = RangeWalk(isReversed: true, after: nil)
      try walk.run(.instants(span), prefix: KeyBytes(), by: &cursor) { id in
        let task = try indexedTask(id)
        if try isCounted(task, in: context.scope, &tester) { goesOn = try body(task) }
        return goesOn
      }
    }
  }

  /// Whether the statistics count a task, judged by its completion in the ledger, or else by its current state.
  private func isCounted(_ task: TaskItem, in scope: CounterScope, _ tester: inout EventTester?) throws -> Bool {
    if let key = CompletionKey(of: task), let entry = try tables.completions.bytes(forKey: key, in: base) {
      guard scope.contains(try CompletionRecord(decoding: entry).classification) else { return false }
      return try passes(&tester, key, entry)
    }
    return try scope.contains(task.classification) && passes(&tester, task.id)
  }
}

/// A comparison of a period with the previous one.
public struct Trend: Hashable, Codable, Sendable {
  /// The direction of a change.
  public enum Direction: String, Hashable, Codable, Sendable {
    /// More than in the previous period.
    case up
    /// Fewer than in the previous period.
    case down
    /// The same number as in the previous period.
    case same
    /// There is no data to compare.
    case none
  }

  /// The direction of the change.
  public let direction: Direction
  /// The comparison as a sentence: `45 tasks this month, up from 38 last month`.
  public let message: String
  /// The count from the start of the period to now.
  public let elapsedCurrent: Int
  /// The count of the same part of the previous period: as many local days, up to the same time of day, but not
  /// beyond its end.
  public let elapsedPrevious: Int

  /// Compares two periods; the unit is `month` or `week`, as in the sentence.
  init(unit: String, current: Int, previous: Int, allTime: Int, elapsed: (current: Int, previous: Int)) {
    elapsedCurrent = elapsed.current
    elapsedPrevious = elapsed.previous
    let tasks = current == 1 ? "1 task" : "\(current) tasks"
    switch (allTime, previous) {
    case (0, _): (direction, message) = (.none, "No data available yet")
    case (_, 0): (direction, message) = (.none, "No data from last \(unit)")
    case (_, current): (direction, message) = (.same, "\(tasks) this \(unit), same as last \(unit)")
    case (_, ..<current):
      (direction, message) = (.up, "\(tasks) this \(unit), up from \(previous) last \(unit)")
    default: (direction, message) = (.down, "\(tasks) this \(unit), down from \(previous) last \(unit)")
    }
  }
}
