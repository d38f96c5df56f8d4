import Foundation
import LMDB
import TallyEngine

/// The events that statistics count: those of a scope that has counters, or those of the tasks that meet a condition.
struct EventSelection {
  /// The scope whose counters are used; `all` if no counter has the events.
  let scope: CounterScope
  /// The condition for tasks if no counter has the events; otherwise `nil`.
  let predicate: RecordPredicate?

  /// Selects the tasks of a filter, in one list or in all lists.
  init(_ filter: RecordPredicate, listID: UUID?) {
    var conditions = filter.conjuncts.filter { $0 != .constant(true) }
    if let listID, !conditions.contains(.condition(.lists([listID]))) {
      conditions.append(.condition(.lists([listID])))
    }
    let scope: CounterScope? =
      switch conditions.first {
      case nil: .all
      case .condition(let condition) where conditions.count == 1: CounterScope(condition)
      default: nil
      }
    self.scope = scope ?? .all
    predicate = scope == nil ? .all(conditions) : nil
  }
}

extension CounterScope {
  /// Creates the scope of the tasks that meet a condition; `nil` if there is none.
  fileprivate init?(_ condition: RecordCondition) {
    switch condition {
    case .noList: self = .noList
    case .tag(let tag): self = .tag(tag.id)
    case .lists(let ids):
      guard let id = ids.first, ids.count == 1 else { return nil }
      self = .list(id)
    case .priority(let comparison, let priority):
      let priorities = Priority.allCases.filter { comparison.matches($0, priority) }
      guard let only = priorities.first, priorities.count == 1, only != .none else { return nil }
      self = .priority(only)
    default: return nil
    }
  }
}

extension RecordPredicate {
  /// Whether the ledger of completions contains everything that the predicate reads.
  var isOfLedger: Bool { reduce(true) { $0 && $1.isOfLedger } }
}

extension RecordCondition {
  fileprivate var isOfLedger: Bool {
    switch self {
    case .states, .lists, .noList, .tag, .priority, .created, .completed, .cancelled: true
    case .has(let field): [.listID, .tags, .priority, .completedAt, .cancelledAt].contains(field)
    default: false
    }
  }
}

/// Tests the records of tasks and the entries of the ledger.
struct EventTester {
  private let program: RecordProgram
  let lastTag: UInt8
  /// Whether a completion can be tested without reading its task.
  let isOfLedger: Bool
  private var folder = TextFolder()
  let graph = BlockingGraph()
  /// The zone of wall-clock times; `nil` if the store has none.
  let zone: TimeZone?

  init(_ predicate: RecordPredicate, in zone: TimeZone?) {
    self.zone = zone
    program = RecordProgram(predicate)
    lastTag = predicate.lastTag
    isOfLedger = predicate.isOfLedger
  }

  /// Whether a task or a completion passes.
  mutating func matches(_ facts: borrowing FilterFacts, asking ask: LinkAnswer) throws -> Bool {
    try program.matches(facts, &folder, asking: ask)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Creates a tester of a predicate; `nil` without a predicate.
  func tester(of predicate: RecordPredicate?) throws -> EventTester? {
    try predicate.map { EventTester($0, in: try zoneOfFloatingTimes) }
  }

  /// Whether a task passes in its current state; without a tester, every task passes.
  func passes(_ tester: inout EventTester?, _ id: UUID) throws -> Bool {
    guard let (lastTag, graph, zone) = tester.map({ ($0.lastTag, $0.graph, $0.zone) }) else { return true }
    guard let task = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try tester?.matches(FilterFacts(id, task, upTo: lastTag, in: zone)) {
      try answer($0, about: $1, graph)
    } ?? true
  }

  /// Whether an entry of the ledger passes; without a tester, every entry passes.
  func passes(_ tester: inout EventTester?, _ key: CompletionKey, _ entry: RawSpan) throws -> Bool {
    guard let (isOfLedger, lastTag, graph, zone) = tester.map({ ($0.isOfLedger, $0.lastTag, $0.graph, $0.zone) })
    else { return true }
    if key.isTaskDeleted || isOfLedger {
      return try tester?.matches(FilterFacts(key.completed, ofCompletion: entry)) { try answer($0, about: $1, graph) }
        ?? true
    }
    guard let task = try tables.tasks.bytes(forKey: IDKey(key.completed.id), in: base) else {
      throw TallyError.missingRecord(of: "completions")
    }
    var facts = try FilterFacts(key.completed.id, task, upTo: lastTag, in: zone)
    try facts.setClassification(ofCompletion: entry)
    return try tester?.matches(facts) { try answer($0, about: $1, graph) } ?? true
  }
}

/// The events of the tasks that a filter selects, collected by a walk in place of counters.
struct SelectedEvents {
  /// The instants of the events, indexed by the raw value of their series; ascending after `sort()`.
  private var instants = Array(repeating: [Int64](), count: CounterSeries.allCases.count + 1)
  /// The groups of the completions on the named days.
  private(set) var groups = GroupCounts()
  /// The number of completions on the named days by cycle-time bucket.
  private(set) var cycleTimes: [UInt16: Int] = [:]
  var activeCount = 0

  /// Adds a task and its events.
  mutating func add(_ task: CountedTask) {
    task.forEachEvent { instants[Int($0.rawValue)].append($1) }
  }

  /// Adds a completion to the groups and the cycle times.
  mutating func addToProfiles(_ task: CountedTask) {
    groups.add(task.classification)
    if let bucket = task.cycleTimeBucket { cycleTimes[bucket, default: 0] += 1 }
  }

  /// Sorts the instants once all events have been added.
  mutating func sort() {
    for series in instants.indices { instants[series].sort() }
  }

  /// The number of events of all time.
  func count(_ series: CounterSeries) -> Int { instants[Int(series.rawValue)].count }

  /// The instants of the events from one instant up to, but not including, another.
  func instants(_ series: CounterSeries, from start: Int64, to end: Int64) -> ArraySlice<Int64> {
    let bounds = cumulativeCounts(series, at: [start, max(start, end)])
    return instants[Int(series.rawValue)][bounds[0]..<bounds[1]]
  }

  /// The number of events before each of some ascending instants.
  func cumulativeCounts(_ series: CounterSeries, at ends: [Int64]) -> [Int] {
    let events = instants[Int(series.rawValue)]
    var position = 0
    return ends.map { end in
      var bound = events.count
      while position < bound {
        let middle = position + (bound - position) / 2
        if events[middle] < end { position = middle + 1 } else { bound = middle }
      }
      return position
    }
  }
}

// The queries that counters answer for a scope, answered from the counters or from the collected events of a context.

extension StoreTransaction where Base: ~Copyable {
  /// Walks the ledger and the tasks that are not completed, and collects the events of the tasks that pass.
  func selectedEvents(_ predicate: RecordPredicate, _ context: StatisticsContext) throws -> SelectedEvents {
    var events = SelectedEvents()
    let (named, end) = (context.namedTimes, QuarterHour.endOfTime)
    try forEachCompletion(context.series, .all, passing: predicate, from: -end, to: end) { time, key, record in
      let task = CountedTask(CompletionKey(isTaskDeleted: false, completed: key), record)
      events.add(task)
      if named.contains(where: { $0.contains(time) }) { events.addToProfiles(task) }
    }
    let query = ResolvedQuery(
      .all(predicate.conjuncts + [.condition(.uncompleted)]), sorter: try resolved(TaskFilter.all, by: .created).sorter)
    var work = QueryWork()
    _ = try scan(query, after: nil, limit: nil, &work) { id in
      let task = try indexedTask(id)
      events.add(CountedTask(uncompleted: task))
      if task.state == .active { events.activeCount += 1 }
      return true
    }
    events.sort()
    return events
  }

  /// The number of events of all time.
  func total(_ series: CounterSeries, _ context: StatisticsContext) throws -> Int {
    try context.events?.count(series) ?? total(series, context.scope)
  }

  /// The number of events from one instant up to, but not including, another.
  func count(_ series: CounterSeries, _ context: StatisticsContext, from start: Int64, to end: Int64) throws -> Int {
    try context.events?.instants(series, from: start, to: end).count
      ?? count(series, context.scope, from: start, to: end)
  }

  /// The number of events before each of some ascending instants; when counters are read, `visit` is called
  /// with their blocks.
  func cumulativeCounts(
    _ series: CounterSeries, _ context: StatisticsContext, at instants: [Int64],
    _ visit: (Int32, borrowing BlockCountsFields) -> Void = { _, _ in }
  ) throws -> [Int] {
    try context.events?.cumulativeCounts(series, at: instants)
      ?? cumulativeCounts(series, context.scope, at: instants, visit)
  }
}

// The tasks behind the counts of completions, with the same days, lists and ledger as the counts.

extension StoreTransaction where Base: ~Copyable {
  /// Calls `body` with each task that the statistics count as completed, newest first and without collecting them.
  ///
  /// The days, the list and the filter are those of the options; the list is the one in which a task was completed,
  /// wherever it is now. If one end of the days is not named, it is open. `completionCount(matching:)` also counts
  /// completions of tasks deleted since, which this method cannot visit.
  ///
  /// ```swift
  /// var options = StatisticsOptions()
  /// options.from = today
  /// try transaction.forEachCompletedTask(matching: options) { print($0.title) }
  /// ```
  ///
  /// - Throws: The errors of the closure, which end the walk, and those of `statistics(_:)`.
  /// - Complexity: The number of completions on the days, including those that the options exclude.
  public func forEachCompletedTask(
    matching options: StatisticsOptions,
    _ body: (TaskItem) throws -> Void
  ) throws {
    try forEachCompletion(isTaskDeleted: false, emptyContext(options, needsHistory: true)) {
      try body(try indexedTask($0))
    }
  }

  /// Returns the number of counted completions whose task has been deleted.
  ///
  /// - Throws: The errors of `statistics(_:)`.
  /// - Complexity: The number of such completions.
  public func completionCountOfDeletedTasks(matching options: StatisticsOptions) throws -> Int {
    var count = 0
    try forEachCompletion(isTaskDeleted: true, emptyContext(options, needsHistory: true)) { _ in count += 1 }
    return count
  }

  /// Returns the number of completions that the statistics count, including those of deleted tasks.
  ///
  /// - Throws: The errors of `statistics(_:)`.
  /// - Complexity: The number of days in the options, not the number of tasks; with a filter that no counter
  ///   covers, all completions are read.
  public func completionCount(matching options: StatisticsOptions) throws -> Int {
    let context = try statisticsContext(options, needsHistory: true)
    return try completionSpans(context).reduce(0) { sum, span in
      sum + (try count(context.series, context, from: span.lowerBound, to: span.upperBound))
    }
  }

  private func forEachCompletion(isTaskDeleted: Bool, _ context: StatisticsContext, _ body: (UUID) throws -> Void)
    throws
  {
    for span in try completionSpans(context).reversed() {
      try forEachCompletion(
        context.series, context.scope, passing: context.selection.predicate, from: span.lowerBound, to: span.upperBound,
        ofDeletedTasks: [isTaskDeleted], reversed: true
      ) { _, key, _ in try body(key.id) }
    }
  }

  /// The time spans of the named days within the history, with adjacent ones merged; in recorded local time if
  /// the options use it.
  private func completionSpans(_ context: StatisticsContext) throws -> [Range<Int64>] {
    guard let history = context.historyDays else { return [] }
    let first = max(history.lowerBound, context.options.from?.dayNumber ?? .min)
    let last = min(history.upperBound, context.options.to?.dayNumber ?? .max)
    guard first <= last else { return [] }
    // Every count of completions comes here: `RangeSet` would merge the spans too, by generic code that is not specialized.
    var spans: [Range<Int64>] = []
    for interval in context.completionDays(first...last).intervals {
      if let previous = spans.last, previous.upperBound == interval.start {
        spans[spans.count - 1] = previous.lowerBound..<interval.end
      } else {
        spans.append(interval.start..<interval.end)
      }
    }
    return spans
  }
}
