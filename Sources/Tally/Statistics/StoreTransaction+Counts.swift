import Foundation
import LMDB

// Counting events in intervals: whole days and quarter hours from the counters, parts of quarter hours at the ends from
// the ledger and the tasks themselves.

extension StoreTransaction where Base: ~Copyable {

  /// The number of events from one instant up to, but not including, another.
  func count(_ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64) throws -> Int {
    guard start < end else { return 0 }
    var count = 0
    try forEachBlock(series, scope, CounterBlock.numbers(from: start, through: end)) { block, fields in
      var events = BlockEvents(of: block)
      let earlier = try events.count(before: start, fields) { try countEvents(series, scope, from: $0, to: $1) }
      count += try events.count(before: end, fields) { try countEvents(series, scope, from: $0, to: $1) } - earlier
    }
    return count
  }

  /// The number of events before each of some ascending instants, counted from the block of the first one.
  ///
  /// One scan over the blocks from the first to the last instant; `visit` sees the counts of each block on the way.
  func cumulativeCounts(
    _ series: CounterSeries, _ scope: CounterScope, at instants: [Int64],
    _ visit: (Int32, borrowing BlockCountsFields) -> Void = { _, _ in }
  ) throws -> [Int] {
    var counter = CumulativeCounter(instants: instants)
    guard let first = instants.first, let last = instants.last else { return [] }
    try forEachBlock(series, scope, CounterBlock.numbers(from: first, through: last)) { block, fields in
      visit(block, fields)
      try counter.add(fields, of: block) { start, end in
        try countEvents(series, scope, from: start, to: end)
      }
    }
    return counter.finish()
  }

  /// Hands the counts of each block that has any to a closure, in order.
  func forEachBlock(
    _ series: CounterSeries, _ scope: CounterScope, _ blocks: ClosedRange<Int32>,
    _ body: (Int32, borrowing BlockCountsFields) throws -> Void
  ) throws {
    let first = BlockCountsKey(series, scope, block: blocks.lowerBound)
    var cursor = try tables.counts.cursor(in: base)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: first)
    while isAtEntry, first.isOfSameColumn(as: cursor.keyBytes) {
      let block = BlockCountsKey.block(cursor.keyBytes)
      guard block <= blocks.upperBound else { return }
      try body(block, BlockCountsFields(cursor.valueBytes))
      // The count of a day reads one block or two, so a step too far would be a large part of its cost.
      guard block < blocks.upperBound else { return }
      isAtEntry = try cursor.next()
    }
  }

  /// The UTC days of the blocks with any events; `nil` if there are none.
  func dayRange(_ series: CounterSeries, _ scope: CounterScope) throws -> ClosedRange<Int32>? {
    let lowest = BlockCountsKey(series, scope, block: .min)
    let highest = BlockCountsKey(series, scope, block: .max)
    var cursor = try tables.counts.cursor(in: base)
    guard try cursor.move(toFirstAtOrAfter: lowest) else { return nil }
    let first = try cursor.key()
    guard lowest.isOfSameColumn(as: cursor.keyBytes), try cursor.move(toLastBefore: highest) else { return nil }
    return CounterBlock.days(of: first.block...(try cursor.key()).block)
  }

  /// Counts events one by one, for a part of a quarter hour.
  func countEvents(_ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64) throws -> Int {
    var count = 0
    try forEachEvent(series, scope, from: start, to: end) { _ in count += 1 }
    return count
  }

  /// Hands the instant of each event in an interval to a closure.
  func forEachEvent(
    _ series: CounterSeries, _ scope: CounterScope, from start: Int64, to end: Int64, _ body: (Int64) -> Void
  ) throws {
    switch series {
    case .completed, .completedAsRecorded:
      try forEachCompletion(series, scope, from: start, to: end) { instant, _, _ in body(instant) }
    case .completedBeforeCreation:
      try forEachCompletion(.completed, scope, from: start, to: end) { instant, _, record in
        if instant < record.createdAtMicroseconds { body(instant) }
      }
    case .created: try forEachCreation(scope, from: start, to: end) { created, _ in body(created) }
    case .createdAfterCompletion:
      try forEachCreation(scope, from: start, to: end) { created, completed in
        if let completed, completed < created { body(created) }
      }
    case .openDue, .openDueDay:
      let kind: DueKey.Kind = series == .openDue ? .open : .openDay
      let (first, last) = (DueKey(kind, .start(at: start)), DueKey(kind, .start(at: end)))
      try forEachKey(of: tables.byDue, from: first, to: last) { key in
        if try scope == .all || scope.contains(indexedTask(key.id).classification) { body(key.due.microseconds) }
      }
    }
  }

  /// Hands each completion in an interval to a closure, those of deleted tasks included: its instant, or its recorded
  /// local time if the series is by that, then its key and record.
  func forEachCompletion(
    _ series: CounterSeries, _ scope: CounterScope, passing predicate: RecordPredicate? = nil,
    from start: Int64, to end: Int64, ofDeletedTasks selection: [Bool] = [false, true], reversed: Bool = false,
    _ body: (Int64, InstantKey, CompletionRecord) throws -> Void
  ) throws {
    // A recorded offset is less than a day.
    let isAsRecorded = series == .completedAsRecorded
    let margin = isAsRecorded ? QuarterHour.microsecondsPerDay : 0
    var tester = predicate.map(EventTester.init)
    for isTaskDeleted in selection {
      try tables.completions.forEach(
        from: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: start - margin)),
        upTo: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: end + margin)),
        reversed: reversed, in: base
      ) { key, value in
        let record = try CompletionRecord(decoding: value)
        let key = try CompletionKey(decoding: key)
        let completed = key.completed
        let offset = isAsRecorded ? Int64(record.utcOffsetInMinutes) * 60_000_000 : 0
        let instant = completed.microseconds + offset
        guard start <= instant, instant < end, scope.contains(record.classification) else { return true }
        if try passes(&tester, key, value) { try body(instant, completed, record) }
        return true
      }
    }
  }

  /// Hands the instants of each creation in an interval, and of the completion if there is one, to a closure.
  private func forEachCreation(
    _ scope: CounterScope, from start: Int64, to end: Int64, _ body: (Int64, Int64?) -> Void
  ) throws {
    try forEachKey(of: tables.byCreated, from: .start(at: start), to: .start(at: end)) { key in
      let task = try indexedTask(key.id)
      var classification = task.classification
      if let completion = CompletionKey(of: task),
        let record = try tables.completions.value(forKey: completion, in: base)
      {
        classification = record.classification
      }
      if scope.contains(classification) {
        body(key.microseconds, task.completedAt?.instant.microsecondsSince1970)
      }
    }
    let first = DeletedCreationKey(createdAtMicroseconds: start, completed: .start(at: .min))
    let last = DeletedCreationKey(createdAtMicroseconds: end, completed: .start(at: .min))
    try forEachKey(of: tables.deletedByCreated, from: first, to: last) { key in
      let completion = CompletionKey(isTaskDeleted: true, completed: key.completed)
      let record = try tables.completions.value(forKey: completion, in: base)
      if let record, scope.contains(record.classification) {
        body(key.createdAtMicroseconds, key.completed.microseconds)
      }
    }
  }
}

/// The events of one block before each of some ascending instants.
private struct BlockEvents {
  private let start: Int64
  /// The end of the block, in microseconds since 1970.
  let end: Int64
  private var progress = BlockCountsFields.Progress()
  private var sum = 0

  init(of block: Int32) {
    start = CounterBlock.firstQuarter(of: block) * QuarterHour.microseconds
    end = CounterBlock.firstQuarter(of: block + 1) * QuarterHour.microseconds
  }

  /// The number of the block's events before an instant; `countEvents` counts those in a part of a quarter hour.
  mutating func count(
    before instant: Int64, _ fields: borrowing BlockCountsFields, countEvents: (Int64, Int64) throws -> Int
  ) throws -> Int {
    guard start < instant else { return 0 }
    guard instant < end else { return fields.total }
    let quarter = Int((instant - start) / QuarterHour.microseconds)
    let quarterStart = start + Int64(quarter) * QuarterHour.microseconds
    sum += fields.sum(upTo: quarter, from: &progress)
    return sum + (quarterStart < instant ? try countEvents(quarterStart, instant) : 0)
  }
}

/// Adds up counts block by block and notes the sum at each of some instants.
private struct CumulativeCounter {
  private let instants: [Int64]
  private var counts: [Int] = []
  private var sum = 0

  init(instants: [Int64]) {
    assert(zip(instants, instants.dropFirst()).allSatisfy(<=), "instants must ascend")
    self.instants = instants
    counts.reserveCapacity(instants.count)
  }

  /// Notes the sum at the instants before a block and within it, then adds the block.
  mutating func add(
    _ fields: borrowing BlockCountsFields, of block: Int32, countEvents: (Int64, Int64) throws -> Int
  ) throws {
    var events = BlockEvents(of: block)
    while counts.count < instants.count, instants[counts.count] < events.end {
      counts.append(sum + (try events.count(before: instants[counts.count], fields, countEvents: countEvents)))
    }
    sum += fields.total
  }

  /// The sums at all instants.
  mutating func finish() -> [Int] {
    while counts.count < instants.count { counts.append(sum) }
    return counts
  }
}
