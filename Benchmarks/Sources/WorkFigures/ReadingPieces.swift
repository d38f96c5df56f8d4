import BenchmarkData
import Foundation
import Tally

/// Questions to a store.
func readingPieces() -> [Piece] {
  viewPieces() + [
    .reading("read-one-task", repetitions: 200) { store in
      let id = try store.read { try $0.page(of: .inbox, limit: 1).tasks[0].id }
      guard try store.read({ try $0.task(id) }) != nil else { throw WrongAnswer(description: "no task") }
    },
    .reading("search-word", repetitions: 20) { try expectFound($0, "bicycle") },
    .reading("search-prefix", repetitions: 20) { try expectFound($0, "bicy") },
    .reading("search-two-words", repetitions: 20) { try expectFound($0, "present holidays") },
    .reading("filter-without-index", repetitions: 5) {
      try expectFiltered($0, .title(contains: "bicycle") && .is(.open))
    },
    .reading("filter-by-tag", repetitions: 50) { try expectFiltered($0, .tag(TaskGenerator.tag)) },
    .reading("filter-by-due-day", repetitions: 20) { try expectFiltered($0, .has(.due) && .is(.open)) },
    .reading("count-by-filter", repetitions: 5) { store in
      guard try store.read({ try $0.count(.is(.open)) }) > 0 else { throw WrongAnswer(description: "no open task") }
    },
    .reading("timeline") { store in
      guard try !store.read({ try $0.timeline() }).isEmpty else { throw WrongAnswer(description: "no entry") }
    },
    .reading("agenda", repetitions: 5) { store in _ = try store.read { try $0.agenda() } },
    .reading("reminders", repetitions: 20) { store in
      guard try !store.read({ try $0.pendingReminders(limit: 50) }).isEmpty else {
        throw WrongAnswer(description: "no reminder")
      }
    },
    .reading("tags", repetitions: 100) { store in _ = try store.read { try $0.tags() } },
    .reading("completions-of-year", repetitions: 100) { store in
      let year = try StatisticsPeriods.interval(of: .year)
      _ = try store.read { try $0.completionCount(in: year) }
    },
    .reading("statistics", repetitions: 2) { store in
      guard try store.read({ try $0.statistics() }).completed.allTime > 0 else {
        throw WrongAnswer(description: "nothing was completed")
      }
    },
    .reading("verify", samples: 15) { store in _ = try store.verify() },
  ]
}

private func viewPieces() -> [Piece] {
  [
    .view("view-inbox", .inbox, TaskGenerator.inboxNumbers.count),
    .view("view-today", .today, TaskGenerator.todayNumbers.count),
    .view("view-upcoming", .upcoming, TaskGenerator.upcomingNumbers.count),
    .view("view-overdue", .overdue, TaskGenerator.overdueNumbers.count),
    .view("view-all", .all, 1_000),
    .reading("view-list-of-500", repetitions: 2) { store in
      let count = try store.read { try $0.view(.list($0.lists()[0].id)).tasks.count }
      try expectEqual(count, TaskGenerator.projectNumbers.count, "tasks of a list")
    },
    .reading("view-completed", repetitions: 2) { store in _ = try store.read { try $0.view(.completed(nil)) } },
  ]
}

extension Piece {
  fileprivate static func view(_ name: String, _ view: TaskView, _ count: Int) -> Piece {
    reading(name, repetitions: max(1, 1_000 / count)) { store in
      try expectEqual(try store.read { try $0.view(view).tasks.count }, count, "tasks of \(name)")
    }
  }
}

private func expectFound(_ store: TaskStore, _ words: String) throws {
  let found = try store.search(SearchQuery(words), limit: 20)
  guard !found.isEmpty else { throw WrongAnswer(description: "nothing is found by \(words)") }
}

private func expectFiltered(_ store: TaskStore, _ filter: TaskFilter) throws {
  let found = try store.read { try $0.tasks(TaskQuery(filter, by: .place, limit: 50)).tasks }
  guard !found.isEmpty else { throw WrongAnswer(description: "the filter finds nothing") }
}
