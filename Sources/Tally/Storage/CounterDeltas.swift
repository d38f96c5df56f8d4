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

/// The events that one life of a task adds to the counters: its creation, and its completion, cancellation or
/// else its due date.
///
/// A completed task counts under the list, tags and priority of its completion, any other under its current ones, so
/// no list ever has more completions than creations. Deleting an open or cancelled task removes its creation, as if the
/// task had never been added; deleting a completed task removes neither event.
struct CountedTask: Hashable {
  var createdAtMicroseconds: Int64
  var completedAtMicroseconds: Int64?
  var utcOffsetInMinutes: Int16
  var cancelledAtMicroseconds: Int64?
  /// The instant after which an open task is overdue; `nil` for a closed task.
  var openDueMicroseconds: Int64?
  /// The first instant, in UTC, of an open task's due day, or the wall-clock time after which it is overdue as in UTC.
  var openDueDayMicroseconds: Int64?
  var classification: Classification

  /// An open or cancelled task.
  init(uncompleted task: TaskItem) {
    createdAtMicroseconds = task.createdAt.microsecondsSince1970
    completedAtMicroseconds = nil
    cancelledAtMicroseconds = Self.cancellation(of: task)
    utcOffsetInMinutes = 0
    let isOpen = cancelledAtMicroseconds == nil
    let floating = task.floatingOverdue?.microsecondsSince1970
    openDueMicroseconds = isOpen && floating == nil ? task.overdueDate?.microsecondsSince1970 : nil
    openDueDayMicroseconds = isOpen ? floating ?? task.dueDay.map { DueKey.microseconds(of: $0.dayNumber) } : nil
    classification = task.classification
  }

  /// A completion, of a live or a deleted task.
  init(_ key: CompletionKey, _ record: CompletionRecord) {
    createdAtMicroseconds = record.createdAtMicroseconds
    completedAtMicroseconds = key.completed.microseconds
    cancelledAtMicroseconds = nil
    utcOffsetInMinutes = record.utcOffsetInMinutes
    openDueMicroseconds = nil
    openDueDayMicroseconds = nil
    classification = record.classification
  }

  /// When a cancelled task left the open ones: clocks differ, so that a cancellation may precede the creation.
  static func cancellation(of task: TaskItem) -> Int64? {
    guard task.isCancelled, let instant = task.cancelledAt?.instant else { return nil }
    return max(instant, task.createdAt).microsecondsSince1970
  }
}

extension CountedTask {
  /// Calls a closure with the series and the instant of each event.
  @inline(__always)
  func forEachEvent(_ body: (CounterSeries, Int64) -> Void) {
    body(.created, createdAtMicroseconds)
    if let due = openDueMicroseconds { body(.openDue, due) }
    if let day = openDueDayMicroseconds { body(.openDueDay, day) }
    if let cancelled = cancelledAtMicroseconds { body(.cancelled, cancelled) }
    guard let completed = completedAtMicroseconds else { return }
    body(.completed, completed)
    if completed < createdAtMicroseconds {
      body(.completedBeforeCreation, completed)
      body(.createdAfterCompletion, createdAtMicroseconds)
    }
    body(.completedAsRecorded, completed + Int64(utcOffsetInMinutes) * 60_000_000)
  }

  /// The bucket of the time from creation to completion; `nil` for a task that is not completed.
  var cycleTimeBucket: UInt16? {
    completedAtMicroseconds.map {
      CycleTimeBucket.number(ofSeconds: floorDivide($0 - createdAtMicroseconds, by: 1_000_000))
    }
  }
}

/// Recomputes the counters from the tasks and the ledger alone.
struct CounterRebuild {
  let tables: Tables

  /// Computes every counter.
  ///
  /// - Complexity: reads every task and completion, and needs four bytes of memory for each event.
  func deltas<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> CounterDeltas {
    var deltas = CounterDeltas()
    try tables.tasks.forEach(in: transaction) { key, value in
      let fields = try TaskFields(value)
      if !fields.isCompleted { deltas.count(CountedTask(uncompleted: try fields.item(id: key.load(idAt: 0))), sign: 1) }
      return true
    }
    try tables.completions.forEach(in: transaction) { key, value in
      let entry = CountedTask(try CompletionKey(decoding: key), try CompletionRecord(decoding: value))
      deltas.count(entry, sign: 1)
      return true
    }
    return deltas
  }

  /// Computes and writes every counter.
  func run(in transaction: inout WriteTransaction) throws {
    let counters = try deltas(in: transaction)
    try tables.counts.removeAll(in: &transaction)
    try tables.totals.removeAll(in: &transaction)
    try tables.tagNames.removeAll(in: &transaction)
    try counters.apply(to: tables, in: &transaction)
  }
}
