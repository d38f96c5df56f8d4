import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Completions, creations and open tasks over the days that were asked for.
  func series(_ frame: StatisticsFrame) throws -> Series {
    let days = frame.seriesDays
    let buckets = seriesBuckets(days, frame)
    let completed = try DailyCounts(days, of: frame.series, frame.completionDays(days), frame.scope, in: self)
    let zoneDays = frame.zoneDays(days)
    let created = try DailyCounts(days, of: .created, zoneDays, frame.scope, in: self)
    let changes = try openChanges.map { series, sign in
      (counts: try DailyCounts(days, of: series, zoneDays, frame.scope, in: self), sign: sign)
    }
    var open = try openCount(at: zoneDays.pieces.first?.start ?? zoneDays.end, frame.scope)
    return Series(
      by: frame.options.unit, from: CalendarDay(clamping: Int64(days.lowerBound)),
      to: CalendarDay(clamping: Int64(days.upperBound)),
      buckets: buckets.compactMap { bucket in
        open += changes.reduce(0) { $0 + $1.sign * $1.counts.sum(bucket) }
        guard created.contains(anyOf: bucket) else { return nil }
        return Series.Bucket(
          start: CalendarDay(clamping: Int64(bucket.lowerBound)), completed: completed.sum(bucket),
          created: created.sum(bucket), open: open)
      })
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

  /// What opens a task and what closes it; a task that was completed before it was created is left out.
  private var openChanges: [(series: CounterSeries, sign: Int)] {
    [(.created, 1), (.completed, -1), (.completedBeforeCreation, 1), (.createdAfterCompletion, -1)]
  }

  /// The number of open tasks just before an instant: what had been created less what had been completed.
  func openCount(at instant: Int64, _ scope: CounterScope) throws -> Int {
    try openChanges.reduce(0) { $0 + $1.sign * (try countBefore(instant, $1.series, scope)) }
  }

  private func countBefore(_ instant: Int64, _ series: CounterSeries, _ scope: CounterScope) throws -> Int {
    guard let days = try dayRange(series, scope) else { return 0 }
    let end = (Int64(days.upperBound) + 1) * QuarterHour.microsecondsPerDay
    // From the nearer end of history: mostly the question is about the last few days.
    return try total(series, scope) - count(series, scope, from: instant, to: max(instant, end))
  }

  /// What is still to be done.
  func openCounts(_ frame: StatisticsFrame) throws -> OpenCounts {
    var scheduled = 0
    var completedOfToday = 0
    _ = try scan(.today, after: nil) { id, _ in
      let task = try indexedTask(id)
      guard frame.options.listID == nil || task.listID == frame.options.listID else { return true }
      scheduled += 1
      if task.isCompleted { completedOfToday += 1 }
      return true
    }
    return OpenCounts(
      total: try openTotal(frame), active: try activeCount(frame), overdue: try overdueCount(frame),
      scheduledToday: scheduled, completedOfToday: completedOfToday)
  }

  private func openTotal(_ frame: StatisticsFrame) throws -> Int {
    try total(.created, frame.scope) - total(.completed, frame.scope)
  }

  private func activeCount(_ frame: StatisticsFrame) throws -> Int {
    guard let listID = frame.options.listID else { return try tables.byActive.count(in: base) }
    var count = 0
    _ = try scan(
      tables.byPlace, from: PlaceKey(listID: listID, rankRawValue: StateRank.active.rawValue, order: .lowest),
      to: PlaceKey(listID: listID, rankRawValue: StateRank.active.rawValue + 1, order: .lowest)
    ) { _ in
      count += 1
      return true
    }
    return count
  }

  private func overdueCount(_ frame: StatisticsFrame) throws -> Int {
    var count = 0
    _ = try scan(.overdue, after: nil) { id, _ in
      if let listID = frame.options.listID, try indexedTask(id).listID != listID { return true }
      count += 1
      return true
    }
    return count
  }
}

extension DailyCounts {
  /// Counts a series by local day.
  init<Base: Transaction & ~Copyable>(
    _ days: ClosedRange<Int32>, of series: CounterSeries, _ localDays: LocalDays, _ scope: CounterScope,
    in transaction: borrowing StoreTransaction<Base>
  ) throws {
    let cumulative = try transaction.cumulativeCounts(
      series, scope, at: localDays.pieces.map(\.start) + [localDays.end])
    self.init(days, localDays: localDays, cumulative: cumulative)
  }
}
