import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Tasks and lists written exactly as given.
@Suite struct PutTests {
  @Test func aTaskAndAListAreStoredExactlyAsGiven() throws {
    try withStore { store in
      let (created, updated) = (TestClock.noon.now.adding(seconds: -5_000), TestClock.noon.now.adding(seconds: -4_000))
      let list = TaskList(
        id: UUID(), name: "Old", colorHex: "a0b1c2", sortOrder: -7, createdAt: created, updatedAt: updated)
      var task = TaskItem(id: UUID(), title: "Old", createdAt: created)
      task.updatedAt = updated
      task.sortOrder = 42
      task.listID = list.id
      task.state = .completed
      task.completedAt = OffsetTimestamp(created.adding(seconds: 10), in: .gmt)
      let stored = task
      try store.writeAndWait { (transaction) throws in
        #expect(try transaction.put(list))
        #expect(try transaction.put(stored))
        #expect(try !transaction.put(stored))
        #expect(try !transaction.put(list))
      }
      #expect(try store.read { try $0.task(stored.id) } == stored)
      #expect(try store.read { try $0.list(list.id) } == list.normalized)
      #expect(try store.read { try $0.statistics().completed.allTime } == 1)
    }
  }

  @Test func puttingReplacesAndIsUndone() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let task = try store.writeAndWait { try $0.complete(try $0.add("x", to: .list(list.id)).id) }
      let before = try contents(of: store)
      var (open, renamed) = (task, list)
      (open.state, open.completedAt, open.title, open.listID) = (.notStarted, nil, "y", nil)
      renamed.name = "House"
      let (putTask, putList) = (open, renamed)
      try store.writeAndWait { (transaction) throws in
        #expect(try transaction.put(putTask))
        #expect(try transaction.put(putList))
      }
      #expect(try store.read { try $0.task(task.id) } == open)
      #expect(try store.read { try $0.list(list.id)?.name } == "House")
      #expect(try store.read { try $0.statistics().completed.allTime } == 0)
      try store.writeAndWait { try $0.undo() }
      #expect(try contents(of: store) == before)
    }
  }

  @Test func subtasksFollowAParentIntoAnotherList() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let parent = try store.writeAndWait { try $0.add("parent") }
      let child = try store.writeAndWait { try $0.add("child") { $0.parentID = parent.id } }
      let before = try contents(of: store)
      var moved = parent
      moved.listID = list.id
      let put = moved
      try store.writeAndWait { try $0.put(put) }
      #expect(try store.read { try $0.task(child.id)?.listID } == list.id)
      try store.writeAndWait { try $0.undo() }
      #expect(try contents(of: store) == before)
      var elsewhere = child
      elsewhere.listID = list.id
      let refused = elsewhere
      let error = #expect(throws: TallyError.self) { try store.writeAndWait { try $0.put(refused) } }
      #expect(error?.code == .invalidParent)
    }
  }

  @Test func theRulesOfTheModelHold() throws {
    try withStore { (store) throws in
      let valid = TaskItem(id: UUID(), title: "x", createdAt: TestClock.noon.now)
      func refusal(_ change: (inout TaskItem) -> Void) -> TallyError.Code? {
        var task = valid
        change(&task)
        let changed = task
        return #expect(throws: TallyError.self) { try store.writeAndWait { try $0.put(changed) } }?.code
      }
      #expect(refusal { $0.title = " " } == .blankTitle)
      #expect(refusal { $0.listID = UUID() } == .listNotFound)
      #expect(refusal { $0.state = .completed } == .inconsistentTask)
      #expect(refusal { $0.sortOrder = .max } == .valueOutOfRange)
      let list = TaskList(
        id: UUID(), name: "x", colorHex: "red", sortOrder: 0, createdAt: valid.createdAt, updatedAt: valid.createdAt)
      #expect(throws: TallyError.self) { try store.writeAndWait { try $0.put(list) } }
      #expect(try store.read { try $0.sequence } == 0)
    }
  }
}
