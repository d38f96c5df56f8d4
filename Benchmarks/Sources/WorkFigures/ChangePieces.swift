import BenchmarkData
import Foundation
import Tally

/// Changes that are on the disk when the call returns.
func changePieces() -> [Piece] { taskPieces() + groupPieces() }

/// Changes of one task.
private func taskPieces() -> [Piece] {
  [
    .writing("create") { store, number in
      try store.writeAndWait { _ = try $0.add("Water the plants \(number)", to: .today) }
    },
    .writing("create-with-tags") { store, number in
      try store.writeAndWait { transaction in
        _ = try transaction.add("Water the plants \(number)", to: .inbox) { task in
          task.tags = ["home", "garden", "weekly"]
          task.priority = .high
          task.dueDate = TaskGenerator.now.adding(seconds: 3_600)
        }
      }
    },
    .writing("create-hundred-at-once", samples: 15) { store, number in
      try store.writeAndWait { transaction in
        for place in 0..<100 { _ = try transaction.add("Task \(number).\(place)", to: .inbox) }
      }
    },
    .onTasks("edit-title") { transaction, id in
      _ = try transaction.update(id) { $0.title = "Another title of the task" }
    },
    .onTasks("edit-tags") { transaction, id in _ = try transaction.update(id) { $0.tags = ["work", "later"] } },
    .onTasks("edit-nothing") { transaction, id in _ = try transaction.update(id) { _ in } },
    .onTasks("complete") { transaction, id in _ = try transaction.complete(id) },
    .onTasks("advance-state") { transaction, id in _ = try transaction.advanceState(of: id) },
    .onTasks("delete") { transaction, id in _ = try transaction.delete(id) },
    .onTasks("schedule") { transaction, id in _ = try transaction.schedule(id, on: TaskGenerator.today) },
    .onTasks("move-to-list") { transaction, id in _ = try transaction.move(id, toList: transaction.lists()[1].id) },
  ]
}

/// Changes of several tasks, of lists, tags and the history.
private func groupPieces() -> [Piece] {
  [
    .prepared("move-to-front", { try $0.read { try $0.view(.inbox).tasks.map(\.id) } }) { store, ids, number in
      // The last one goes to the front, again and again.
      let count = ids.count
      let (moved, first) = (ids[count - 1 - number % count], ids[(count - number % count) % count])
      _ = try store.writeAndWait { try $0.move(moved, before: first) }
    },
    .prepared("delete-list", samples: 15, { try makeLists(20, in: $0) }) { store, lists, number in
      try expectEqual(try store.writeAndWait { try $0.deleteList(lists[number]) }, 50, "tasks of the deleted list")
    },
    .prepared("rename-list", { try $0.read { try $0.lists()[0].id } }) { store, id, number in
      _ = try store.writeAndWait { try $0.renameList(id, to: "Name \(number)") }
    },
    .prepared("rename-tag", samples: 15, { _ in }) { store, _, number in
      let (old, new) = number == 0 ? (TaskGenerator.tag, "home-0") : ("home-\(number - 1)", "home-\(number)")
      try expectEqual(try store.writeAndWait { try $0.renameTag(old, to: new).count }, 10, "tasks with the tag")
    },
    .prepared("undo-create", samples: 30, { try addTasks(45, to: $0) }) { store, _, _ in
      _ = try store.writeAndWait { try $0.undo() }
    },
    .prepared(
      "undo-list-deletion", samples: 15,
      { store in
        for list in try makeLists(20, in: store) { _ = try store.writeAndWait { try $0.deleteList(list) } }
      }
    ) { store, _, _ in
      _ = try store.writeAndWait { try $0.undo() }
    },
    .prepared(
      "redo-create", samples: 30,
      { store in
        _ = try addTasks(45, to: store)
        for _ in 0..<45 { _ = try store.writeAndWait { try $0.undo() } }
      }
    ) { store, _, _ in
      _ = try store.writeAndWait { try $0.redo() }
    },
    .prepared("dismiss-reminder", { try $0.read { try $0.pendingReminders().map(\.id) } }) { store, ids, number in
      _ = try store.writeAndWait { try $0.dismissReminder(of: ids[number % ids.count]) }
    },
    .writing("save-filter") { store, number in
      _ = try store.writeAndWait { try $0.saveFilter(.title(contains: "word \(number)"), as: "filter \(number % 5)") }
    },
    .prepared("complete-recurring", samples: 30, { try addRecurringTasks(45, to: $0) }) { store, ids, number in
      _ = try store.writeAndWait { try $0.complete(ids[number]) }
    },
  ]
}

extension Piece {
  /// A change of one task, another one of the list of 500 each time.
  fileprivate static func onTasks(
    _ name: String, _ change: @escaping (inout StoreWriteTransaction, UUID) throws -> Void
  ) -> Piece {
    prepared(name, { try openTasks(in: $0) }) { store, ids, number in
      try store.writeAndWait { try change(&$0, ids[number % ids.count]) }
    }
  }
}

private func openTasks(in store: TaskStore) throws -> [UUID] {
  try store.read { try $0.view(.list($0.lists()[0].id)).tasks.filter { $0.state == .notStarted }.map(\.id) }
}

private func addTasks(_ count: Int, to store: TaskStore) throws -> [UUID] {
  try (0..<count).map { number in try store.writeAndWait { try $0.add("Task \(number)", to: .inbox).id } }
}

private func addRecurringTasks(_ count: Int, to store: TaskStore) throws -> [UUID] {
  let calendar = DataSet.configuration().calendar
  let entry = QuickEntry.parse("Water the plants every day", calendar: calendar, now: TaskGenerator.now)
  return try store.writeAndWait { transaction in try (0..<count).map { _ in try transaction.add(entry).id } }
}

/// Lists of 50 tasks each.
private func makeLists(_ count: Int, in store: TaskStore) throws -> [UUID] {
  try (0..<count).map { number in
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "New list \(number)")
      for place in 0..<50 { _ = try transaction.add("Task \(number).\(place)", to: .list(list.id)) }
      return list.id
    }
  }
}
