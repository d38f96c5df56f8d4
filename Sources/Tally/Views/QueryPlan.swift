import Foundation
import LMDB
import TallyEngine

/// How a query is executed: the path, the remaining conditions, and the order.
struct QueryPlan {
  let path: QueryPath
  /// The conditions that the path does not guarantee; `nil` if there are none.
  let rest: RecordPredicate?
  let sorter: QuerySorter
  /// The tasks that wait for others, as far as the query has asked for them.
  let graph: BlockingGraph
  /// The tasks to leave out.
  let hidden: Set<UUID>

  var isSorted: Bool { path.keyOrder == nil }
}

/// A query resolved for a moment, before a path is chosen.
struct ResolvedQuery {
  let predicate: RecordPredicate
  let sorter: QuerySorter
  /// The states that the tasks can be in, as one bit for each raw value.
  let states: UInt8
  /// The conditions that every task must meet.
  let conditions: [RecordCondition]
  let graph = BlockingGraph()
  /// The tasks to leave out: those that wait for their start, unless they are asked for.
  var hidden: Set<UUID> = []

  init(_ predicate: RecordPredicate, sorter: QuerySorter) {
    self.predicate = predicate
    self.sorter = sorter
    conditions = predicate.conjuncts.compactMap { if case .condition(let condition) = $0 { condition } else { nil } }
    states = conditions.reduce(RecordCondition.allStates) { states, condition in
      switch condition {
      case .states(let other): states & other
      case .overdue, .waiting: states & RecordCondition.openStates
      case .completed, .has(.completedAt): states & RecordCondition.doneStates
      case .cancelled, .has(.cancelledAt): states & RecordCondition.cancelledStates
      default: states
      }
    }
  }

  /// The possible paths of the query, each of which contains every task that it can find.
  func paths(in tables: Tables) -> [QueryPath] {
    let paths = QueryPaths(
      tables: tables, order: sorter.order, states: states, zoneOfFloatingTimes: sorter.zoneOfFloatingTimes)
    return [paths.whole] + (paths.ordered.map { [$0] } ?? []) + conditions.compactMap(paths.path)
  }

  /// The plan that uses a path.
  func plan(_ path: QueryPath) -> QueryPlan {
    let rest = predicate.conjuncts.filter { conjunct in
      switch conjunct {
      case .constant(true): return false
      // The path has ranges only for the states that the query allows.
      case .condition(.states): return !path.covered.contains(.states(states))
      case .condition(let condition): return !path.covered.contains(condition)
      default: return true
      }
    }
    return QueryPlan(
      path: path, rest: rest.isEmpty ? nil : .all(rest), sorter: sorter, graph: graph, hidden: hidden)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Chooses the plan that is likely to examine the fewest tasks.
  ///
  /// The size of an index range is known from counters, or is counted only as far as the best plan so far
  /// allows, so that choosing costs a fraction of the query.
  func plan(_ query: ResolvedQuery, limit: Int?) throws -> QueryPlan {
    let total = try tables.tasks.count(in: base)
    var best: (plan: QueryPlan, cost: Int)?
    // Paths in the query's order may stop early, and so set a low bound for the others.
    for path in query.paths(in: tables).sorted(by: { $0.keyOrder != nil && $1.keyOrder == nil }) {
      let plan = query.plan(path)
      let cost = try cost(of: plan, states: query.states, limit: limit, total: total, below: best?.cost ?? .max)
      if best.map({ cost < $0.cost }) ?? true { best = (plan, cost) }
    }
    return best?.plan ?? query.plan(QueryPaths(tables: tables, order: query.sorter.order, states: query.states).whole)
  }

  /// The cost of a plan, as the number of records that a walk of the whole table reads in the same time.
  private func cost(
    of plan: QueryPlan, states: UInt8, limit: Int?, total: Int, below mark: Int
  ) throws -> Int {
    if plan.path.isWholeTable { return total }
    let lookup = QueryCost.lookup
    if let limit, limit < total, !plan.isSorted {
      // It is unknown how many tasks meet the remaining conditions; the estimate is one in ten.
      let early = lookup * min(plan.rest == nil ? limit : 10 * limit, total)
      if early < mark { return early }
    }
    if let scope = plan.path.scope, let count = try count(scope, states: states) { return lookup * count }
    let budget = min(min(mark, total) / lookup + 1, QueryCost.mostEntriesProbed)
    if let count = try countEntries(of: plan.path, upTo: budget) { return lookup * count }
    return lookup * (try plan.path.table.count(in: base))
  }

  /// The number of tasks of a scope in some states; `nil` if no counter has it.
  func count(_ scope: CounterScope, states: UInt8) throws -> Int? {
    switch states {
    case RecordCondition.openStates:
      try total(.created, scope) - total(.completed, scope) - total(.cancelled, scope)
    case RecordCondition.allStates: try total(.created, scope)
    default: nil
    }
  }

  /// The number of entries in a path's ranges; `nil` if it exceeds the limit.
  func countEntries(of path: QueryPath, upTo limit: Int) throws -> Int? {
    var cursor = try path.table.cursor(in: base)
    var count = 0
    for range in path.ranges {
      var isAtEntry = try cursor.move(toFirstAtOrAfter: range.lower)
      while isAtEntry, cursor.keyBytes.precedes(range.upper.bytes) {
        if path.has(cursor.keyBytes) { count += 1 }
        guard count <= limit else { return nil }
        isAtEntry = try cursor.next()
      }
    }
    return count
  }
}

/// The costs of a query's steps, in records read in sequence.
enum QueryCost {
  /// The cost of finding a record by its id.
  static let lookup = 4
  /// The number of index entries to count before the index is assumed to be large.
  static let mostEntriesProbed = 2_000
}

/// An access path of a query: some ranges of an index, or the whole table of tasks.
struct QueryPath {
  let name: TableName
  let table: RawIndex
  let ranges: [KeyRange]
  /// The conditions that every task in the ranges is known to meet.
  var covered: [RecordCondition] = []
  /// How the keys produce the query's order; `nil` if they do not.
  var keyOrder: KeyOrder?
  /// The counters that know the approximate number of tasks on the path.
  var scope: CounterScope?
  /// Whether the ranges are of `byParent` and have entries of tasks that depend on others, which are not on the path.
  var skipsDependents = false
  /// Whether a task may have several entries in the ranges.
  var hasTasksSeveralTimes = false

  /// Whether the task of an entry is on the path.
  @inline(__always)
  func has(_ key: RawSpan) -> Bool {
    !skipsDependents || key.byteCount != GroupKey.width || GroupKey(fields: key).rankRawValue != GroupKey.dependentRank
  }

  /// How a task's position in an order is converted to its key in an index.
  struct KeyOrder {
    /// The number of bytes in the key before those of the order; they are the same throughout a range.
    let prefixByteCount: Int
    /// The number of leading bytes of the order that the key does not have.
    var skippedByteCount = 0
    /// Whether the order is that of the keys from last to first; every bit of the key is then flipped.
    var isReversed = false
  }

  /// Whether the path is the whole table, whose values are the records.
  var isWholeTable: Bool { name == .tasks }
}

extension QueryPath.KeyOrder {
  /// Returns the key in a range for a position in the order.
  func key(_ position: ViewKey, in range: KeyRange) -> KeyBytes {
    var bytes = position.indexKey(isReversed: false)
    bytes = bytes[min(skippedByteCount, bytes.encodedByteCount)..<bytes.encodedByteCount]
    if isReversed { bytes = bytes.flipped }
    var key = range.lower[0..<prefixByteCount]
    let room = min(bytes.encodedByteCount, KeyBytes.capacity - prefixByteCount)
    key.append(bytes[0..<room])
    return key
  }
}

/// Finds the paths for conditions, given the tables of a store and an order.
struct QueryPaths {
  let tables: Tables
  let order: TaskOrder
  /// The states that a task can be in, as one bit for each raw value.
  let states: UInt8
  /// The zone of wall-clock times; `nil` if the store has none.
  var zoneOfFloatingTimes: TimeZone?

  /// The path through all tasks.
  var whole: QueryPath {
    QueryPath(
      name: .tasks, table: tables.tasks.rawIndex, ranges: [KeyRange(IDKey(.lowest), nil)], covered: [],
      keyOrder: nil)
  }

  /// The path for a condition that every task must meet; `nil` if no index covers it.
  func path(for condition: RecordCondition) -> QueryPath? {
    switch condition {
    case .tag(let tag):
      var path = group(.byTag, tables.byTag.rawIndex, tag.id, covering: condition)
      path.scope = .tag(tag.id)
      return path
    case .parent(let id): return group(.byParent, tables.byParent.rawIndex, id, covering: condition)
    case .lists(let ids): return places(ids.map { $0 }, covering: condition)
    case .inbox: return places([nil], covering: condition)
    case .states(let states): return path(forStates: states)
    case .day(let condition): return days(condition)
    case .has(.scheduledDate): return days(nil)
    case .has(.parentID):
      return QueryPath(
        name: .byParent, table: tables.byParent.rawIndex, ranges: [KeyRange(GroupKey.lowest, nil)],
        covered: [condition], skipsDependents: true)
    case .created(let condition): return created(condition.span)
    case .completed(let condition): return completed(condition.span)
    case .has(.completedAt): return completed(nil, covering: condition)
    case .cancelled, .has(.cancelledAt): return cancelled
    case .reminder(let condition, let timeZone): return reminders(condition.span, hasOthers: timeZone != nil)
    case .has(.reminderDate), .hasReminder: return reminders(nil, hasOthers: condition == .hasReminder)
    default: return duePath(for: condition)
    }
  }

  /// The path that is in the query's order, regardless of the filter.
  var ordered: QueryPath? { order.key == .created ? created(nil) : nil }

  private func path(forStates states: UInt8) -> QueryPath? {
    switch TaskState.allCases.filter({ states & 1 << $0.rawValue != 0 }) {
    case [.active]:
      QueryPath(
        name: .byActive, table: tables.byActive.rawIndex, ranges: [KeyRange(OrderKey.lowest, nil)],
        covered: [.states(states)],
        keyOrder: order.key == .place ? .init(prefixByteCount: 0, skippedByteCount: 1) : nil)
    case [.completed]: completed(nil, covering: .states(states))
    case [.cancelled]: cancelled
    default: nil
    }
  }

  /// The ranks of the states, in as few ranges as possible.
  private var ranks: [Range<UInt8>] {
    var ranges: [Range<UInt8>] = []
    let ranks = TaskState.allCases.filter { states & 1 << $0.rawValue != 0 }.map { StateRank($0).rawValue }.sorted()
    for rank in ranks where ranges.last?.contains(rank) != true {
      if let last = ranges.last, last.upperBound == rank {
        ranges[ranges.count - 1] = last.lowerBound..<(rank + 1)
      } else {
        ranges.append(rank..<(rank + 1))
      }
    }
    return ranges
  }

  /// The states, if the ranks cover them: completed and cancelled tasks share one.
  private var coveredStates: [RecordCondition] {
    let closed = states & ~RecordCondition.openStates
    return closed == 0 || closed == RecordCondition.doneStates | RecordCondition.cancelledStates
      ? [.states(states)] : []
  }

  private func group(_ name: TableName, _ table: RawIndex, _ id: UUID, covering condition: RecordCondition) -> QueryPath
  {
    QueryPath(
      name: name, table: table, ranges: ranks.map { .group(id, $0) }, covered: [condition] + coveredStates,
      keyOrder: order.key == .place ? .init(prefixByteCount: GroupKey.width - OrderKey.width - 1) : nil)
  }

  private func places(_ ids: [UUID?], covering condition: RecordCondition) -> QueryPath {
    let isOrdered = ids.count == 1 && order.key == .place
    var path = QueryPath(
      name: .byPlace, table: tables.byPlace.rawIndex,
      ranges: ids.flatMap { id in ranks.map { .place(id, $0) } }, covered: [condition] + coveredStates,
      keyOrder: isOrdered ? .init(prefixByteCount: PlaceKey.width - OrderKey.width - 1) : nil)
    if ids.count == 1, let id = ids[0] { path.scope = .list(id) }
    return path
  }

  /// The completion flags to visit in an index that separates open and completed tasks.
  private var completions: [Bool] {
    [false, true].filter { states & ($0 ? ~RecordCondition.openStates : RecordCondition.openStates) != 0 }
  }

  private func days(_ condition: DayCondition?) -> QueryPath {
    let (first, last) = (Int32(clamping: condition?.first ?? .min), Int32(clamping: condition?.last ?? .max))
    let isOneDay = condition.map { $0.first == $0.last } ?? false
    let ranges = completions.map { KeyRange(DayKey.start(of: first, isCompleted: $0), .end(of: last, isCompleted: $0)) }
    return QueryPath(
      name: .byDay, table: tables.byDay.rawIndex, ranges: ranges.filter { $0.lower <= $0.upper },
      covered: [condition.map { .day($0) } ?? .has(.scheduledDate)],
      keyOrder: isOneDay && order.key == .place
        ? .init(prefixByteCount: DayKey.width - OrderKey.width - 1) : nil)
  }

  private func created(_ span: Range<Int64>?) -> QueryPath {
    QueryPath(
      name: .byCreated, table: tables.byCreated.rawIndex, ranges: [span.map { .instants($0) } ?? .allInstants],
      keyOrder: order.key == .created ? .init(prefixByteCount: 0, isReversed: order.isReversed) : nil)
  }

  private func completed(_ span: Range<Int64>?, covering condition: RecordCondition? = nil) -> QueryPath {
    let range = KeyRange(
      CompletionKey(isTaskDeleted: false, completed: .start(at: span?.lowerBound ?? .min)),
      CompletionKey(isTaskDeleted: span == nil, completed: .start(at: span?.upperBound ?? .min)))
    return QueryPath(
      name: .completions, table: tables.completions.rawIndex, ranges: [range],
      covered: condition.map { [$0, .done] } ?? [.done],
      keyOrder: order.key == .completed
        ? .init(prefixByteCount: 1, skippedByteCount: 1, isReversed: !order.isReversed) : nil)
  }

  /// The path to the cancelled tasks.
  private var cancelled: QueryPath {
    QueryPath(
      name: .byDue, table: tables.byDue.rawIndex, ranges: [.due(.cancelled, .min ..< .max)],
      covered: [.isCancelled, .has(.cancelledAt)])
  }

  /// The path to the open tasks with a reminder; closed ones are in no index.
  ///
  /// With `hasOthers`, the index may have several entries of a task, and those of relative reminders are up to
  /// ``ByReminder/mostShift`` away from them.
  private func reminders(_ span: Range<Int64>?, hasOthers: Bool) -> QueryPath? {
    guard states & ~RecordCondition.openStates == 0 else { return nil }
    let shift = hasOthers ? ByReminder.mostShift : 0
    let range = span.map { span in
      let lower = span.lowerBound.subtractingReportingOverflow(shift)
      let upper = span.upperBound.addingReportingOverflow(shift)
      return KeyRange.instants(
        (lower.overflow ? .min : lower.partialValue)..<(upper.overflow ? .max : upper.partialValue))
    }
    var path = QueryPath(name: .byReminder, table: tables.byReminder.rawIndex, ranges: [range ?? .allInstants])
    path.hasTasksSeveralTimes = hasOthers
    return path
  }
}

extension QueryPaths {
  private func duePath(for condition: RecordCondition) -> QueryPath? {
    let ranges: [KeyRange]
    var covered: [RecordCondition] = []
    switch condition {
    case .isDue: ranges = dueRanges(.min ..< .max, .min ..< .max)
    case .due(let instants, let days): ranges = dueRanges(instants.span, days.instants)
    case .waiting(let today):
      ranges = [.starts(after: CalendarDay(clamping: Int64(today)))]
      covered = [condition, .open]
    case .overdue(let now, let today):
      ranges =
        [.due(.open, .min..<now), .due(.openDay, .min..<DueKey.microseconds(of: today))] + floatingRanges(.min..<now)
      // The range of wall-clock times may include a few that are not overdue.
      covered = zoneOfFloatingTimes == nil ? [condition, .open] : [.open]
    default: return nil
    }
    return QueryPath(name: .byDue, table: tables.byDue.rawIndex, ranges: ranges, covered: covered)
  }

  private func dueRanges(_ instants: Range<Int64>, _ days: Range<Int64>) -> [KeyRange] {
    completions.flatMap { isCompleted in
      [KeyRange.due(isCompleted ? .completed : .open, instants), .due(isCompleted ? .completedDay : .openDay, days)]
        + (isCompleted ? [] : floatingRanges(instants))
    }
  }

  private func floatingRanges(_ instants: Range<Int64>) -> [KeyRange] {
    zoneOfFloatingTimes.map { [.openFloating(instants, in: $0)] } ?? []
  }
}

extension DayCondition {
  /// The instants that represent these days in `byDue`.
  fileprivate var instants: Range<Int64> {
    let (first, last) = (
      CalendarDay(clamping: first).dayNumber, CalendarDay(clamping: min(last, Int64(Int32.max))).dayNumber
    )
    let start = DueKey.microseconds(of: first)
    return start..<max(start, self.first <= self.last ? DueKey.microseconds(of: last) + 1 : start)
  }
}

extension GroupKey {
  fileprivate static let lowest = GroupKey(groupID: .lowest, rankRawValue: 0, order: .lowest)
}
