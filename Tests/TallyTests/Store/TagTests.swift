import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The tags of a store as a whole.
@Suite struct TagTests {
  @Test func tagsAreCountedByTheirTasksInTheOrderOfTheirNames() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        try add("a", ["Work", "home"], to: &transaction)
        try transaction.complete(try add("b", ["HOME"], to: &transaction))
        try transaction.start(try add("c", ["home"], to: &transaction))
        try transaction.delete(try add("d", ["gone"], to: &transaction))
      }
      let tags = try store.read { try $0.tags() }
      #expect(tags.map(\.tag) == ["home", "Work"])
      #expect(tags.map(\.openCount) == [2, 1])
      #expect(tags.map(\.completedCount) == [1, 0])
    }
  }

  @Test func renamingMergesAndIsOneStepOfUndo() throws {
    try withStore { (store: TaskStore) throws in
      let ids = try store.writeAndWait { transaction in
        [
          try add("a", ["house", "x"], to: &transaction), try add("b", ["house", "home"], to: &transaction),
          try add("c", ["home"], to: &transaction),
        ]
      }
      let changed = try store.writeAndWait { try $0.renameTag("HOUSE", to: "Home") }
      #expect(changed.map(\.id) == Array(ids.prefix(2)))
      #expect(try tags(of: ids, in: store) == [["Home", "x"], ["home"], ["home"]])
      #expect(try store.read { try $0.tags().map(\.openCount) } == [3, 1])
      try store.writeAndWait { try $0.undo() }
      #expect(try tags(of: ids, in: store) == [["house", "x"], ["home", "house"], ["home"]])
    }
  }

  @Test func anotherSpellingIsTakenOver() throws {
    try withStore { (store: TaskStore) throws in
      let id = try store.writeAndWait { try add("a", ["home"], to: &$0) }
      #expect(try store.writeAndWait { try $0.renameTag("home", to: "Home") }.count == 1)
      #expect(try tags(of: [id], in: store) == [["Home"]])
      #expect(try store.read { try $0.tags().map(\.tag) } == ["Home"])
      #expect(try store.writeAndWait { try $0.renameTag("home", to: "Home") }.isEmpty)
    }
  }

  @Test func deletingATagLeavesTheTasksAndWhatTheyCountedUnder() throws {
    try withStore { (store: TaskStore) throws in
      let id = try store.writeAndWait { transaction in
        let id = try add("a", ["home", "x"], to: &transaction)
        try transaction.complete(id)
        return id
      }
      #expect(try store.writeAndWait { try $0.deleteTag("Home") }.map(\.id) == [id])
      #expect(try tags(of: [id], in: store) == [["x"]])
      #expect(try store.writeAndWait { try $0.deleteTag("home") }.isEmpty)
    }
  }

  /// Counters know a completed task by the tags of its completion, so the name is in the record alone.
  @Test func aTagThatATaskGotAfterItsCompletionHasItsName() throws {
    try withStore { (store: TaskStore) throws in
      let id = try store.writeAndWait { transaction in
        let id = try add("a", ["one"], to: &transaction)
        try transaction.complete(id)
        try transaction.renameTag("one", to: "Two")
        return id
      }
      #expect(try store.read { try $0.tags().map(\.tag) } == ["Two"])
      #expect(try store.writeAndWait { try $0.deleteTag("two") }.map(\.id) == [id])
      #expect(try store.read { try $0.tags().isEmpty })
    }
  }

  @Test func aNewTagThatCannotBeOneIsRefused() throws {
    try withStore { (store: TaskStore) throws in
      let id = try store.writeAndWait { try add("a", ["home"], to: &$0) }
      expect(.invalidTag) { try store.writeAndWait { _ = try $0.renameTag("home", to: "a,b") } }
      #expect(try tags(of: [id], in: store) == [["home"]])
    }
  }

  @discardableResult
  private func add(_ title: String, _ tags: TagSet, to transaction: inout StoreWriteTransaction) throws -> UUID {
    let task = try transaction.add(title)
    return try transaction.update(task.id) { $0.tags = tags }.id
  }

  private func tags(of ids: [UUID], in store: TaskStore) throws -> [[String]] {
    try store.read { transaction in try ids.map { Array(try transaction.task($0)?.tags ?? []) } }
  }
}
