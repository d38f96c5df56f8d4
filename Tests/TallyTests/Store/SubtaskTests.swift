import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct SubtaskTests {
  /// A chain of tasks, each a part of the one before.
  private func chain(_ count: Int, in transaction: inout StoreWriteTransaction) throws -> [UUID] {
    var ids = [try transaction.add("0").id]
    for number in 1..<count { ids.append(try transaction.add("\(number)") { $0.parentID = ids.last }.id) }
    return ids
  }

  @Test func subtasksGoEightLevelsDeepAndNoDeeper() throws {
    try withStore { store in
      let ids = try store.writeAndWait { try chain(9, in: &$0) }
      expect(.invalidParent) { try store.writeAndWait { t in _ = try t.add("9") { $0.parentID = ids[8] } } }
      // Nor by moving a branch under another task.
      let top = try store.writeAndWait { try $0.add("top") }
      expect(.invalidParent) { try store.writeAndWait { t in _ = try t.update(ids[0]) { $0.parentID = top.id } } }
      try store.writeAndWait { t in _ = try t.update(ids[1]) { $0.parentID = top.id } }
    }
  }

  @Test func noTaskIsItsOwnAncestor() throws {
    try withStore { store in
      let ids = try store.writeAndWait { try chain(3, in: &$0) }
      for id in ids {
        expect(.invalidParent) { try store.writeAndWait { t in _ = try t.update(ids[0]) { $0.parentID = id } } }
      }
      expect(.invalidParent) { try store.writeAndWait { t in _ = try t.update(ids[0]) { $0.parentID = UUID() } } }
    }
  }

  @Test func subtasksAreInTheListOfTheirParent() throws {
    try withStore { store in
      let (home, work) = try store.writeAndWait { (try $0.addList(name: "Home").id, try $0.addList(name: "Work").id) }
      let ids = try store.writeAndWait { transaction in
        let ids = try chain(3, in: &transaction)
        try transaction.move(ids[0], toList: home)
        return ids
      }
      #expect(try store.read { t in try ids.map { try t.task($0)?.listID } } == [home, home, home])
      expect(.invalidParent) { try store.writeAndWait { _ = try $0.move(ids[1], toList: work) } }
      // Out of its parent it may go anywhere, and takes its own sub-tasks along.
      try store.writeAndWait { t in
        _ = try t.update(ids[1]) { task in
          task.parentID = nil
          task.listID = work
        }
      }
      #expect(try store.read { t in try ids.map { try t.task($0)?.listID } } == [home, work, work])
    }
  }

  @Test func completingAParentCompletesItsOpenSubtasksAtTheSameTime() throws {
    try withStore { store in
      let ids = try store.writeAndWait { try chain(3, in: &$0) }
      let earlier = try OffsetTimestamp(iso8601: "2026-11-01T10:00:00Z")
      try store.writeAndWait { try $0.complete(ids[2], at: earlier) }
      let when = try OffsetTimestamp(iso8601: "2026-11-02T10:00:00+03:00")
      try store.writeAndWait { try $0.complete(ids[0], at: when) }
      #expect(try store.read { t in try ids.map { try t.task($0)?.completedAt } } == [when, when, earlier])
      #expect(try store.read { try $0.statistics().completed.allTime } == 3, "each is counted")
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { t in try ids.map { try t.task($0)?.isCompleted } } == [false, false, true])
    }
  }

  @Test func completingAParentAloneLeavesItsSubtasks() throws {
    try withStore { store in
      let ids = try store.writeAndWait { try chain(2, in: &$0) }
      try store.writeAndWait { try $0.complete(ids[0], includingSubtasks: false) }
      #expect(try store.read { try $0.task(ids[1])?.isCompleted } == false)
    }
  }

  @Test func deletingAParentDeletesItsSubtasksAndOneUndoBringsAllBack() throws {
    try withStore { store in
      let ids = try store.writeAndWait { try chain(4, in: &$0) }
      try store.writeAndWait { _ = try $0.delete(ids[1]) }
      #expect(try store.read { t in try ids.map { try t.task($0) != nil } } == [true, false, false, false])
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { t in try t.subtasks(of: ids[2]).map(\.id) } == [ids[3]])
    }
  }

  @Test func anUndoThatWouldLeaveASubtaskAloneIsAConflict() throws {
    try withStore { store in
      let (parent, change) = try store.writeAndWait { (try $0.add("parent"), try $0.changeID) }
      try store.writeAndWait { t in _ = try t.add("part") { $0.parentID = parent.id } }
      expect(.undoConflict) { try store.writeAndWait { _ = try $0.undo(change) } }
    }
  }

  @Test func aBulkInsertMayHaveParentsAfterTheirSubtasks() throws {
    try withStore { store in
      let parent = TaskItem(title: "parent", createdAt: .earliest)
      let part = TaskItem(title: "part", createdAt: .earliest, parentID: parent.id)
      let lost = TaskItem(title: "lost", createdAt: .earliest, parentID: UUID())
      expect(.invalidParent) { try store.writeAndWait { try $0.insert(contentsOf: [part, parent, lost]) } }
      try store.writeAndWait { try $0.insert(contentsOf: [part, parent]) }
      #expect(try store.read { try $0.subtasks(of: parent.id) } == [part])
    }
  }

  @Test func anImportMayHaveParentsAfterTheirSubtasksAndRefusesLostOnes() throws {
    try withStore { store in
      let (parent, part) = (UUID().uuidString, UUID().uuidString)
      let lines = """
        {"id": "\(part)", "text": "part", "parentID": "\(parent)"}
        {"id": "\(parent)", "text": "parent"}
        """
      try store.importText(lines, .ndjson)
      let parentID = try #require(UUID(uuidString: parent))
      #expect(try store.read { try $0.subtasks(of: parentID).map(\.title) } == ["part"])
      for isDryRun in [false, true] {
        var options = ImportOptions()
        options.isDryRun = isDryRun
        #expect {
          try store.importText("{\"text\": \"lost\", \"parentID\": \"\(UUID())\"}", .ndjson, options)
        } throws: {
          let error = $0 as? TallyError
          return error?.code == .invalidParent && error?.position?.line == 1
        }
      }
    }
  }

  @Test func verifyFindsSubtasksWithoutTheirParentsAndRepairFreesThem() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      let ids = try store.writeAndWait { try chain(3, in: &$0) }
      try store.environment.write { base in
        _ = try store.tables.tasks.remove(forKey: IDKey(ids[0]), in: &base)
      }
      #expect(try store.verify().faults.contains { $0.kind == .invalidParent && $0.id == ids[1] })
      try store.close()
      try TaskStore.repair(at: path, configuration: .testing())
      let repaired = try TaskStore(at: path, configuration: .testing())
      #expect(try repaired.read { try $0.task(ids[1])?.parentID } == nil)
      #expect(try repaired.read { try $0.task(ids[2])?.parentID } == ids[1])
      #expect(try repaired.verify().isSound)
      try repaired.close()
    }
  }
}
