import Foundation
import LMDB

// The same questions as to the counters of a scope, to the counters or to the gathered events, whichever a frame has.

extension StoreTransaction where Base: ~Copyable {
  /// Walks the ledger and the open tasks for the events of the tasks that pass.
  func selectedEvents(_ predicate: RecordPredicate, _ frame: StatisticsFrame) throws -> SelectedEvents {
    var events = SelectedEvents()
    let (named, end) = (frame.namedTimes, QuarterHour.endOfTime)
    try forEachCompletion(frame.series, .all, passing: predicate, from: -end, to: end) { time, key, record in
      let task = CountedTask(CompletionKey(isTaskDeleted: false, completed: key), record)
      events.add(task)
      if named.contains(where: { $0.contains(time) }) { events.addToProfiles(task) }
    }
    let query = ResolvedQuery(
      .all(predicate.conjuncts + [.test(.open)]), sorter: try resolved(TaskFilter.all, by: .created).sorter)
    var work = QueryWork()
    _ = try scan(query, after: nil, limit: nil, &work) { id in
      let task = try indexedTask(id)
      events.add(CountedTask(open: task))
      if task.state == .active { events.activeCount += 1 }
      return true
    }
    events.sort()
    return events
  }

  /// The number of events over all time.
  func total(_ series: CounterSeries, _ frame: StatisticsFrame) throws -> Int {
    try frame.events?.count(series) ?? total(series, frame.scope)
  }

  /// The number of events from one instant up to, but not including, another.
  func count(_ series: CounterSeries, _ frame: StatisticsFrame, from start: Int64, to end: Int64) throws -> Int {
    try frame.events?.instants(series, from: start, to: end).count ?? count(series, frame.scope, from: start, to: end)
  }

  /// The number of events before each of some ascending instants; where counters are asked, `visit` sees their blocks.
  func cumulativeCounts(
    _ series: CounterSeries, _ frame: StatisticsFrame, at instants: [Int64],
    _ visit: (Int32, borrowing BlockCountsFields) -> Void = { _, _ in }
  ) throws -> [Int] {
    try frame.events?.cumulativeCounts(series, at: instants)
      ?? cumulativeCounts(series, frame.scope, at: instants, visit)
  }
}
