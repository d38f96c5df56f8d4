extension StoreTransaction where Base: ~Copyable {
  /// What a query finds: its first tasks, or those after a position.
  ///
  /// ```swift
  /// let filter = try TaskFilter(text: "#home due<=today+3d")
  /// let page = try store.read { try $0.tasks(TaskQuery(filter, by: .due, limit: 50)) }
  /// ```
  ///
  /// - Parameter query: the filter, the order, the limit and the position.
  /// - Returns: the tasks, and where to go on if there are more.
  /// - Throws: `invalidFilter`, `listNotFound` for a list that the filter names, `valueOutOfRange` for a limit below one,
  ///   for the position of another query and for dates beyond the years 1 to 9999.
  /// - Complexity: what the best index leaves to look at, see ``explain(_:)``; a sorted query looks at everything that it
  ///   finds, and keeps `limit` tasks of it.
  public func tasks(_ query: TaskQuery) throws -> ViewPage {
    try page(of: query.view, after: query.position, limit: query.limit ?? .max)
  }

  /// How many tasks a filter finds.
  ///
  /// - Throws: as ``tasks(_:)``.
  /// - Complexity: a lookup where counters know the number, as that of the open tasks with a tag; the keys of an index where
  ///   they say all, as for overdue tasks; otherwise as ``tasks(_:)``.
  public func count(_ filter: TaskFilter) throws -> Int {
    let query = try resolved(filter, by: .created)
    return try countByCounters(query) ?? count(query)
  }

  /// How a query is answered: by which index, and how much of it is looked at.
  ///
  /// The query is answered for that.
  ///
  /// - Throws: as ``tasks(_:)``.
  public func explain(_ query: TaskQuery) throws -> QueryExplanation {
    let limit = query.limit ?? .max
    try checkPage(of: query.view, after: query.position, limit: limit)
    let plan = try plan(try resolved(query.filter, by: query.order), limit: query.limit)
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

  /// The number of open tasks: all, those with one tag or one priority, in one list or in none; `nil` if no counter has it.
  private func countByCounters(_ query: ResolvedQuery) throws -> Int? {
    guard query.tests.count == query.predicate.conjuncts.count else { return nil }
    let others = query.tests.filter { if case .states = $0 { false } else { true } }
    guard query.states == RecordTest.openStates, others.count <= 1 else { return nil }
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
  /// The table that was walked: `tasks` for all tasks, else an index, by its name in <doc:StorageFormat>.
  public let index: String
  /// Whether the tasks were sorted after they were found, as no index has them in the query's order.
  public let isSorted: Bool
  /// How many entries were looked at.
  public let examinedCount: Int
  /// How many of their tasks the filter found.
  public let foundCount: Int
  /// How many tasks were returned.
  public let returnedCount: Int
}

extension TaskQuery {
  /// The query as a view, without its limit and its position: to be observed, or walked.
  public var view: TaskView { .matching(filter, by: order) }
}
