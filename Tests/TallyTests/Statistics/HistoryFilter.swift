@testable import Tally

/// A filter, what it means for a life of a task, and how statistics of it are counted.
struct HistoryFilter {
  let filter: TaskFilter
  let path: Statistics.Path
  let holds: @Sendable (HistoryModel.Life) -> Bool

  static let none = HistoryFilter(filter: .all, path: .counters) { _ in true }

  static let all: [HistoryFilter] = [
    none,
    HistoryFilter(filter: .tag("HOME"), path: .counters) { $0.classification.tags.contains("home") },
    HistoryFilter(filter: .priority(.high), path: .counters) { $0.classification.priority == .high },
    HistoryFilter(filter: .list(nil), path: .counters) { $0.listID == nil },
    HistoryFilter(filter: .priority(.none), path: .ledger) { $0.classification.priority == .none },
    HistoryFilter(filter: .priority(atLeast: .medium), path: .ledger) { $0.classification.priority >= .medium },
    HistoryFilter(filter: .tag("straße") && !.priority(.low), path: .ledger) { life in
      life.classification.tags.contains("Straße") && life.classification.priority != .low
    },
    HistoryFilter(filter: !.tag("garden"), path: .ledger) { !$0.classification.tags.contains("garden") },
    HistoryFilter(filter: .is(.open), path: .ledger) { $0.closedInstant == nil },
    HistoryFilter(filter: .is(.cancelled) || .tag("home"), path: .ledger) { life in
      life.task?.state == .cancelled || life.classification.tags.contains("home")
    },
    // Nobody knows whether a deleted task was due: it was not.
    HistoryFilter(filter: .has(.due), path: .ledger) { $0.task?.dueDate != nil },
    HistoryFilter(filter: !.has(.due) || .tag("home"), path: .ledger) { life in
      life.task?.dueDate == nil || life.classification.tags.contains("home")
    },
  ]
}
