import LMDB

/// Changes of the counters, gathered so that each counter is written once.
struct CounterDeltas {
  private struct Quarter: Hashable {
    let day: DayCountsKey
    let quarter: Int
  }

  private var quarters: [Quarter: Int64] = [:]
  private var totals: [TotalKey: Int64] = [:]

  /// Counts a life of a task once more (`sign` 1) or once less (−1).
  mutating func count(_ task: CountedTask, sign: Int64) {
    for scope in [.all, CounterScope(listID: task.listID)] {
      count(.created, scope, at: task.createdAtMicroseconds, sign)
      guard let completed = task.completedAtMicroseconds else { continue }
      count(.completed, scope, at: completed, sign)
      if completed < task.createdAtMicroseconds {
        count(.completedBeforeCreation, scope, at: completed, sign)
        count(.createdAfterCompletion, scope, at: task.createdAtMicroseconds, sign)
      }
      count(.completedAsRecorded, scope, at: completed + Int64(task.utcOffsetInMinutes) * 60_000_000, sign)
      let duration = floorDivide(completed - task.createdAtMicroseconds, by: 1_000_000)
      totals[TotalKey(cycleTimeBucket: CycleTimeBucket.number(ofSeconds: duration), scope), default: 0] += sign
    }
  }

  private mutating func count(_ series: CounterSeries, _ scope: CounterScope, at microseconds: Int64, _ sign: Int64) {
    let position = QuarterHour.position(of: QuarterHour.number(containing: microseconds))
    let day = DayCountsKey(series, scope, dayNumber: position.dayNumber)
    quarters[Quarter(day: day, quarter: position.quarter), default: 0] += sign
    totals[TotalKey(series, scope), default: 0] += sign
  }

  /// The counters that these changes alone would make, as rows of `counts`.
  func dayCounts() throws(LMDBError) -> [DayCountsKey: DayCounts] {
    var rows: [DayCountsKey: DayCounts] = [:]
    for (quarter, delta) in quarters where delta != 0 {
      guard rows[quarter.day, default: DayCounts()].add(delta, toQuarter: quarter.quarter) else {
        throw .undecodable("a counter disagrees with the records")
      }
    }
    return rows
  }

  /// The counters that these changes alone would make, as rows of `totals`.
  func totalCounts() -> [TotalKey: Int64] {
    totals.filter { $0.value != 0 }
  }

  /// Writes the changes, each table in its own order; what comes to nothing is removed.
  func apply(to tables: Tables, in transaction: inout WriteTransaction) throws(LMDBError) {
    let changes = quarters.filter { $0.value != 0 }.sorted { $0.key.day < $1.key.day }
    var start = changes.startIndex
    while start < changes.endIndex {
      let key = changes[start].key.day
      let end = changes[start...].firstIndex { $0.key.day != key } ?? changes.endIndex
      var counts = try tables.counts.value(forKey: key, in: transaction) ?? DayCounts()
      for change in changes[start..<end] where !counts.add(change.value, toQuarter: change.key.quarter) {
        throw .undecodable("a counter disagrees with the records")
      }
      if counts.total == 0 {
        _ = try tables.counts.remove(forKey: key, in: &transaction)
      } else {
        try tables.counts.put(counts, forKey: key, in: &transaction)
      }
      start = end
    }
    for (key, delta) in totals.filter({ $0.value != 0 }).sorted(by: { $0.key < $1.key }) {
      let sum = Int64(try tables.totals.value(forKey: key, in: transaction) ?? 0) + delta
      guard sum >= 0 else { throw .undecodable("a counter disagrees with the records") }
      if sum == 0 {
        _ = try tables.totals.remove(forKey: key, in: &transaction)
      } else {
        try tables.totals.put(UInt64(sum), forKey: key, in: &transaction)
      }
    }
  }
}
