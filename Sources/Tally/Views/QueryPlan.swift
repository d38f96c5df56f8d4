import Foundation
import LMDB

/// A query as it will be done: a path, the tests that are left, and whether the tasks are sorted.
struct QueryPlan {
  let path: QueryPath
  /// What the path does not ensure; `nil` if nothing.
  let rest: RecordPredicate?
  let sorter: QuerySorter

  var isSorted: Bool { path.keyOrder == nil }
}

/// A query resolved for a moment, before a path is chosen.
struct ResolvedQuery {
  let predicate: RecordPredicate
  let sorter: QuerySorter
  /// The states that a task can have.
  let states: UInt8
  /// The tests that every task must pass.
  let tests: [RecordTest]

  init(_ predicate: RecordPredicate, sorter: QuerySorter) {
    self.predicate = predicate
    self.sorter = sorter
    tests = predicate.conjuncts.compactMap { if case .test(let test) = $0 { test } else { nil } }
    states = tests.reduce(RecordTest.allStates) { states, test in
      switch test {
      case .states(let other): states & other
      case .overdue: states & RecordTest.openStates
      case .completed, .has(.completedAt): states & ~RecordTest.openStates
      default: states
      }
    }
  }

  /// Every task that the query can find, by one path after the other.
  func paths(in tables: Tables) -> [QueryPath] {
    let paths = QueryPaths(tables: tables, order: sorter.order, states: states)
    return [paths.whole] + (paths.ordered.map { [$0] } ?? []) + tests.compactMap(paths.path)
  }

  /// The plan that takes a path.
  func plan(_ path: QueryPath) -> QueryPlan {
    let rest = predicate.conjuncts.filter { conjunct in
      switch conjunct {
      case .constant(true): return false
      // The path has the ranges of all states that are left.
      case .test(.states): return !path.covered.contains(.states(states))
      case .test(let test): return !path.covered.contains(test)
      default: return true
      }
    }
    return QueryPlan(path: path, rest: rest.isEmpty ? nil : .all(rest), sorter: sorter)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The plan that is likely to look at the fewest tasks.
  ///
  /// What an index has is counted by counters, or by walking as far as the best plan so far allows: so choosing costs a
  /// fraction of the query.
  func plan(_ query: ResolvedQuery, limit: Int?) throws -> QueryPlan {
    let total = try tables.tasks.count(in: base)
    var best: (plan: QueryPlan, cost: Int)?
    // Paths in the query's order may end early, and set a low mark for the others.
    for path in query.paths(in: tables).sorted(by: { $0.keyOrder != nil && $1.keyOrder == nil }) {
      let plan = query.plan(path)
      let cost = try cost(of: plan, states: query.states, limit: limit, total: total, below: best?.cost ?? .max)
      if best.map({ cost < $0.cost }) ?? true { best = (plan, cost) }
    }
    return best?.plan ?? query.plan(QueryPaths(tables: tables, order: query.sorter.order, states: query.states).whole)
  }

  /// The cost of a plan, in records of the whole table that could be looked at meanwhile.
  private func cost(
    of plan: QueryPlan, states: UInt8, limit: Int?, total: Int, below mark: Int
  ) throws -> Int {
    if plan.path.isWholeTable { return total }
    let lookup = QueryCost.lookup
    if let limit, limit < total, !plan.isSorted {
      // Without knowing how many tasks pass, one in ten is taken for granted.
      let early = lookup * min(plan.rest == nil ? limit : 10 * limit, total)
      if early < mark { return early }
    }
    if let scope = plan.path.scope, let count = try count(scope, states: states) { return lookup * count }
    let budget = min(min(mark, total) / lookup + 1, QueryCost.mostEntriesProbed)
    if let count = try countEntries(of: plan.path, upTo: budget) { return lookup * count }
    return lookup * (try plan.path.table.count(in: base))
  }

  /// The number of tasks of a scope in some states; `nil` if no counter knows.
  func count(_ scope: CounterScope, states: UInt8) throws -> Int? {
    switch states {
    case RecordTest.openStates: try total(.created, scope) - total(.completed, scope)
    case RecordTest.allStates: try total(.created, scope)
    default: nil
    }
  }

  /// The entries of a path's ranges; `nil` if there are more than a number.
  func countEntries(of path: QueryPath, upTo limit: Int) throws -> Int? {
    var cursor = try path.table.cursor(in: base)
    var count = 0
    for range in path.ranges {
      var isAtEntry = try cursor.move(toFirstAtOrAfter: range.lower)
      while isAtEntry, cursor.keyBytes.precedes(range.upper.bytes) {
        count += 1
        guard count <= limit else { return nil }
        isAtEntry = try cursor.next()
      }
    }
    return count
  }
}

/// What steps of a query cost.
enum QueryCost {
  /// Finding a record by its id, in records that are met one after the other.
  static let lookup = 4
  /// The most entries of an index that are counted before it is taken for large.
  static let mostEntriesProbed = 2_000
}
