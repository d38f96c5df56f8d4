import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Which change undo and redo select, and which they refuse.
@Suite struct UndoOrderTests {
  @Test func undoTwiceTakesBackTheOneBefore() throws {
    try withTitles { store, id in
      for title in ["b", "c"] { try rename(id, to: title, in: store) }
      try store.writeAndWait { try $0.undo() }
      #expect(try title(of: id, in: store) == "b")
      try store.writeAndWait { try $0.undo() }
      #expect(try title(of: id, in: store) == "a")
    }
  }

  @Test func redoFollowsTheLineOfUndos() throws {
    try withTitles { store, id in
      for title in ["b", "c"] { try rename(id, to: title, in: store) }
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.redo() }
      #expect(try title(of: id, in: store) == "b")
      try store.writeAndWait { try $0.redo() }
      #expect(try title(of: id, in: store) == "c")
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.undo() }
      #expect(try title(of: id, in: store) == "a")
      try store.writeAndWait { try $0.redo() }
      #expect(try title(of: id, in: store) == "b")
    }
  }

  @Test func aRedoneWriteIsUndoneByItsOwnID() throws {
    try withTitles { store, id in
      try rename(id, to: "b", in: store)
      let change = try #require(try store.read { try $0.undoableChange })
      for _ in 0..<3 {
        try store.writeAndWait { _ = try $0.undo(change) }
        #expect(try title(of: id, in: store) == "a")
        expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo(change) } }
        try store.writeAndWait { _ = try $0.redo() }
        #expect(try title(of: id, in: store) == "b")
      }
    }
  }

  @Test func aNewChangeEndsWhatCanBeDoneAgain() throws {
    try withTitles { store, id in
      try rename(id, to: "b", in: store)
      try store.writeAndWait { try $0.undo() }
      try rename(id, to: "c", in: store)
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
      try store.writeAndWait { try $0.undo() }
      #expect(try title(of: id, in: store) == "a")
    }
  }

  @Test func anEmptyHistoryHasNothingToTakeBack() throws {
    try withStore { store in
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
    }
  }

  @Test func aWriteThatCameToNothingIsPassedOver() throws {
    try withTitles { store, id in
      try rename(id, to: "b", in: store)
      try store.writeAndWait { transaction in
        let id = try transaction.add("short-lived", to: .inbox).id
        try transaction.delete(id)
      }
      try store.writeAndWait { try $0.undo() }
      #expect(try title(of: id, in: store) == "a")
    }
  }

  @Test func aTaskThatAWriteDidNotChangeInTheEndIsNotAmongTheUndone() throws {
    try withTitles { store, id in
      let other = try store.writeAndWait { transaction in
        for title in ["b", "a"] { try transaction.update(id) { $0.title = title } }
        return try transaction.add("other", to: .inbox).id
      }
      let result = try store.writeAndWait { try $0.undo() }
      #expect(result.tasks.isEmpty)
      #expect(result.deletedTasks.map(\.id) == [other])
    }
  }

  @Test func eachOfSeveralWritesInOneCommitIsTakenBackAlone() async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let writes = (0..<5).map { number in
        Task { try await store.write { _ = try $0.add("task \(number)", to: .inbox) } }
      }
      await gate.open(whenWaiting: writes.count)
      for write in writes { try await write.value }
      #expect(try store.read { try $0.sequence } == 1)
      for remaining in (0..<5).reversed() {
        let result = try await store.undo()
        #expect(result.deletedTasks.count == 1)
        #expect(try store.read { try $0.taskCount } == remaining)
      }
    }
  }

  @Test func anEarlierChangeIsTakenBackWhereNothingStandsOnIt() throws {
    try withTitles { store, id in
      let change = try store.writeAndWait { transaction in
        try transaction.update(id) { $0.title = "b" }
        return try transaction.changeID
      }
      let other = try store.writeAndWait { try $0.add("other", to: .inbox).id }
      try store.writeAndWait { _ = try $0.undo(change) }
      #expect(try title(of: id, in: store) == "a")
      #expect(try title(of: other, in: store) == "other")
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo(change) } }
    }
  }

  /// The bug: it got the id of the next write, which an undo of nothing then took away.
  @Test func aWriteThatChangesNothingHasNoID() throws {
    try withTitles { store, id in
      let nothing = try store.writeAndWait { transaction in
        try transaction.update(id) { $0.title = "a" }
        return try transaction.changeID
      }
      #expect(nothing == nil)
      try rename(id, to: "b", in: store)
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo(nothing) } }
      #expect(try title(of: id, in: store) == "b")
    }
  }

  @Test func aLaterChangeOfTheSameTaskIsAConflictAndNothingIsHalfUndone() throws {
    try withTitles { store, id in
      let change = try store.writeAndWait { transaction in
        try transaction.update(id) { $0.title = "b" }
        _ = try transaction.add("with it", to: .inbox)
        return try transaction.changeID
      }
      try rename(id, to: "c", in: store)
      let before = try contents(of: store)
      let sequence = try store.read { try $0.sequence }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
      #expect(try contents(of: store) == before)
      #expect(try store.read { try $0.sequence } == sequence)
      // Once the later one is undone, nothing prevents it.
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { _ = try $0.undo(change) }
      #expect(try title(of: id, in: store) == "a")
    }
  }

  @Test func aListThatHasGotTasksSinceDoesNotGo() throws {
    try withStore { store in
      let (list, change) = try store.writeAndWait { transaction in
        (try transaction.addList(name: "Home").id, try transaction.changeID)
      }
      try store.writeAndWait { _ = try $0.add("in it", to: .list(list)) }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
    }
  }

  @Test func aTaskDoesNotComeBackIntoAListThatIsGone() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home").id }
      let id = try store.writeAndWait { try $0.add("x", to: .list(list)).id }
      let change = try store.writeAndWait { transaction in
        _ = try transaction.delete(id)
        return try transaction.changeID
      }
      try store.writeAndWait { _ = try $0.deleteList(list) }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
    }
  }

  @Test func aSubtaskDoesNotComeBackUnderAParentThatIsGone() throws {
    try withStore { store in
      let (parent, part) = try store.writeAndWait { transaction in
        let parent = try transaction.add("parent").id
        return (parent, try transaction.add("part") { $0.parentID = parent }.id)
      }
      let change = try store.writeAndWait { transaction in
        _ = try transaction.update(part) { $0.parentID = nil }
        return try transaction.changeID
      }
      try store.writeAndWait { _ = try $0.delete(parent) }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
      #expect(try store.read { try $0.task(part)?.parentID } == nil)
    }
  }

  @Test func theCreationOfATaskThatWasDeletedSinceIsAConflict() throws {
    try withStore { store in
      let (id, change) = try store.writeAndWait { transaction in
        (try transaction.add("x", to: .inbox).id, try transaction.changeID)
      }
      try store.writeAndWait { _ = try $0.delete(id) }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
      // Once the deletion is undone, nothing prevents it.
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { _ = try $0.undo(change) }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  private func withTitles(_ body: (TaskStore, UUID) throws -> Void) throws {
    try withStore { store in
      try body(store, try store.writeAndWait { try $0.add("a", to: .inbox).id })
    }
  }

  private func rename(_ id: UUID, to title: String, in store: TaskStore) throws {
    try store.writeAndWait { transaction in _ = try transaction.update(id) { $0.title = title } }
  }

  private func title(of id: UUID, in store: TaskStore) throws -> String? {
    try store.read { try $0.task(id)?.title }
  }
}
