import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Completions, creations and open tasks over the days of the options.
  func series(_ frame: StatisticsFrame) throws -> Series {
    let days = frame.seriesDays
    let buckets = seriesBuckets(days, frame)
    let completed = try dailyCounts(frame.series, days, frame)
    let created = try dailyCounts(.created, days, frame)
    let open = try openCounts(at: frame.zoneDays(days).ends(of: buckets), frame)
    return Series(
      by: frame.options.unit,
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

  /// The days of each bucket, cut at the series' ends.
  private func seriesBuckets(_ days: ClosedRange<Int32>, _ frame: StatisticsFrame) -> [ClosedRange<Int32>] {
    var buckets: [ClosedRange<Int32>] = []
    var first = days.lowerBound
    while first <= days.upperBound {
      let period = StatisticsPeriods.period(frame.options.unit, containing: first, calendar: calendar)
      buckets.append(first...min(period.upperBound, days.upperBound))
      first = period.upperBound + 1
    }
    return buckets
  }

  /// The number of open tasks just before each of some ascending instants: those created and not completed by then.
  private func openCounts(at instants: [Int64], _ frame: StatisticsFrame) throws -> [Int] {
    // The events that open a task and close it; a task that was completed before it was created is left out.
    let changes: [(series: CounterSeries, sign: Int)] = [
      (.created, 1), (.completed, -1), (.completedBeforeCreation, 1), (.createdAfterCompletion, -1),
    ]
    var open = Array(repeating: 0, count: instants.count)
    for change in changes {
      // Counted backwards from the end of time: mostly the last few days are of interest.
      let total = try total(change.series, frame)
      let counts = try cumulativeCounts(change.series, frame, at: instants + [QuarterHour.endOfTime])
      for index in open.indices { open[index] += change.sign * (total - counts[instants.count] + counts[index]) }
    }
    return open
  }

  /// The counts of open tasks.
  func openCounts(_ frame: StatisticsFrame) throws -> OpenCounts {
    let today = frame.periods.today
    let openToday = try scheduledCount(on: today, isCompleted: false, frame)
    let completedToday = try scheduledCount(on: today, isCompleted: true, frame)
    return OpenCounts(
      total: try total(.created, frame) - total(.completed, frame),
      active: try activeCount(frame),
      overdue: try overdueCount(frame),
      scheduledToday: openToday + completedToday,
      completedOfToday: completedToday
    )
  }

  /// The open tasks whose instant has passed, or whose day has ended.
  private func overdueCount(_ frame: StatisticsFrame) throws -> Int {
    let now = frame.now.microsecondsSince1970
    let today = DueKey.microseconds(of: frame.periods.today)
    return try total(.openDue, frame) + total(.openDueDay, frame)
      - count(.openDue, frame, from: now, to: QuarterHour.endOfTime)
      - count(.openDueDay, frame, from: today, to: QuarterHour.endOfTime)
  }

  private func scheduledCount(on day: Int32, isCompleted: Bool, _ frame: StatisticsFrame) throws -> Int {
    var count = 0
    let (start, end) = (DayKey.start(of: day, isCompleted: isCompleted), DayKey.end(of: day, isCompleted: isCompleted))
    var tester = frame.selection.predicate.map(EventTester.init)
    try forEachKey(of: tables.byDay, from: start, to: end) { key in
      if try passes(&tester, key.id), try contains(frame.scope, key.id) { count += 1 }
    }
    return count
  }

  private func activeCount(_ frame: StatisticsFrame) throws -> Int {
    if let events = frame.events { return events.activeCount }
    guard frame.scope != .all else { return try tables.byActive.count(in: base) }
    var count = 0
    guard case .list(let id) = frame.scope else {
      // At most a few tasks are active at a time.
      try forEachKey(of: tables.byActive, from: .lowest) { if try contains(frame.scope, $0.id) { count += 1 } }
      return count
    }
    try forEachKey(
      of: tables.byPlace,
      from: PlaceKey(listID: id, rankRawValue: StateRank.active.rawValue, order: .lowest),
      to: PlaceKey(listID: id, rankRawValue: StateRank.active.rawValue + 1, order: .lowest)
    ) { _ in count += 1 }
    return count
  }

  /// Whether a task counts in a scope as it is now.
  private func contains(_ scope: CounterScope, _ id: UUID) throws -> Bool {
    try scope == .all || scope.contains(indexedTask(id).classification)
  }
}
