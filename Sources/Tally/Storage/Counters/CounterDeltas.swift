import Foundation
import LMDB
import TallyEngine

/// Changes of the counters, gathered so that each counter is written once.
///
/// Gathering must be cheap, because a bulk insert does it for each task. An event is one number, appended to the column
/// of its scope and series; sorting a column brings the events of a block together. With dictionaries, hashing scopes
/// and days took a third of the whole insert.
struct CounterDeltas {
  /// The events of one scope: a column for each series, and one for cycle times (from creation to completion).
  fileprivate struct Events {
    /// The columns by raw value of the series; the first column is that of the cycle times.
    var columns = Array(repeating: [Int32](), count: CounterSeries.allCases.count + 1)
  }

  /// The position in `events` of each scope.
  private var positions: [CounterScope: Int] = [.all: 0]
  private var events = [Events()]
  /// The text of each tag among the scopes.
  private var tagNames: [UUID: String] = [:]

  /// Adds a life of a task (`sign` 1) or subtracts it (−1).
  mutating func count(_ task: CountedTask, sign: Int64) {
    let classification = task.classification
    events[0].count(task, isRemoved: sign < 0)
    count(task, CounterScope(listID: classification.listID), sign)
    if classification.priority != .none { count(task, .priority(classification.priority), sign) }
    for tag in classification.tags {
      let id = TagID.of(tag)
      if tagNames[id] == nil { tagNames[id] = tag }
      count(task, .tag(id), sign)
    }
  }

  private mutating func count(_ task: CountedTask, _ scope: CounterScope, _ sign: Int64) {
    let position = positions[scope] ?? events.count
    if position == events.count {
      positions[scope] = position
      events.append(Events())
    }
    events[position].count(task, isRemoved: sign < 0)
  }

  /// Whether no event has been gathered.
  var isEmpty: Bool {
    events.allSatisfy { $0.columns.allSatisfy(\.isEmpty) }
  }

  /// The rows of `counts` that these changes alone would give.
  func blockCounts() throws(LMDBError) -> [BlockCountsKey: BlockCounts] {
    var rows: [BlockCountsKey: BlockCounts] = [:]
    for column in sortedColumns {
      try column.forEachBlock { key, changes throws(LMDBError) in
        var counts = BlockCounts()
        try counts.add(changes)
        if !counts.isEmpty { rows[key] = counts }
      }
    }
    return rows
  }

  /// The rows of `totals` that these changes alone would give.
  func totalCounts() -> [TotalKey: Int64] {
    var totals: [TotalKey: Int64] = [:]
    for column in sortedColumns {
      if let change = column.totalChange { totals[change.key] = change.delta }
    }
    return totals
  }

  /// The tags that have a count from these changes alone.
  var countedTagIDs: Set<UUID> {
    Set(
      totalCounts().keys.compactMap { key in
        guard case .tag(let id) = key.scope, key.seriesRawValue == CounterSeries.created.rawValue else { return nil }
        return id
      })
  }

  /// Writes the changes to each table in key order, and removes counters that become zero.
  func apply(to tables: Tables, in transaction: inout WriteTransaction) throws(LMDBError) {
    let columns = sortedColumns
    var changed = EntryBatch<BlockCountsKey, BlockCounts>()
    for column in columns {
      try column.forEachBlock { key, changes throws(LMDBError) in
        var counts = try tables.counts.value(forKey: key, in: transaction) ?? BlockCounts()
        try counts.add(changes)
        if counts.isEmpty {
          _ = try tables.counts.remove(forKey: key, in: &transaction)
        } else {
          try changed.add(counts, forKey: key)
        }
      }
    }
    try tables.counts.put(&changed, in: &transaction)
    for column in columns {
      guard let (key, delta) = column.totalChange else { continue }
      let total = Total(count: delta + (try tables.totals.value(forKey: key, in: transaction)?.count ?? 0))
      guard total.count >= 0 else { throw .undecodable("a counter disagrees with the records") }
      if total.count == 0 {
        _ = try tables.totals.remove(forKey: key, in: &transaction)
      } else {
        try tables.totals.put(total, forKey: key, in: &transaction)
      }
      try setTagName(of: key, isCounted: total.count > 0, in: tables, &transaction)
    }
  }

  /// Stores the first spelling of a tag that is counted, and removes that of a tag that no longer is.
  private func setTagName(
    of key: TotalKey, isCounted: Bool, in tables: Tables, _ transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard case .tag(let id) = key.scope, key.seriesRawValue == CounterSeries.created.rawValue else { return }
    if !isCounted {
      _ = try tables.tagNames.remove(forKey: IDKey(id), in: &transaction)
    } else if let name = tagNames[id], try !tables.tagNames.contains(IDKey(id), in: transaction) {
      try tables.tagNames.put(name, forKey: IDKey(id), in: &transaction)
    }
  }

  /// The columns that have events, in the order of the tables' keys.
  private var sortedColumns: [CounterColumn] {
    let scopes = positions.sorted { $0.key.precedes($1.key) }
    return (0...CounterSeries.allCases.count).flatMap { seriesRawValue in
      scopes.compactMap { scope, position in
        let events = events[position].columns[seriesRawValue]
        guard !events.isEmpty else { return nil }
        return CounterColumn(seriesRawValue: UInt8(seriesRawValue), scope: scope, sorting: events)
      }
    }
  }
}

extension CounterDeltas.Events {
  mutating func count(_ task: CountedTask, isRemoved: Bool) {
    task.forEachEvent { series, microseconds in count(series, at: microseconds, isRemoved) }
    if let bucket = task.cycleTimeBucket { append(Int32(bucket), isRemoved, toColumn: 0) }
  }

  private mutating func count(_ series: CounterSeries, at microseconds: Int64, _ isRemoved: Bool) {
    append(Int32(QuarterHour.number(containing: microseconds)), isRemoved, toColumn: Int(series.rawValue))
  }

  private mutating func append(_ number: Int32, _ isRemoved: Bool, toColumn column: Int) {
    // Quarters of the years 1 to 9999 need 30 bits, so the lowest bit is free for the sign: sorting is by number.
    columns[column].append(number << 1 | (isRemoved ? 1 : 0))
  }
}
