import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// An undo restores every byte.
@Suite struct UndoTests {
  /// A change, by a name for messages.
  struct Operation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable (inout StoreWriteTransaction, UndoFixture) throws -> Void
  }

  static let operations: [Operation] = [
    Operation(testDescription: "add") { transaction, _ in try transaction.add("new", to: .today) },
    Operation(testDescription: "add many") { transaction, fixture in
      try transaction.insert(contentsOf: (0..<2_000).map { fixture.newTask($0) })
    },
    Operation(testDescription: "edit") { transaction, fixture in
      try transaction.update(fixture.open) {
        $0.title = "other"
        $0.notes = "more"
        $0.dueDate = nil
      }
    },
    Operation(testDescription: "complete") { transaction, fixture in try transaction.complete(fixture.open) },
    Operation(testDescription: "reopen after a move") { transaction, fixture in
      try transaction.reopen(fixture.completedElsewhere)
    },
    Operation(testDescription: "complete at another time") { transaction, fixture in
      let date = OffsetTimestamp(transaction.now.adding(seconds: -50_000), in: .gmt)
      try transaction.complete(fixture.completedElsewhere, at: date)
    },
    Operation(testDescription: "move beside another") { transaction, fixture in
      try transaction.move(fixture.open, after: fixture.neighbor)
    },
    Operation(testDescription: "moves that renumber neighbours") { transaction, fixture in
      for _ in 0..<60 {
        try transaction.move(fixture.open, before: fixture.neighbor)
        try transaction.move(fixture.neighbor, before: fixture.open)
      }
    },
    Operation(testDescription: "move to a list") { transaction, fixture in
      try transaction.move(fixture.open, toList: fixture.other)
    },
    Operation(testDescription: "delete") { transaction, fixture in try transaction.delete(fixture.open) },
    Operation(testDescription: "delete a completed task") { transaction, fixture in
      try transaction.delete(fixture.completedElsewhere)
    },
    Operation(testDescription: "delete a list with its tasks") { transaction, fixture in
      try transaction.deleteList(fixture.list)
    },
    Operation(testDescription: "create a list and fill it") { transaction, _ in
      let list = try transaction.addList(name: "new")
      try transaction.add("in it", to: .list(list.id))
    },
    Operation(testDescription: "rename, recolour and move a list") { transaction, fixture in
      try transaction.renameList(fixture.list, to: "renamed")
      try transaction.recolorList(fixture.list, to: "112233")
      try transaction.moveList(fixture.list, after: fixture.other)
    },
    Operation(testDescription: "delete and make again under the same id") { transaction, fixture in
      try transaction.delete(fixture.completedElsewhere)
      let draft = TaskDraft(id: fixture.completedElsewhere, title: "again", listID: fixture.list)
      _ = try transaction.add(draft)
      try transaction.complete(fixture.completedElsewhere, at: fixture.completedAt)
    },
  ]

  @Test(arguments: operations)
  func undoOfEachOperationGivesBackEveryByte(operation: Operation) throws {
    try withFixture { store, fixture in
      let before = try (contents(of: store), exportWithoutTimesOfChange(of: store))
      try store.writeAndWait { try operation.body(&$0, fixture) }
      let after = try contents(of: store)
      #expect(after != before.0)
      fixture.clock.now = fixture.clock.now.adding(seconds: 60)
      try store.writeAndWait { try $0.undo() }
      #expect(try contents(of: store) == before.0)
      #expect(try exportWithoutTimesOfChange(of: store) == before.1)
      try checkInvariants(of: store)
      try store.writeAndWait { try $0.redo() }
      #expect(try contents(of: store) == after)
      try checkInvariants(of: store)
      try store.writeAndWait { try $0.undo() }
      #expect(try contents(of: store) == before.0)
    }
  }

  @Test func undoWorksAfterTheStoreWasOpenedAgain() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      var store = try TaskStore(at: path, configuration: .testing())
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      try store.writeAndWait { try $0.complete($0.add("x", to: .list(list.id)).id) }
      let before = try contents(of: store)
      try store.writeAndWait { _ = try $0.deleteList(list.id) }
      try store.close()
      store = try TaskStore(at: path, configuration: .testing())
      let result = try store.writeAndWait { try $0.undo() }
      #expect(result.lists.map(\.id) == [list.id])
      #expect(result.returnedTaskIDs.count == 1)
      #expect(try contents(of: store) == before)
      try checkInvariants(of: store)
      try store.close()
    }
  }

  @Test func anImportIsTakenBackAsAWhole() throws {
    try withFixture { store, fixture in
      try withTemporaryDirectory { directory in
        let file = directory.appending("export.json")
        try store.export(to: file)
        try store.writeAndWait { transaction in
          try transaction.delete(fixture.completedElsewhere)
          try transaction.deleteList(fixture.other)
          try transaction.insert(contentsOf: (0..<100).map { fixture.newTask($0) })
        }
        let before = try contents(of: store)
        try store.importDocument(from: file, options: ImportOptions(overwrites: true))
        #expect(try contents(of: store) != before)
        try store.writeAndWait { try $0.undo() }
        #expect(try contents(of: store) == before)
      }
    }
  }

  @Test func anUndoSetsTheTimeOfChange() throws {
    try withFixture { store, fixture in
      try store.writeAndWait { _ = try $0.complete(fixture.open) }
      fixture.clock.now = fixture.clock.now.adding(seconds: 60)
      let result = try store.writeAndWait { try $0.undo() }
      #expect(result.tasks.map(\.updatedAt) == [fixture.clock.now])
      #expect(try store.read { try $0.task(fixture.open) } == result.tasks.first)
    }
  }

  /// For the user they have not changed, neither then nor now.
  @Test func anUndoLeavesTheTimeOfChangeOfRenumberedTasks() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let (view, ids) = try MovePlace.inbox.fill(store, count: 5, areSortOrdersEqual: true)
      let before = try store.read { try $0.view(view).tasks }
      clock.now = clock.now.adding(seconds: 60)
      try store.writeAndWait { _ = try $0.move(ids[4], before: ids[1]) }
      #expect(try store.read { try $0.view(view).tasks }.allSatisfy { $0.sortOrder != before[0].sortOrder })
      clock.now = clock.now.adding(seconds: 60)
      try store.writeAndWait { try $0.undo() }
      let after = try store.read { try $0.view(view).tasks }
      #expect(after.dropLast() == before.dropLast())
      #expect(after.last?.updatedAt == clock.now)
    }
  }

  private func withFixture(_ body: (TaskStore, UndoFixture) throws -> Void) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      try body(store, try store.writeAndWait { try UndoFixture(in: &$0, clock: clock) })
    }
  }
}

/// Two lists with tasks of every kind.
struct UndoFixture: Sendable {
  let clock: TestClock
  let list: UUID
  let other: UUID
  let open: UUID
  let neighbor: UUID
  /// Completed in one list and moved to the other since.
  let completedElsewhere: UUID
  let completedAt: OffsetTimestamp

  init(in transaction: inout StoreWriteTransaction, clock: TestClock) throws {
    self.clock = clock
    list = try transaction.addList(name: "Home").id
    other = try transaction.addList(name: "Work").id
    let now = transaction.now
    open = try transaction.add(
      TaskDraft(
        title: "a\0b", notes: "with çare", scheduledDate: transaction.today, dueDate: now.adding(seconds: -5),
        reminderDate: now, listID: list)
    ).id
    neighbor = try transaction.add(TaskDraft(title: "neighbour", dueDate: now, listID: list)).id
    completedElsewhere = try transaction.add("done", to: .list(other)).id
    completedAt = try OffsetTimestamp(now.adding(seconds: -86_400), utcOffsetInMinutes: -210)
    try transaction.complete(completedElsewhere, at: completedAt)
    try transaction.move(completedElsewhere, toList: list)
    let gone = try transaction.add("gone", to: .list(list)).id
    try transaction.complete(gone)
    try transaction.delete(gone)
  }

  func newTask(_ number: Int) -> TaskItem {
    TaskItem(
      title: "task \(number)", state: number % 3 == 0 ? .completed : .active, listID: list,
      sortOrder: Int64(number), createdAt: clock.now, completedAt: number % 3 == 0 ? completedAt : nil)
  }
}
