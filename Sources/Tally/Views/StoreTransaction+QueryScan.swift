import Foundation
import LMDB

/// What a query has looked at.
struct QueryWork {
  var examinedCount = 0
  var foundCount = 0
}

extension StoreTransaction where Base: ~Copyable {
  /// The filter resolved for this transaction's lists, clock and calendar.
  func resolved(_ filter: TaskFilter, by order: TaskOrder) throws -> ResolvedQuery {
    let reference = DateReference(now: now, today: today, calendar: calendar)
    let resolution = FilterResolution(reference, lists: filter.namesLists ? try lists() : [])
    let sorter = QuerySorter(order, against: reference, nextWeights)
    return ResolvedQuery(try resolution.predicate(filter), sorter: sorter)
  }

  /// Walks what a query finds by the plan that is likely to look at the fewest tasks.
  func scan(
    _ query: ResolvedQuery, after position: ViewKey?, limit: Int?, _ work: inout QueryWork,
    _ body: (UUID) throws -> Bool
  ) throws -> ViewKey? {
    try scan(try plan(query, limit: limit), after: position, limit: limit, &work, body)
  }

  /// Walks what a plan finds, in the query's order and after a position, until `body` returns false.
  ///
  /// - Returns: the position of the last accepted task if `body` refused one.
  func scan(
    _ plan: QueryPlan, after position: ViewKey?, limit: Int?, _ work: inout QueryWork,
    _ body: (UUID) throws -> Bool
  ) throws -> ViewKey? {
    if let order = plan.path.keyOrder { return try walk(plan, order, after: position, &work, body) }
    var last = position
    // One more than asked for shows whether there is another page.
    for found in try sorted(plan, after: position, limit: limit.map { min($0, .max - 1) + 1 }, &work) {
      guard try body(found.id) else { return last }
      last = found.key
    }
    return nil
  }

  /// Walks a path whose keys are in the query's order.
  ///
  /// If its ranges cover the whole filter, no record is read on the way.
  private func walk(
    _ plan: QueryPlan, _ order: QueryPath.KeyOrder, after position: ViewKey?, _ work: inout QueryWork,
    _ body: (UUID) throws -> Bool
  ) throws -> ViewKey? {
    var tester = QueryTester(plan)
    var walk = KeyWalk(isReversed: order.isReversed)
    var cursor = try plan.path.table.cursor(in: base)
    var last: UUID?
    for range in order.isReversed ? plan.path.ranges.reversed() : plan.path.ranges {
      let start = position.map { order.key($0, in: range) }
      try walk.run(range, after: start, by: &cursor) { key, _ in
        work.examinedCount += 1
        let id = key.idAtEnd
        if plan.rest != nil, try self.key(of: id, &tester) == nil { return true }
        work.foundCount += 1
        guard try body(id) else { return false }
        last = id
        return true
      }
      if walk.isStopped { return try last.map { try self.key(of: $0, &tester) } ?? position }
    }
    return nil
  }

  /// Walks all of a path, and sorts the tasks found.
  private func sorted(
    _ plan: QueryPlan, after position: ViewKey?, limit: Int?, _ work: inout QueryWork
  ) throws -> [FoundTask] {
    var heap = limit.map { BoundedHeap<FoundTask>(limit: $0) }
    var found: [FoundTask] = []
    try forEachKey(of: plan, &work) { key, id in
      guard position.map({ $0 < key }) ?? true else { return }
      if heap == nil { found.append(FoundTask(key: key, id: id)) } else { heap?.insert(FoundTask(key: key, id: id)) }
    }
    return heap?.sorted ?? found.sorted()
  }

  /// Counts what a query finds; where the keys of an index say all, without looking at a task.
  func count(_ query: ResolvedQuery) throws -> Int {
    for path in query.paths(in: tables) where query.plan(path).rest == nil {
      if path.isWholeTable { return try tables.tasks.count(in: base) }
      if let count = try countEntries(of: path, upTo: .max) { return count }
    }
    var work = QueryWork()
    try forEachKey(of: try plan(query, limit: nil), &work) { _, _ in }
    return work.foundCount
  }

  /// Hands the position of each task that a plan finds to a closure, in no order.
  private func forEachKey(
    of plan: QueryPlan, _ work: inout QueryWork, _ body: (ViewKey, UUID) -> Void
  ) throws {
    var tester = QueryTester(plan)
    var walk = KeyWalk(isReversed: false)
    var cursor = try plan.path.table.cursor(in: base)
    let isWholeTable = plan.path.isWholeTable
    for range in plan.path.ranges {
      try walk.run(range, after: nil, by: &cursor) { key, record in
        work.examinedCount += 1
        // Most records of a whole table fail here.
        if isWholeTable, try !tester.mayHold(record) { return true }
        let id = key.idAtEnd
        let found = try isWholeTable ? tester.key(of: id, record) { try hasSubtasks($0) } : self.key(of: id, &tester)
        if let found {
          work.foundCount += 1
          body(found, id)
        }
        return true
      }
    }
  }

  /// The position of a task that an index names; `nil` if the filter does not find it.
  private func key(of id: UUID, _ tester: inout QueryTester) throws -> ViewKey? {
    guard let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    guard try tester.mayHold(record) else { return nil }
    return try tester.key(of: id, record) { try hasSubtasks($0) }
  }

  /// The position of a task in a query; `nil` if the filter does not find it.
  func key(of task: TaskItem, in query: ResolvedQuery) throws -> ViewKey? {
    guard let record = try tables.tasks.bytes(forKey: IDKey(task.id), in: base) else { return nil }
    var tester = QueryTester(query.predicate, query.sorter)
    return try tester.key(of: task.id, record) { try hasSubtasks($0) }
  }

}

/// A task that a query has found, in the query's order.
struct FoundTask: Comparable {
  let key: ViewKey
  let id: UUID

  static func < (left: FoundTask, right: FoundTask) -> Bool { left.key < right.key }
}

/// Tests records, and finds their positions.
private struct QueryTester {
  private let program: RecordProgram
  private var sorter: QuerySorter
  private var folder = TextFolder()
  /// The last tag of a field that is looked at.
  private let lastTag: UInt8

  init(_ plan: QueryPlan) {
    self.init(plan.rest, plan.sorter)
  }

  init(_ predicate: RecordPredicate?, _ sorter: QuerySorter) {
    program = RecordProgram(predicate ?? .constant(true))
    self.sorter = sorter
    lastTag = max(predicate?.lastTag ?? 0, sorter.lastTag)
  }

  /// Whether a task may pass by the head of its record.
  mutating func mayHold(_ record: RawSpan) throws(LMDBError) -> Bool {
    let head = try TaskFields(record)
    return program.mayHold(try head.state, head.titleBytes, &folder)
  }

  /// The position of a task; `nil` if it fails.
  mutating func key(of id: UUID, _ record: RawSpan, isParent: (UUID) throws -> Bool) throws -> ViewKey? {
    let facts = try FilterFacts(id, record, upTo: lastTag)
    guard try program.holds(facts, &folder, isParent: isParent) else { return nil }
    return sorter.key(of: facts)
  }
}

/// A walk over the keys of ranges, in either direction.
private struct KeyWalk {
  let isReversed: Bool
  private(set) var isStopped = false

  init(isReversed: Bool) {
    self.isReversed = isReversed
  }

  /// Hands the keys and values of one range to a closure, after a key if there is one, until it returns false.
  @inline(__always)
  mutating func run(
    _ range: KeyRange, after start: KeyBytes?, by cursor: inout RawCursor, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var isAtEntry: Bool
    if isReversed {
      isAtEntry = try cursor.move(toLastBefore: start.map { min($0, range.upper) } ?? range.upper)
    } else {
      isAtEntry = try cursor.move(toFirstAtOrAfter: start.map { max($0, range.lower) } ?? range.lower)
      // The task at the position, if it is still there.
      if isAtEntry, let start, try cursor.key() == start { isAtEntry = try cursor.next() }
    }
    let bound = isReversed ? range.lower : range.upper
    while isAtEntry, cursor.keyBytes.precedes(bound.bytes) != isReversed {
      guard try body(cursor.keyBytes, cursor.valueBytes) else {
        isStopped = true
        return
      }
      isAtEntry = try isReversed ? cursor.previous() : cursor.next()
    }
  }
}

extension TaskFilter {
  /// Whether lists must be known to resolve the filter.
  var namesLists: Bool {
    root.contains { condition in
      switch condition {
      case .list(.id), .list(.name): true
      default: false
      }
    }
  }
}
