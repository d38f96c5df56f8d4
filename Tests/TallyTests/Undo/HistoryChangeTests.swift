import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// What the history says of each write.
@Suite struct HistoryChangeTests {
  @Test func aWriteIsNamedWithWhatItChangedFieldByField() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      let edit = try store.writeAndWait { transaction in
        try transaction.setActionName("edit")
        try transaction.update(task.id) { draft in
          draft.title = "b"
          draft.priority = .high
        }
        return try transaction.changeID
      }
      let newest = try #require(try store.read { try $0.history(limit: 1) }.first)
      #expect(newest.id == edit)
      #expect(newest.actionName == "edit")
      #expect(newest.kind == .change)
      let difference = try #require(newest.tasks.first)
      #expect(difference.before?.title == "a")
      #expect(difference.after?.title == "b")
      #expect(difference.changedFields == [.text, .priority])
      #expect(try store.read { try $0.history() }.map(\.actionName) == ["edit", nil])
    }
  }

  @Test func anUndoneWriteSaysSoUntilItIsRedone() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      try store.writeAndWait { try $0.complete(task.id) }
      let completion = try #require(try store.read { try $0.history().first?.id })
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.history() }.map(\.kind) == [.undo, .change, .change])
      #expect(try store.read { try $0.history() }.map(\.isUndone) == [false, true, false])
      #expect(try store.read { try $0.history().first?.target } == completion)
      try store.writeAndWait { try $0.redo() }
      #expect(try store.read { try $0.history() }.map(\.isUndone) == [false, true, false, false])
    }
  }

  @Test func theLibrarysOwnValuesAreNotAmongTheChanged() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      try store.writeAndWait { try $0.setValue(1, forKey: "a", in: "app") }
      try store.writeAndWait { try $0.deleteList(list.id) }
      let changes = try store.read { try $0.history(limit: 2) }
      #expect(changes.map { $0.values.map(\.namespace) } == [[], ["app"]])
      #expect(changes.first?.lists.map(\.before?.name) == ["Home"])
    }
  }

  @Test func aDeletedTaskHasAHistory() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      try store.writeAndWait { _ = try $0.add("b", to: .inbox) }
      try store.writeAndWait { try $0.delete(task.id) }
      let changes = try store.read { try $0.history(of: task.id) }
      #expect(changes.map { $0.tasks.map { [$0.before?.title, $0.after?.title] } } == [[["a", nil]], [[nil, "a"]]])
    }
  }

  @Test func neighboursThatAreRenumberedAreNotAmongTheChanged() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let ids = try store.writeAndWait { transaction in
        try ["a", "b", "c"].map { try transaction.add($0, to: .inbox).id }
      }
      clock.now = clock.now.adding(seconds: 1)
      try store.writeAndWait { transaction in
        for _ in 0..<60 {
          try transaction.move(ids[0], before: ids[2])
          try transaction.move(ids[1], before: ids[2])
        }
        try transaction.move(ids[1], before: ids[0])
      }
      let changed = try #require(try store.read { try $0.history(limit: 1) }.first).tasks.compactMap(\.task?.id)
      #expect(Set(changed) == Set(ids[..<2]))
      #expect(try store.read { try $0.history(of: ids[2]) }.count == 1, "it was only added")
      #expect(try store.read { try $0.history(of: ids[1]) }.count == 2)
    }
  }

  @Test func aMoveInTheSameMicrosecondIsInTheHistory() throws {
    try withStore(.testing(clock: .noon)) { store in
      let ids = try store.writeAndWait { transaction in try ["a", "b"].map { try transaction.add($0, to: .inbox).id } }
      try store.writeAndWait { _ = try $0.move(ids[1], before: ids[0]) }
      let change = try #require(try store.read { try $0.history(limit: 1) }.first)
      #expect(change.tasks.map(\.task?.id) == [ids[1]])
      #expect(change.tasks.first?.changedFields == [.sortOrder])
    }
  }

  @Test func listsFiltersAndValuesAreAmongTheChanges() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        _ = try transaction.addList(name: "Work")
        try transaction.saveFilter(.is(.open), as: "Open")
        try transaction.setValue("dark", forKey: "theme", in: "app")
      }
      let change = try #require(try store.read { try $0.history() }.first)
      #expect(change.lists.map(\.after?.name) == ["Work"])
      #expect(change.savedFilters.map(\.after?.name) == ["Open"])
      #expect(change.values.count == 1)
    }
  }

  @Test func eachOfSeveralWritesInOneCommitHasItsOwnName() async throws {
    try await withStore { store in
      await withTaskGroup(of: Void.self) { group in
        for name in ["a", nil, "c", nil, "e"] {
          group.addTask {
            _ = try? await store.write { transaction in
              try transaction.setActionName(name)
              _ = try transaction.add(name ?? "unnamed", to: .inbox)
            }
          }
        }
      }
      for change in try store.read({ try $0.history() }) {
        #expect(change.actionName ?? "unnamed" == change.tasks.first?.after?.title)
      }
    }
  }

  @Test func aNameThatDoesNotFitIsRefused() throws {
    try withStore { store in
      expect(.valueOutOfRange) {
        try store.writeAndWait { try $0.setActionName(String(repeating: "é", count: 128)) }
      }
      try store.writeAndWait { transaction in
        try transaction.setActionName(String(repeating: "é", count: 127))
        _ = try transaction.add("a", to: .inbox)
      }
      #expect(try store.read { try $0.history().first?.actionName?.count } == 127)
      try checkInvariants(of: store)
    }
  }

  @Test func theDifferencesOfRandomWritesAreThoseOfTheirStates() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "HistoryChangeTests"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      var model = TaskModel()
      var states: [ChangeID: [UUID: [TaskItem?]]] = [:]
      var before = try tasks(of: store)
      for number in 0..<200 {
        clock.now = clock.now.adding(seconds: 1)
        let calendar = store.configuration.calendar
        let change = RandomChange.next(in: model, now: clock.now, calendar: calendar, using: &generator)
        let isUndo = number % 7 == 3
        if !isUndo { _ = model.apply(change, now: clock.now, timeZone: calendar.timeZone) }
        try? store.writeAndWait { transaction in
          if isUndo { try transaction.undo() } else { try change.apply(to: &transaction) }
        }
        let after = try tasks(of: store)
        if isUndo { model.tasks = after }
        let changed = Set(before.keys).union(after.keys).filter { differ(before[$0], after[$0]) }
        if !changed.isEmpty, let id = try store.read({ try $0.historyEntries().first?.id }) {
          states[id] = Dictionary(uniqueKeysWithValues: changed.map { ($0, [before[$0], after[$0]]) })
        }
        before = after
      }
      let changes = try store.read { try $0.history() }.filter { !$0.tasks.isEmpty }
      #expect(Set(changes.map(\.id)) == Set(states.keys))
      for change in changes {
        let found = Dictionary(
          uniqueKeysWithValues: change.tasks.compactMap { item in item.task.map { ($0.id, [item.before, item.after]) } }
        )
        #expect(found == states[change.id])
        #expect(try store.read { try $0.historyChange(change.id)?.tasks.count } == change.tasks.count)
      }
      try checkInvariants(of: store)
    }
  }

  /// Renumbering neighbours is not a change.
  private func differ(_ before: TaskItem?, _ after: TaskItem?) -> Bool {
    guard var before, let after else { return before != nil || after != nil }
    before.sortOrder = after.sortOrder
    return before != after
  }

  private func tasks(of store: TaskStore) throws -> [UUID: TaskItem] {
    let all = try store.read { try $0.view(.all).tasks }
    return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
  }
}
