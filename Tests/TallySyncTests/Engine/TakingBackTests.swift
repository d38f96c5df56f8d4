import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Taking back a deletion changes only whether the object exists; what was undone before it was sent leaves no trace.
struct TakingBackTests {
  /// The ways of taking back a deletion.
  enum Way: CaseIterable {
    case restoring, undoing, undoingLater, redoing, importing
  }

  /// One device edits a task; the other, unaware of that, deletes it, receives the edits, and takes the deletion back.
  @Test(arguments: Way.allCases) func aTaskComesBackAsOthersHaveLeftIt(_ way: Way) async throws {
    try await withFolderSpace { space in
      let list = try await space.stores[0].write { try $0.addList(name: "Home").id }
      let id = try await space.stores[0].write { transaction in
        try transaction.add("title", to: .inbox) { ($0.notes, $0.tags, $0.priority) = ("notes", ["a"], .high) }.id
      }
      try await space.synchronizeAll()
      let file = space.directory.appending("export.json")
      _ = try space.stores[0].export(to: file)
      try await space.stores[1].write { transaction in
        _ = try transaction.update(id) { task in
          (task.notes, task.tags, task.dueDay) = ("edited", ["a", "b"], CalendarDay(clamping: 20_500))
          (task.listID, task.attributes["x"]) = (list, .integer(5))
        }
      }
      space.clock.now = space.clock.now.adding(seconds: 60)
      if way == .redoing {
        // Its creation is undone, and redone later.
        try await space.stores[0].write { _ = try $0.undo() }
      } else {
        try await space.stores[0].write { _ = try $0.delete(id) }
      }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(id) == nil } })
      #expect(try await space.stores[0].write { try $0.deletedTask(id) }?.notes == "edited")
      space.clock.now = space.clock.now.adding(seconds: 60)
      switch way {
      case .restoring: try await space.sync(0).restore([id])
      case .undoing: try await space.stores[0].write { _ = try $0.undo() }
      case .undoingLater:
        try await space.stores[0].write { _ = try $0.add("another", to: .inbox) }
        try await space.synchronizeAll()
        try await space.stores[0].write { transaction in
          _ = try transaction.undo()
          _ = try transaction.undo()
        }
      case .redoing: try await space.stores[0].write { _ = try $0.redo() }
      case .importing: _ = try space.stores[0].importDocument(from: file, options: ImportOptions(overwrites: true))
      }
      if way != .importing {
        // At once, not only after the next exchange.
        #expect(try space.stores[0].read { try $0.task(id) }?.notes == "edited")
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      let task = try #require(try space.stores[1].read { try $0.task(id) })
      guard way != .importing else { return #expect(task.title == "title" && task.priority == .high) }
      #expect(task.title == "title" && task.notes == "edited" && task.tags == ["a", "b"] && task.listID == list)
      #expect(task.dueDay == CalendarDay(clamping: 20_500) && task.priority == .high)
      #expect(task.attributes["x"] == .integer(5))
    }
  }

  /// Undoing earlier writes undoes only those of this device, and redoing deletes again.
  @Test func whatOthersWroteStaysWhenEarlierWritesAreUndone() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("title", to: .inbox) { $0.notes = "notes" }.id }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "own" } }
      try await space.stores[1].write { _ = try $0.update(id) { $0.notes = "edited" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.delete(id) }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.stores[0].write { _ = try $0.redo() }
      #expect(try space.stores[0].read { try $0.task(id) } == nil)
      try await space.stores[0].write { transaction in
        _ = try transaction.undo()
        _ = try transaction.undo()
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      let task = try #require(try space.stores[1].read { try $0.task(id) })
      #expect(task.title == "title" && task.notes == "edited")
      // Changes of others to a deleted task add no entry to its history.
      let changes = try space.stores[0].read { try $0.history(of: id) }
      #expect(changes.allSatisfy { $0.tasks.count == 1 })
    }
  }

  /// A list with its tasks and their sub-tasks, in one undo.
  @Test(arguments: [false, true]) func aTreeComesBackAsOthersHaveLeftIt(_ isRestored: Bool) async throws {
    try await withFolderSpace { space in
      let (list, other, ids) = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home").id
        let parent = try transaction.add("parent", to: .list(list)).id
        let child = try transaction.add("child", to: .list(list)) { $0.parentID = parent }.id
        let moved = try transaction.add("moved", to: .list(list)) { $0.parentID = parent }.id
        let rest = try (0..<40).map { try transaction.add("task \($0)", to: .list(list)).id }
        return (list, try transaction.addList(name: "Other").id, [parent, child, moved] + rest)
      }
      try await space.synchronizeAll()
      let added = try await space.stores[1].write { transaction in
        _ = try transaction.renameList(list, to: "House")
        for id in ids { _ = try transaction.update(id) { $0.notes = "edited" } }
        _ = try transaction.update(ids[2]) { ($0.parentID, $0.listID) = (nil, other) }
        _ = try transaction.complete(ids[4])
        return try transaction.add("added", to: .list(list)) { $0.parentID = ids[0] }.id
      }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.deleteList(list) }
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(added) }?.listID == nil)
      space.clock.now = space.clock.now.adding(seconds: 60)
      if isRestored {
        try await space.sync(0).restore(space.sync(0).trash().map(\.id))
      } else {
        try await space.stores[0].write { _ = try $0.undo() }
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        #expect(try store.read { try $0.list(list) }?.name == "House")
        let tasks = try store.read { transaction in try ids.compactMap { try transaction.task($0) } }
        #expect(tasks.count == ids.count && tasks.allSatisfy { $0.notes == "edited" })
        #expect(tasks[1].parentID == ids[0] && tasks[2].parentID == nil && tasks[2].listID == other)
        #expect(tasks[4].isCompleted)
        #expect(try store.read { try $0.task(added) }?.parentID == ids[0])
      }
    }
  }

  /// The list was deleted elsewhere meanwhile: the task is in the inbox, and goes back with its list.
  @Test func aTaskComesBackWithoutItsList() async throws {
    try await withFolderSpace { space in
      let list = try await space.stores[0].write { try $0.addList(name: "Home").id }
      let id = try await space.stores[0].write { try $0.add("one", to: .list(list)).id }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.delete(id) }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.deleteList(list) }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(id).map { $0.listID == nil } ?? false } })
      try await space.stores[1].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(id)?.listID == list } })
      try await space.expectEqualStores()
    }
  }

  @Test func aCompletionThatWasPurgedStaysPurged() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.stores[0].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.update(id) { $0.notes = "edited" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.delete(id) }
      try await space.stores[0].write { _ = try $0.purgeCompletions(before: .latest) }
      try await space.synchronizeAll()
      try await space.sync(0).restore([id])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      let task = try #require(try space.stores[1].read { try $0.task(id) })
      #expect(task.notes == "edited" && !task.isCompleted)
    }
  }

  @Test func aFilterComesBackAsOthersHaveSavedIt() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.saveFilter(TaskFilter(text: "tag:a"), as: "one") }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.saveFilter(TaskFilter(text: "tag:b"), as: "one") }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { try $0.deleteFilter(named: "one") }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.savedFilters() }.isEmpty)
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.savedFilters().map(\.text) } == ["#b"]) }
      try await space.expectEqualStores()
    }
  }

  // MARK: - Before anything was sent

  /// What one device does and undoes, and what the other one writes before that.
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let act: @Sendable (inout StoreWriteTransaction, UUID, UUID) throws -> Void
    let other: @Sendable (inout StoreWriteTransaction, UUID, UUID) throws -> Void
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "title") { transaction, id, _ in
      _ = try transaction.update(id) { $0.title = "undone" }
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { $0.title = "real" }
    },
    Case(name: "notes and due") { transaction, id, _ in
      _ = try transaction.update(id) { ($0.notes, $0.dueDay) = ("undone", CalendarDay(clamping: 1)) }
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { ($0.notes, $0.dueDay) = ("real", CalendarDay(clamping: 2)) }
    },
    Case(name: "deletion") { transaction, id, _ in
      _ = try transaction.delete(id)
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { ($0.title, $0.notes, $0.priority) = ("real", nil, .high) }
    },
    Case(name: "attribute") { transaction, id, _ in
      _ = try transaction.update(id) { $0.attributes["x"] = .integer(1) }
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { $0.attributes["x"] = .integer(2) }
    },
    Case(name: "tag") { transaction, id, _ in
      _ = try transaction.update(id) { $0.tags = [] }
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { $0.tags = ["a", "b"] }
    },
    Case(name: "move") { transaction, id, list in
      _ = try transaction.move(id, toList: list)
    } other: { transaction, id, _ in
      let other = try transaction.addList(name: "real").id
      _ = try transaction.move(id, toList: other)
    },
    Case(name: "completion") { transaction, id, _ in
      _ = try transaction.complete(id)
    } other: { transaction, id, _ in
      _ = try transaction.update(id) { $0.state = .active }
    },
    Case(name: "list") { transaction, _, list in
      _ = try transaction.renameList(list, to: "undone")
    } other: { transaction, _, list in
      _ = try transaction.renameList(list, to: "real")
    },
    Case(name: "list's deletion") { transaction, _, list in
      _ = try transaction.deleteList(list)
    } other: { transaction, _, list in
      _ = try transaction.recolorList(list, to: "112233")
    },
    Case(name: "filter") { transaction, _, _ in
      _ = try transaction.saveFilter(TaskFilter(text: "tag:undone"), as: "one")
    } other: { transaction, _, _ in
      _ = try transaction.saveFilter(TaskFilter(text: "tag:real"), as: "one")
    },
    Case(name: "filter's deletion") { transaction, _, _ in
      try transaction.deleteFilter(named: "one")
    } other: { transaction, _, _ in
      _ = try transaction.saveFilter(TaskFilter(text: "tag:real"), as: "one")
    },
  ]

  /// A device that undoes is as if it had done nothing, even after reopening the store, or after redoing and undoing again.
  @Test(arguments: cases) func whatWasUndoneBeforeItWasSentHasNeverBeen(_ act: Case) async throws {
    for variant in 0..<4 {
      try await withFolderSpace { space in
        let (id, list) = try await space.stores[0].write { transaction in
          let list = try transaction.addList(name: "Home").id
          _ = try transaction.saveFilter(TaskFilter(text: "tag:old"), as: "one")
          return (
            try transaction.add("old", to: .inbox) { ($0.notes, $0.tags) = ("old", ["a"]) }.id, list
          )
        }
        try await space.synchronizeAll()
        space.clock.now = space.clock.now.adding(seconds: 60)
        try await space.stores[1].write { try act.other(&$0, id, list) }
        space.clock.now = space.clock.now.adding(seconds: 60)
        let expected = try TakingBackTests.contents(of: space.stores[1])
        if variant == 1 { try await space.stores[0].write { _ = try $0.add("between", to: .inbox) } }
        try await space.stores[0].write { try act.act(&$0, id, list) }
        if variant == 2 {
          try space.stores[0].close()
          space.replace(0, with: try space.open("store-0"))
        }
        try await space.stores[0].write { _ = try $0.undo() }
        if variant == 3 {
          try await space.stores[0].write { _ = try $0.redo() }
          try await space.stores[0].write { _ = try $0.undo() }
        }
        try await space.synchronizeAll()
        try await space.expectEqualStores()
        #expect(
          try TakingBackTests.contents(of: space.stores[0]).filter { !$0.contains("between") } == expected,
          "\(act.name), variant \(variant)")
        for number in 0...1 { #expect(try await space.sync(number).conflicts().isEmpty) }
      }
    }
  }

  private static func contents(of store: TaskStore) throws -> [String] {
    try store.read { transaction in
      let tasks = try transaction.view(.all).tasks.map {
        "\($0.title) \($0.notes ?? "") \($0.state) \($0.tags) \($0.attributes) \($0.priority) \($0.listID.map { "\($0)" } ?? "") \($0.dueDay.map { "\($0)" } ?? "")"
      }
      return tasks.sorted() + (try transaction.lists().map { "\($0.name) \($0.colorHex)" }.sorted())
        + (try transaction.savedFilters().map(\.text))
    }
  }

  /// If the later of two edits is undone, the earlier one keeps its own time.
  @Test func theEarlierOfTwoEditsKeepsItsTime() async throws {
    for isLater in [false, true] {
      try await withFolderSpace { space in
        let id = try await space.stores[0].write { try $0.add("old", to: .inbox).id }
        try await space.synchronizeAll()
        func edit(_ store: Int, _ title: String) async throws {
          space.clock.now = space.clock.now.adding(seconds: 60)
          try await space.stores[store].write { _ = try $0.update(id) { $0.title = title } }
        }
        if isLater { try await edit(1, "real") }
        try await edit(0, "first")
        if !isLater { try await edit(1, "real") }
        try await edit(0, "second")
        try await space.stores[0].write { _ = try $0.undo() }
        try await space.synchronizeAll()
        #expect(try space.stores[0].read { try $0.task(id) }?.title == (isLater ? "first" : "real"))
        try await space.expectEqualStores()
      }
    }
  }

  /// If a task is restored and edited, and the edit undone, only its return was written.
  @Test func anUndoneEditOfARestoredTaskIsNothing() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox) { $0.notes = "old" }.id }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.update(id) { ($0.title, $0.notes) = ("real", "real") } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.delete(id) }
      try await space.sync(0).restore([id])
      try await space.stores[0].write { _ = try $0.update(id) { $0.notes = "undone" } }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      let task = try #require(try space.stores[0].read { try $0.task(id) })
      #expect(task.title == "real" && task.notes == "real")
      try await space.expectEqualStores()
    }
  }

  /// A redo counts, and so does an undo of what was already sent.
  @Test(arguments: [false, true]) func whatIsRedoneOrUndoneLaterCounts(_ isSent: Bool) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("old", to: .inbox).id }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "edited" } }
      if isSent { try await space.synchronizeAll() }
      try await space.stores[0].write { _ = try $0.undo() }
      if !isSent { try await space.stores[0].write { _ = try $0.redo() } }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(id) }?.title == (isSent ? "old" : "edited"))
      try await space.expectEqualStores()
    }
  }

  /// An exchange between an undo and a redo: what is redone is sent.
  @Test func whatIsRedoneAfterAnExchangeIsSent() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("old", to: .inbox).id }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "edited" } }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.stores[1].write { _ = try $0.add("another", to: .inbox) }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.redo() }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(id) }?.title == "edited")
      try await space.expectEqualStores()
    }
  }

  /// A creation that was undone before it was sent is not sent; after a redo it is.
  @Test func anUndoneCreationIsNothing() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox) { $0.notes = "notes" }.id }
      try await space.stores[0].write { _ = try $0.undo() }
      #expect(try await space.sync(0).status().pending == 0)
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.redo() }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(id) }?.notes == "notes")
      try await space.expectEqualStores()
    }
  }
}

/// What was created, undone and redone any number of times before an exchange.
struct RepeatedlyUndoneTests {
  @Test(arguments: 1...5, ["task", "list", "filter"]) func onlyTheLastStateIsSent(
    reversals: Int, kind: String
  ) async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      try await space.stores[0].write { transaction in
        switch kind {
        case "task": try transaction.add("one", to: .inbox) { $0.notes = "notes" }
        case "list": _ = try transaction.addList(name: "one")
        default: _ = try transaction.saveFilter(TaskFilter(text: "is:open"), as: "one")
        }
      }
      for number in 0..<reversals {
        space.clock.now = space.clock.now.adding(seconds: 1)
        try await space.stores[0].write { _ = try number.isMultiple(of: 2) ? $0.undo() : $0.redo() }
      }
      try await space.synchronizeAll()
      let isThere = reversals.isMultiple(of: 2)
      for store in space.stores {
        let count = try store.read {
          try $0.view(.all).tasks.filter { $0.notes == "notes" }.count + $0.lists().count + $0.savedFilters().count
        }
        #expect(count == (isThere ? 1 : 0))
      }
      try await space.expectEqualStores()
    }
  }
}

/// What was created and deleted before an exchange, and restored after it.
struct RestoredCreationTests {
  @Test(arguments: [false, true], [false, true]) func aTaskThatWasNeverSentComesBackWhole(
    isEdited: Bool, isSentAlone: Bool
  ) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("written", to: .inbox) { $0.notes = "notes" }.id
      }
      try await space.stores[0].write { _ = try $0.delete(id) }
      if isSentAlone { try await space.sync(0).synchronize() } else { try await space.synchronizeAll() }
      try await space.sync(0).restore([id])
      if isEdited {
        try await space.stores[0].write { _ = try $0.update(id) { $0.attributes["a"] = .integer(1) } }
        try await space.stores[0].write { _ = try $0.undo() }
      }
      try await space.synchronizeAll()
      for store in space.stores {
        let task = try store.read { try $0.task(id) }
        #expect(task?.title == "written" && task?.notes == "notes" && task?.attributes.isEmpty == true)
      }
      try await space.expectEqualStores()
    }
  }
}
