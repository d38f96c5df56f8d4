import Foundation

/// Whose events statistics count: those of a scope that has counters, or those of the tasks that pass a test.
struct EventSelection {
  /// The scope of the counters; `all` where none has the events.
  let scope: CounterScope
  /// What a task must pass where no counter has the events; `nil` where one does.
  let predicate: RecordPredicate?

  /// Selects what a filter finds in a list, or in all of them.
  init(_ filter: RecordPredicate, listID: UUID?) {
    var conditions = filter.conjuncts.filter { $0 != .constant(true) }
    if let listID, !conditions.contains(.test(.lists([listID]))) { conditions.append(.test(.lists([listID]))) }
    let scope: CounterScope? =
      switch conditions.first {
      case nil: .all
      case .test(let test) where conditions.count == 1: CounterScope(test)
      default: nil
      }
    self.scope = scope ?? .all
    predicate = scope == nil ? .all(conditions) : nil
  }
}

extension CounterScope {
  /// The scope of the tasks that pass a test; `nil` if there is none.
  fileprivate init?(_ test: RecordTest) {
    switch test {
    case .noList: self = .noList
    case .tag(let tag): self = .tag(tag.id)
    case .lists(let ids):
      guard let id = ids.first, ids.count == 1 else { return nil }
      self = .list(id)
    case .priority(let comparison, let priority):
      let priorities = Priority.allCases.filter { comparison.holds($0, priority) }
      guard let only = priorities.first, priorities.count == 1, only != .none else { return nil }
      self = .priority(only)
    default: return nil
    }
  }
}

extension RecordPredicate {
  /// Whether the ledger of completions has everything that is asked for.
  var isOfLedger: Bool {
    switch self {
    case .constant: true
    case .test(let test): test.isOfLedger
    case .not(let operand): operand.isOfLedger
    case .all(let operands), .any(let operands): operands.allSatisfy(\.isOfLedger)
    }
  }
}

extension RecordTest {
  fileprivate var isOfLedger: Bool {
    switch self {
    case .states, .lists, .noList, .tag, .priority, .created, .completed: true
    case .has(let field): [.listID, .tags, .priority, .completedAt].contains(field)
    default: false
    }
  }
}
