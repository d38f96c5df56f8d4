import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Removing a store, erasing its contents, and a store whose directory somebody has removed.
@Suite struct RemovalTests {
  @Test func aRemovedStoreLeavesNothing() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in
        _ = try store.writeAndWait { try $0.add("x", to: .inbox) }
        try store.backup(to: directory.appending("backup"))
      }
      try TaskStore.restore(from: directory.appending("backup"), to: path, configuration: .testing())
      #expect(try names(in: path).contains { SafetyCopy.isSafetyCopy($0) })
      try TaskStore.remove(at: path)
      #expect(try names(in: directory) == ["backup"])
      #expect(code { try TaskStore.remove(at: path) } == .storeMissing)
      try withStore(at: path) { (store) throws in
        #expect(try store.read { try $0.taskCount } == 0)
      }
    }
  }

  @Test func aDirectoryWithOtherFilesStays() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { _ in }
      try "mine".write(toFile: path.appending("notes.txt").string, atomically: true, encoding: .utf8)
      try TaskStore.remove(at: path)
      #expect(try names(in: path) == ["notes.txt"])
      #expect(code { try TaskStore.remove(at: path) } == .notAStore)
    }
  }

  @Test func aStoreOfAnotherKindStays() throws {
    try withTemporaryDirectory { directory in
      let (tasks, records) = (directory.appending("tasks"), directory.appending("records"))
      try withStore(at: tasks) { store in _ = try store.writeAndWait { try $0.add("x", to: .inbox) } }
      try Store(at: URL(filePath: records.string), schema: Schema()).close()
      #expect(code { try Store.remove(at: URL(filePath: tasks.string)) } == .notAStore)
      #expect(code { try TaskStore.remove(at: records) } == .notAStore)
      try withStore(at: tasks) { (store) throws in #expect(try store.read { try $0.taskCount } == 1) }
      try Store.remove(at: URL(filePath: records.string))
      #expect(try names(in: directory) == ["tasks"])
    }
  }

  @Test func anOpenStoreIsNotRemoved() throws {
    try withStore { store in
      #expect(code { try TaskStore.remove(at: store.directory) } == .alreadyOpen)
      let helper = try HelperProcess("add", store.directory, 1)
      #expect(helper.lines() == ["done"])
    }
  }

  @Test func aDamagedStoreIsRemoved() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { _ in }
      try Data("damaged".utf8).write(to: URL(filePath: path.appending("data.mdb").string))
      try TaskStore.remove(at: path)
      #expect(try names(in: directory) == [])
    }
  }

  /// The bug: durable writes succeeded into a file without a name.
  @Test func aWriteIntoARemovedFileIsRefused() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      try await store.write { _ = try $0.add("x", to: .inbox) }
      try FileManager.default.removeItem(atPath: path.string)
      let error = await #expect(throws: TallyError.self) { try await store.write { _ = try $0.add("y", to: .inbox) } }
      #expect(error?.code == .storeMissing)
      #expect(try store.read { try $0.taskCount } == 1)
      // A write that changes nothing loses nothing.
      try await store.write { _ in }
      try store.close()
    }
  }

  @Test func aStoreWhoseDirectoryWasRenamedGoesOn() throws {
    try withTemporaryDirectory { directory in
      let (path, moved) = (directory.appending("store"), directory.appending("moved"))
      let store = try TaskStore(at: path, configuration: .testing())
      try FileManager.default.moveItem(atPath: path.string, toPath: moved.string)
      try store.writeAndWait { _ = try $0.add("x", to: .inbox) }
      try store.close()
      try withStore(at: moved) { (store) throws in
        #expect(try store.read { try $0.taskCount } == 1)
      }
    }
  }

  @Test func anErasedStoreIsLikeANewOne() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        let task = try transaction.add("done") { $0.listID = list.id }
        try transaction.complete(task.id)
        try transaction.add("gone", to: .today)
      }
      let start = try store.read { try $0.position }
      let identity = try store.information().storeID
      try store.writeAndWait { transaction in
        try transaction.add("before, in the same write", to: .inbox)
        try transaction.eraseAll()
      }
      let (counts, statistics, changes) = try store.read { snapshot in
        (
          (try snapshot.taskCount, try snapshot.listCount, try snapshot.view(.completed(nil)).tasks.count),
          try snapshot.statistics(), try snapshot.changes(since: start)
        )
      }
      #expect(counts == (0, 0, 0) && statistics.completed.allTime == 0 && !changes.isComplete)
      #expect(code { try store.writeAndWait { _ = try $0.undo() } } == .nothingToUndo)
      #expect(try store.information().storeID == identity)
      try checkInvariants(of: store)
      let task = try store.writeAndWait { try $0.add("new", to: .inbox) }
      #expect(try store.read { try $0.view(.inbox).tasks } == [task])
    }
  }

  @Test func anObservationFollowsAnErasedStore() async throws {
    try await withStore { store in
      try await store.write { _ = try $0.add("x", to: .inbox) }
      var updates = store.observe(.inbox).makeAsyncIterator()
      _ = try await updates.next()
      try await store.write { try $0.eraseAll() }
      guard case .difference(let difference)? = try await updates.next() else { throw NoUpdate() }
      #expect(difference.removals == [0])
    }
  }

  private struct NoUpdate: Error {}
}
