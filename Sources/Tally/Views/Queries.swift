import Foundation
import LMDB
import TallyEngine

/// A query to a store: which tasks, in which order, how many, and from which position on.
///
/// ```swift
/// var query = TaskQuery(try TaskFilter(text: "#home is:open"), by: .due, limit: 50)
/// repeat {
///   let page = try store.read { try $0.tasks(query) }
///   show(page.tasks)
///   query.position = page.next
/// } while query.position != nil
/// ```
public struct TaskQuery: Hashable, Codable, Sendable {
  /// The filter that selects the tasks.
  public var filter: TaskFilter
  /// The order of the tasks.
  public var order: TaskOrder
  /// The maximum number of tasks; `nil` for all.
  public var limit: Int?
  /// The position to continue from: the end of an earlier page of the same filter and order; `nil` for the beginning.
  public var position: ViewPosition?

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - filter: The filter that selects the tasks.
  ///   - order: The order of the tasks.
  ///   - limit: The maximum number of tasks; `nil` for all.
  ///   - position: The position to continue from; `nil` for the beginning.
  public init(
    _ filter: TaskFilter, by order: TaskOrder = .place, limit: Int? = nil, after position: ViewPosition? = nil
  ) {
    self.filter = filter
    self.order = order
    self.limit = limit
    self.position = position
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Returns the first tasks of a query, or those after its position.
  ///
  /// ```swift
  /// let filter = try TaskFilter(text: "#home due<=today+3d")
  /// let page = try store.read { try $0.tasks(TaskQuery(filter, by: .due, limit: 50)) }
  /// ```
  ///
  /// - Parameter query: The filter, the order, the limit and the position.
  /// - Returns: The tasks, and the position to continue from if there are more.
  /// - Throws: `invalidFilter`; `listNotFound` for a list that the filter names; `valueOutOfRange` for a limit
  ///   below one, for the position of another query and for dates outside the years 1 to 9999.
  /// - Complexity: The number of entries that the best index leaves to examine; see ``explain(_:)``. A sorted
  ///   query examines all tasks that it finds, and keeps `limit` of them.
  public func tasks(_ query: TaskQuery) throws -> ViewPage {
    try page(of: query.view, after: query.position, limit: query.limit ?? .max)
  }

  /// Returns the number of tasks that a filter selects.
  ///
  /// - Throws: The errors of ``tasks(_:)``.
  /// - Complexity: A lookup if counters have the number, such as that of the open tasks with a tag. If the keys
  ///   of an index are enough, as for overdue tasks, the number of keys. Otherwise that of ``tasks(_:)``.
  public func count(_ filter: TaskFilter) throws -> Int {
    let query = try resolved(filter, by: .created)
    let count = try countByCounters(query) ?? count(query)
    return try count - hiddenTasks(in: .matching(filter, by: .created)).count { try key(of: $0, in: query) != nil }
  }

  /// Explains how a query is answered: from which index, and how many entries are examined.
  ///
  /// To find out, it runs the query.
  ///
  /// - Throws: The errors of ``tasks(_:)``.
  public func explain(_ query: TaskQuery) throws -> QueryExplanation {
    let limit = query.limit ?? .max
    try checkPage(of: query.view, after: query.position, limit: limit)
    var resolved = try resolved(query.filter, by: query.order)
    resolved.hidden = try hiddenTasks(in: query.view)
    let plan = try plan(resolved, limit: query.limit)
    var work = QueryWork()
    var count = 0
    _ = try scan(plan, after: query.position?.key, limit: query.limit, &work) { _ in
      guard count < limit else { return false }
      count += 1
      return true
    }
    return QueryExplanation(
      index: plan.path.name.rawValue, isSorted: plan.isSorted, examinedCount: work.examinedCount,
      foundCount: work.foundCount, returnedCount: count)
  }

  /// The number of open tasks in all, with one tag or priority, in one list or in no list; `nil` if no counter has it.
  private func countByCounters(_ query: ResolvedQuery) throws -> Int? {
    guard query.conditions.count == query.predicate.conjuncts.count else { return nil }
    let others = query.conditions.filter { if case .states = $0 { false } else { true } }
    guard query.states == RecordCondition.openStates, others.count <= 1 else { return nil }
    switch others.first {
    case nil: return try count(.all, states: query.states)
    case .tag(let tag): return try count(.tag(tag.id), states: query.states)
    case .lists(let ids) where ids.count == 1:
      return try ids.first.flatMap { try count(.list($0), states: query.states) }
    case .noList: return try count(.noList, states: query.states)
    case .priority(.equal, let priority) where priority != .none:
      return try count(.priority(priority), states: query.states)
    default: return nil
    }
  }
}

/// How a query was answered.
public struct QueryExplanation: Hashable, Codable, Sendable {
  /// The table that was walked: `tasks` for all tasks, or an index, by its name in <doc:StorageFormat>.
  public let index: String
  /// Whether the tasks were sorted after they were found, because the index is not in the query's order.
  public let isSorted: Bool
  /// The number of entries that were examined.
  public let examinedCount: Int
  /// The number of their tasks that the filter selected.
  public let foundCount: Int
  /// The number of tasks that were returned.
  public let returnedCount: Int
}

extension TaskQuery {
  /// The query as a view without its limit and its position, for observing or walking it.
  public var view: TaskView { .matching(filter, by: order) }
}

/// Counts the work of a query.
struct QueryWork {
  var examinedCount = 0
  var foundCount = 0
}

extension StoreTransaction where Base: ~Copyable {
  /// Resolves a filter against this transaction's lists, clock and calendar.
  func resolved(_ filter: TaskFilter, by order: TaskOrder) throws -> ResolvedQuery {
    let reference = DateReference(now: now, today: today, calendar: calendar)
    let hasDependencies = try mayHaveDependencies
    let resolution = FilterResolution(
      reference, lists: filter.namesLists ? try lists() : [], hasDependencies: hasDependencies)
    let sorter = QuerySorter(
      order, against: reference, nextWeights, hasDependencies: hasDependencies,
      showsWaiting: showsWaiting || !TaskView.matching(filter, by: order).hidesWaiting)
    return ResolvedQuery(try resolution.predicate(filter), sorter: sorter)
  }

  /// Walks the tasks of a query by the plan that is likely to examine the fewest tasks.
  func scan(
    _ query: ResolvedQuery, after position: ViewKey?, limit: Int?, _ work: inout QueryWork,
    _ body: (UUID) throws -> Bool
  ) throws -> ViewKey? {
    try scan(try plan(query, limit: limit), after: position, limit: limit, &work, body)
  }

  /// Walks the tasks of a plan in the query's order, after a position, until `body` returns false.
  ///
  /// - Returns: The position of the last accepted task if `body` refused one.
  func scan(
    _ plan: QueryPlan, after position: ViewKey?, limit: Int?, _ work: inout QueryWork,
    _ body: (UUID) throws -> Bool
  ) throws -> ViewKey? {
    if let order = plan.path.keyOrder { return try walk(plan, order, after: position, &work, body) }
    var last = position
    // One task more than the limit shows whether there is another page.
    for found in try sorted(plan, after: position, limit: limit.map { min($0, .max - 1) + 1 }, &work) {
      guard try body(found.id) else { return last }
      last = found.key
    }
    return nil
  }

  /// Walks a path whose keys are in the query's order.
  ///
  /// If the path covers the whole filter, no record is read.
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
        if plan.hidden.contains(id) { return true }
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

  /// Walks a whole path, and sorts the tasks found.
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

  /// Counts the tasks of a query, without reading a task if the keys of an index are enough.
  func count(_ query: ResolvedQuery) throws -> Int {
    for path in query.paths(in: tables) where query.plan(path).rest == nil {
      if path.isWholeTable { return try tables.tasks.count(in: base) }
      if let count = try countEntries(of: path, upTo: .max) { return count }
    }
    var work = QueryWork()
    try forEachKey(of: try plan(query, limit: nil), &work) { _, _ in }
    return work.foundCount
  }

  /// Calls `body` with the position of each task that a plan finds, in no particular order.
  private func forEachKey(
    of plan: QueryPlan, _ work: inout QueryWork, _ body: (ViewKey, UUID) -> Void
  ) throws {
    var tester = QueryTester(plan)
    var walk = KeyWalk(isReversed: false)
    var cursor = try plan.path.table.cursor(in: base)
    let (path, graph, isWholeTable) = (plan.path, plan.graph, plan.path.isWholeTable)
    var seen: Set<UUID> = []
    for range in plan.path.ranges {
      try walk.run(range, after: nil, by: &cursor) { key, record in
        guard path.has(key) else { return true }
        if path.hasTasksSeveralTimes, !seen.insert(key.idAtEnd).inserted { return true }
        work.examinedCount += 1
        // Most records of the whole table are rejected here.
        if isWholeTable, try !tester.mayMatch(record) { return true }
        let id = key.idAtEnd
        if plan.hidden.contains(id) { return true }
        let found =
          try isWholeTable
          ? tester.key(of: id, record) { try answer($0, about: $1, graph) } : self.key(of: id, &tester)
        if let found {
          work.foundCount += 1
          body(found, id)
        }
        return true
      }
    }
  }

  /// The position of a task in an index; `nil` if the filter does not select it.
  private func key(of id: UUID, _ tester: inout QueryTester) throws -> ViewKey? {
    guard let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    guard try tester.mayMatch(record) else { return nil }
    let graph = tester.graph
    return try tester.key(of: id, record) { try answer($0, about: $1, graph) }
  }

  /// The position of a task in a query; `nil` if the filter does not select it.
  func key(of id: UUID, in query: ResolvedQuery) throws -> ViewKey? {
    guard !query.hidden.contains(id), let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      return nil
    }
    var tester = QueryTester(query.predicate, query.sorter, query.graph)
    return try tester.key(of: id, record) { try answer($0, about: $1, query.graph) }
  }

  /// Answers a question about a task.
  func answer(_ question: LinkQuestion, about id: UUID, _ graph: BlockingGraph) throws -> Int {
    switch question {
    case .isParent: return try hasSubtasks(id) ? 1 : 0
    case .blockedRank: return try graph.rank(of: id) { try dependencies(of: $0) }
    case .isBlocking:
      for dependent in try tables.dependentIDs(of: id, in: base) {
        if try graph.blockers(of: dependent, { try dependencies(of: $0) }).contains(id) { return 1 }
      }
      return 0
    }
  }
}

/// A task found by a query, compared by its position in the query's order.
struct FoundTask: Comparable {
  let key: ViewKey
  let id: UUID

  static func < (left: FoundTask, right: FoundTask) -> Bool { left.key < right.key }
}

/// Tests records, and computes their positions.
private struct QueryTester {
  private let program: RecordProgram
  private var sorter: QuerySorter
  private var folder = TextFolder()
  /// The last field tag that has to be read.
  private let lastTag: UInt8
  let graph: BlockingGraph
  private let zone: TimeZone?

  init(_ plan: QueryPlan) {
    self.init(plan.rest, plan.sorter, plan.graph)
  }

  init(_ predicate: RecordPredicate?, _ sorter: QuerySorter, _ graph: BlockingGraph) {
    self.graph = graph
    program = RecordProgram(predicate ?? .constant(true))
    self.sorter = sorter
    zone = sorter.zoneOfFloatingTimes
    lastTag = max(predicate?.lastTag ?? 0, sorter.lastTag)
  }

  /// Whether a task can pass, judged by the header of its record.
  mutating func mayMatch(_ record: RawSpan) throws(LMDBError) -> Bool {
    let head = try TaskFields(record)
    return program.mayMatch(try head.state, head.titleBytes, &folder)
  }

  /// The position of a task; `nil` if it does not pass.
  mutating func key(of id: UUID, _ record: RawSpan, asking ask: LinkAnswer) throws -> ViewKey? {
    let facts = try FilterFacts(id, record, upTo: lastTag, in: zone)
    guard try program.matches(facts, &folder, asking: ask) else { return nil }
    return try sorter.key(of: facts, asking: ask)
  }
}

/// A walk over the keys in ranges, in either direction.
private struct KeyWalk {
  let isReversed: Bool
  private(set) var isStopped = false

  /// Calls `body` with the keys and values of a range, after a key if one is given, until it returns false.
  @inline(__always)
  mutating func run(
    _ range: KeyRange, after start: KeyBytes?, by cursor: inout RawCursor, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var isAtEntry = try range.begin(&cursor, after: start, isReversed: isReversed)
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
  /// Whether resolving the filter needs the lists.
  var namesLists: Bool {
    root.contains { condition in
      switch condition {
      case .list(.id), .list(.name): true
      default: false
      }
    }
  }
}

extension TaskView {
  /// Whether changes may affect tasks of the view that they do not name.
  func isUnpredictable(after changes: ChangeSet) -> Bool {
    guard let query else { return false }
    // A list was renamed, or a task got its first sub-task or dependent task, or lost its last one.
    return query.filter.namesLists && !changes.lists.all.isEmpty
      || query.filter.asksForLinkedTasks && !changes.tasks.all.isEmpty
  }

  /// Whether changes of a task may affect the tasks that depend on it, and those that depend on these.
  var followsDependencies: Bool {
    guard let query else { return false }
    return query.order.key == .next || query.filter.root.contains { $0 == .property(.blocked) }
  }
}

extension TaskFilter {
  fileprivate var asksForLinkedTasks: Bool {
    root.contains { $0 == .property(.parent) || $0 == .property(.blocking) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Calls `body` with the tasks that the passing of time alone may have moved into or out of a query since an instant.
  ///
  /// - Returns: False if they cannot be listed, as after midnight, when `today` changes, or if no index has a field.
  func forEachTask(
    whosePlaceIn query: (filter: TaskFilter, order: TaskOrder), changedSince former: Timestamp,
    _ body: (UUID) -> Void
  ) throws -> Bool {
    guard day(of: former) == today else { return false }
    var shifts = TimeShifts(zone: calendar.timeZone)
    do {
      let lists = query.filter.namesLists ? try lists() : []
      shifts.compare(
        try predicate(of: query.filter, lists, at: former), try predicate(of: query.filter, lists, at: now))
    } catch let error as TallyError where error.code == .listNotFound {
      return false
    }
    if query.order.key == .next { shifts.addOverdue(from: former, to: now) }
    guard shifts.areKnown else { return false }
    for range in shifts.due { try forEachTask(of: tables.byDue.rawIndex, in: range, body) }
    for range in shifts.created { try forEachTask(of: tables.byCreated.rawIndex, in: range, body) }
    for range in shifts.completed { try forEachTask(of: tables.completions.rawIndex, in: range, body) }
    return true
  }

  /// The meaning of a filter at another moment of the current day.
  private func predicate(
    of filter: TaskFilter, _ lists: [TaskList], at now: Timestamp
  ) throws -> RecordPredicate {
    let reference = DateReference(now: now, today: today, calendar: calendar)
    return try FilterResolution(reference, lists: lists, hasDependencies: try mayHaveDependencies).predicate(filter)
  }

  /// Calls `body` with the tasks in a range of an index.
  func forEachTask(of index: RawIndex, in range: KeyRange, _ body: (UUID) -> Void) throws {
    var cursor = try index.cursor(in: base)
    var walk = RangeWalk(isReversed: false, after: nil)
    try walk.run(range, prefix: KeyBytes(), by: &cursor) { id in
      body(id)
      return true
    }
  }
}

/// The keys of tasks for which the meaning of a filter has changed with the passing of time.
private struct TimeShifts {
  let zone: TimeZone
  var due: [KeyRange] = []
  var created: [KeyRange] = []
  var completed: [KeyRange] = []
  /// Whether the ranges contain all such keys.
  var areKnown = true

  /// Compares two resolutions of a filter that differ only in their instants.
  mutating func compare(_ old: RecordPredicate, _ new: RecordPredicate) {
    switch (old, new) {
    case (.condition(let old), .condition(let new)): if old != new { add(old, new) }
    case (.not(let old), .not(let new)): compare(old, new)
    case (.all(let old), .all(let new)), (.any(let old), .any(let new)):
      for (old, new) in zip(old, new) { compare(old, new) }
    default: if old != new { areKnown = false }
    }
  }

  mutating func addOverdue(from former: Timestamp, to now: Timestamp) {
    due += KeyRange.openDue(min(former, now), max(former, now), in: zone)
  }

  private mutating func add(_ old: RecordCondition, _ new: RecordCondition) {
    switch (old, new) {
    case (.overdue(let former, _), .overdue(let now, _)):
      addOverdue(from: Timestamp(clamping: former), to: Timestamp(clamping: now))
    case (.due(.instant(_, let old), let oldDays), .due(.instant(_, let new), let newDays)) where oldDays == newDays:
      for kind in [DueKey.Kind.open, .completed] {
        due.append(.due(kind, min(old, new)..<(max(old, new) + 1)))
      }
      due.append(.openFloating(min(old, new)..<(max(old, new) + 1), in: zone))
    case (.created(.instant(_, let old)), .created(.instant(_, let new))):
      created.append(.instants(min(old, new)..<(max(old, new) + 1)))
    case (.completed(.instant(_, let old)), .completed(.instant(_, let new))):
      completed.append(
        KeyRange(
          CompletionKey(isTaskDeleted: false, completed: .start(at: min(old, new))),
          CompletionKey(isTaskDeleted: false, completed: .start(at: max(old, new) + 1))))
    default: areKnown = false
    }
  }
}

/// Computes positions of tasks in an order, as bytes whose order is that of the tasks; all end with the task's id.
struct QuerySorter {
  let order: TaskOrder
  private let now: Int64
  private let today: Int32
  private let timeZone: TimeZone
  private let weights: NextWeights
  private let hasDependencies: Bool
  private let showsWaiting: Bool
  /// The zone of wall-clock times; `nil` if the store has none.
  var zoneOfFloatingTimes: TimeZone? { hasDependencies ? timeZone : nil }

  /// A cache of the ends of due days, because computing one takes some microseconds.
  private var endsOfDays: [Int32: Int64] = [:]

  init(
    _ order: TaskOrder, against reference: DateReference, _ weights: NextWeights, hasDependencies: Bool = true,
    showsWaiting: Bool = true
  ) {
    (self.order, self.hasDependencies, self.showsWaiting) = (order, hasDependencies, showsWaiting)
    now = reference.now.microsecondsSince1970
    today = reference.today.dayNumber
    timeZone = reference.timeZone
    self.weights = weights
  }

  /// The last field tag that the order has to read.
  var lastTag: UInt8 {
    switch order.key {
    case .place, .created, .updated: 0
    case .next where showsWaiting: TaskField.someday.tag
    case .next where hasDependencies: TaskField.dependsOn.tag
    case .due, .next: TaskField.priority.tag
    case .priority: TaskField.priority.tag
    case .completed: TaskField.completedAt.tag
    }
  }

  /// The position of a task in the order; `ask` asks the store.
  mutating func key(of task: borrowing FilterFacts, asking ask: LinkAnswer) throws -> ViewKey {
    var bytes = KeyBytes()
    switch order.key {
    case .place: bytes.append(place: task)
    case .priority:
      let rank = task.priority.rawValue
      bytes.append(order.isReversed ? rank : .max - rank)
      bytes.append(place: task)
    case .due: bytes = key(of: due(of: task), task)
    case .created: bytes = key(of: task.created, task)
    case .updated: bytes = key(of: task.updated, task)
    case .completed: bytes = key(of: task.has(.completedAt) ? task.completed : nil, task)
    case .next: try appendNext(task, to: &bytes, asking: ask)
    }
    return ViewKey(prefix: KeyBytes(), bytes, isReversed: false)
  }

  /// An instant and the id, reversed if the order is descending; tasks without the instant are last.
  private func key(of microseconds: Int64?, _ task: borrowing FilterFacts) -> KeyBytes {
    let instant = InstantKey(microseconds: microseconds ?? task.created, id: task.id)
    let isDescending = order.isReversed != order.key.isDescendingByDefault
    if !order.key.mayBeAbsent { return isDescending ? KeyBytes(instant).flipped : KeyBytes(instant) }
    var bytes = KeyBytes(UInt8(microseconds == nil ? 1 : 0))
    let key = KeyBytes(instant)
    bytes.append(microseconds != nil && isDescending ? key.flipped : key)
    return bytes
  }

  private mutating func due(of task: borrowing FilterFacts) -> Int64? {
    if task.has(.dueDate) { return task.due }
    return task.has(.dueDay) ? end(ofDay: task.dueDay) : nil
  }

  private mutating func end(ofDay day: Int32) -> Int64 {
    if let end = endsOfDays[day] { return end }
    let end = CalendarDay(clamping: Int64(day)).end(in: timeZone).microsecondsSince1970
    endsOfDays[day] = end
    return end
  }

  /// Appends the rank by the weights, the due day, the priority and the due time; completed tasks are last.
  ///
  /// Blocked tasks come before those, after all that may block them: by how many must be done before them.
  private mutating func appendNext(
    _ task: borrowing FilterFacts, to bytes: inout KeyBytes, asking ask: LinkAnswer
  ) throws {
    guard task.isOpen else {
      bytes.append(UInt8.max)
      bytes.append(place: task)
      return
    }
    let blockedRank = task.has(.dependsOn) ? try ask(.blockedRank, task.id) : 0
    if blockedRank > 0 { bytes.append(UInt8(min(NextWeights.range.upperBound + blockedRank, Int(UInt8.max) - 1))) }
    let isOverdue = task.isOverdue(at: now, today)
    let isLateByReminder = isOverdue && !task.has(.dueDate) && !task.has(.dueDay)
    let instant = due(of: task) ?? (isLateByReminder ? task.reminder : nil)
    // The end of a due day is cached; the day of an instant depends on the time zone.
    let day: Int32? = task.has(.dueDay) ? task.dueDay : instant.map(localDay)
    let planned = task.has(.scheduledDate) ? NextWeights.DayRelation(of: task.day, to: today) : nil
    bytes.append(
      weights.rank(
        isStarted: task.state == .active, isOverdue: isOverdue, isDueToday: !isLateByReminder && day == today,
        planned: planned, isWaiting: showsWaiting && task.isWaiting(on: today)))
    let priority = UInt8.max - task.priority.rawValue
    if weights.priority > weights.due { bytes.append(priority) }
    bytes.append(day ?? .max)
    if weights.priority <= weights.due { bytes.append(priority) }
    bytes.append(InstantKey(microseconds: instant ?? .max, id: .lowest).instantBytes)
    bytes.append(place: task)
  }

  private func localDay(of microseconds: Int64) -> Int32 {
    CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone).dayNumber
  }
}

extension TaskOrder.Key {
  /// Whether tasks may lack the value to sort by.
  var mayBeAbsent: Bool { self == .due || self == .completed }
}

extension InstantKey {
  /// The bytes of the instant without the id.
  fileprivate var instantBytes: KeyBytes { KeyBytes(self)[0..<8] }
}

extension KeyBytes {
  /// Appends the rank of the state and the position within it.
  fileprivate mutating func append(place task: borrowing FilterFacts) {
    append(StateRank(task.state).rawValue)
    append(task.order)
  }
}
