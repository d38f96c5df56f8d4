import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Indexes that fall behind, because a program without them has written, and indexes that are built.
@Suite struct TaskIndexStalenessTests {
  /// Opens the store with some indexes, for a moment.
  private func open<R>(_ path: FilePath, _ indexes: [TaskIndex] = [], _ body: (TaskStore) throws -> R) throws -> R {
    var configuration = TaskStore.Configuration.testing()
    configuration.indexes = indexes
    // To begin and end a log is to write.
    configuration.makesLog = false
    let store = try TaskStore(at: path, configuration: configuration)
    defer { try? store.close() }
    let result = try body(store)
    try checkInvariants(of: store)
    return result
  }

  private func entries(of path: FilePath) throws -> Int {
    try open(path) { store in
      let tables = try store.tables.ownIndexes
      return try store.environment.read { try tables.entries.count(in: $0) }
    }
  }

  @Test func openingBuildsANewIndexAndReplacesAnotherVersion() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path) { store in try store.writeAndWait { for title in ["a b", "c"] { _ = try $0.add(title) } } }
      try open(path, [.byWord]) { (store) throws in
        #expect(try store.information().indexes.map(\.lagInCommits) == [0])
        #expect(try store.read { try $0.count(of: .byWord) } == 3)
      }
      #expect(try entries(of: path) == 3)
      let second = TaskIndex("byWord", version: 2) { [$0.title] }
      try open(path, [second]) { (store) throws in
        #expect(try store.information().indexes.map(\.version) == [2])
        #expect(try store.read { try $0.tasks(in: second).map(\.title) } == ["a b", "c"])
      }
      #expect(try entries(of: path) == 2)
    }
  }

  @Test func buildingIsNoCommitOfTheStore() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let sequence = try open(path) { store in
        try store.writeAndWait { _ = try $0.add("x") }
        return try store.read { try $0.sequence }
      }
      try open(path, [.byWord]) { (store) throws in
        #expect(try store.read { try $0.sequence } == sequence)
        #expect(try store.writeAndWait { try $0.undo() }.deletedTasks.map(\.title) == ["x"])
      }
    }
  }

  @Test func aSecondOpeningWithTheSameIndexesWritesNothing() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path, [.byWord]) { store in try store.writeAndWait { _ = try $0.add("x") } }
      let last = try open(path) { try $0.environment.information().lastTransactionID }
      try open(path, [.byWord]) { (store) throws in
        #expect(try store.environment.information().lastTransactionID == last)
      }
    }
  }

  @Test func whatAProgramWithoutTheIndexHasWrittenIsFollowedUp() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let ids = try open(path, [.byWord]) { store in
        try store.writeAndWait { transaction in try ["a", "b", "c"].map { try transaction.add($0).id } }
      }
      try open(path) { store in
        try store.writeAndWait { transaction in
          try transaction.update(ids[0]) { $0.title = "d" }
          try transaction.delete(ids[1])
          try transaction.add("e")
        }
        #expect(try store.information().indexes.map(\.lagInCommits) == [1])
      }
      try open(path, [.byWord]) { (store) throws in
        #expect(try store.read { try $0.tasks(in: .byWord).map(\.title) } == ["c", "d", "e"])
      }
      #expect(try entries(of: path) == 3)
    }
  }

  @Test(arguments: [false, true])
  func aReaderSeesWhatItsIndexLacks(reversed: Bool) throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let ids = try open(path, [.byWord]) { store in
        try store.writeAndWait { transaction in try ["a", "b", "c", "f", "g"].map { try transaction.add($0).id } }
      }
      try open(path) { store in
        try store.writeAndWait { transaction in
          try transaction.update(ids[0]) { $0.title = "d h" }
          try transaction.delete(ids[1])
          try transaction.add("e")
        }
      }
      var configuration = TaskStore.Configuration.indexing(.byWord, .byLength)
      configuration.isReadOnly = true
      let store = try TaskStore(at: path, configuration: configuration)
      let titles = ["c", "d h", "e", "f", "g", "d h"]
      try store.read { (snapshot) throws in
        #expect(
          try snapshot.tasks(in: .byWord, reversed: reversed).map(\.title) == (reversed ? titles.reversed() : titles))
        #expect(try snapshot.tasks(in: .byWord, .from("d", upTo: "g")).map(\.title) == ["d h", "e", "f"])
        #expect(try snapshot.tasks(in: .byLength).map(\.title) == ["c", "e", "f", "g", "d h"])
        var (position, seen) = (nil as TaskIndexPosition?, [String]())
        repeat {
          let page = try snapshot.page(of: .byWord, after: position, reversed: reversed, limit: 1)
          seen += page.tasks.map(\.title)
          position = page.next
        } while position != nil
        #expect(seen == (reversed ? titles.reversed() : titles))
      }
      try store.close()
    }
  }

  @Test func anIndexThatLiesBehindIsSound() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let ids = try open(path, [.byWord]) { store in
        try store.writeAndWait { transaction in try ["a", "b", "c"].map { try transaction.add($0).id } }
      }
      try open(path) { store in
        try store.writeAndWait { transaction in
          try transaction.update(ids[0]) { $0.title = "d" }
          try transaction.delete(ids[1])
        }
      }
      let report = try TaskStore.verify(at: path, configuration: .indexing(.byWord))
      #expect(report.isSound, "\(report.faults)")
    }
  }

  /// As when a full disk has no room for catching up: a commit must not make the index count as right.
  @Test func anIndexThatLiesBehindStaysBehindWithoutCatchingUp() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path, [.byWord]) { store in
        try store.writeAndWait { _ = try $0.add("x") }
        #expect(try HelperProcess("add", path, 1).lines() == ["done"])
        let tables = try store.tables
        try store.environment.write { transaction in
          let catchUp = try #require(try tables.catchUp(in: transaction))
          try catchUp.advance(to: catchUp.sequence + 1, in: &transaction)
        }
        #expect(try store.information().indexes.map(\.lagInCommits) == [1])
        #expect(try store.read { try $0.tasks(in: .byWord).map(\.title) } == ["0", "x"])
      }
    }
  }

  @Test func anotherProcessWithoutTheIndexIsNoticedWhileTheStoreIsOpen() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path, [.byWord]) { store in
        try store.writeAndWait { _ = try $0.add("x") }
        #expect(try HelperProcess("add", path, 3).lines() == ["done"])
        #expect(try store.read { try $0.tasks(in: .byWord).map(\.title) } == ["0", "1", "2", "x"])
        let tables = try store.tables.ownIndexes
        #expect(try store.environment.read { try tables.entries.count(in: $0) } == 1)
        try store.writeAndWait { transaction in
          #expect(try transaction.tasks(in: .byWord).map(\.title) == ["0", "1", "2", "x"])
          try transaction.add("y")
        }
        #expect(try store.environment.read { try tables.entries.count(in: $0) } == 5)
        #expect(try store.information().indexes.map(\.lagInCommits) == [0])
      }
    }
  }

  @Test func aCrashWhileAnIndexIsBuiltLeavesItUnbuilt() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path) { store in
        try store.writeAndWait { transaction in
          try transaction.insert(
            contentsOf: (0..<21_000).map { TaskItem(title: "\($0 % 7)", createdAt: TestClock.noon.now) })
        }
      }
      // More than one batch has been written when the process ends.
      let lines = try HelperProcess("build-index-and-die", path, 20_000).lines()
      #expect(lines == [])
      #expect(try entries(of: path) == 0)
      try open(path, [.byWord]) { (store) throws in
        #expect(try store.read { try $0.count(of: .byWord, .key("3")) } == 3_000)
      }
    }
  }

  @Test func aRepairEmptiesIndexesAndTheNextOpeningBuildsThem() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path, [.byWord]) { store in try store.writeAndWait { for n in 0..<5 { _ = try $0.add("t\(n)") } } }
      let key = try #require(try firstKey(of: "ownIndexEntries", at: path))
      let rowKey = try #require(try firstKey(of: "ownIndexKeys", at: path))
      let damages: [(table: String, fault: String, change: (RawTable, inout WriteTransaction) throws -> Void)] = [
        ("ownIndexEntries", "missingEntry in ownIndexEntries", { try $0.removeValue(key, &$1) }),
        ("ownIndexEntries", "danglingEntry in ownIndexEntries", { try $0.put([], forKey: key + [1], in: &$1) }),
        ("ownIndexEntries", "danglingEntry in ownIndexEntries", { try $0.put([], forKey: [1], in: &$1) }),
        ("ownIndexKeys", "unreadableRecord in ownIndexKeys", { try $0.put([9], forKey: rowKey, in: &$1) }),
        ("ownIndexKeys", "danglingEntry in ownIndexEntries", { try $0.removeValue(rowKey, &$1) }),
        (
          "ownIndexes", "invalidRecord in ownIndexes",
          { table, transaction in
            try table.put([UInt8](repeating: 1, count: 20), forKey: [0, 0, 0, 0, 0, 0, 0, 1], in: &transaction)
          }
        ),
      ]
      for (table, fault, change) in damages {
        try DamagedStore(directory: path).change(table, change)
        let report = try TaskStore.verify(at: path)
        #expect(report.faults.contains { $0.description.hasPrefix(fault) }, "\(fault): \(report.faults)")
        let repair = try TaskStore.repair(at: path)
        #expect(repair.after.isSound, "\(fault)")
        try open(path, [.byWord]) { (store) throws in #expect(try store.read { try $0.count(of: .byWord) } == 5) }
      }
    }
  }

  /// Rows that agree with each other, but not with the function: only its own program can know.
  @Test func rowsThatTheFunctionDoesNotGiveAreFoundWhereItIsRegistered() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try open(path, [.byWord]) { store in try store.writeAndWait { for n in 0..<5 { _ = try $0.add("t\(n)") } } }
      // The same name and version with another function.
      let impostor = TaskIndex("byWord") { [$0.title + "!"] }
      var configuration = TaskStore.Configuration.testing()
      #expect(try TaskStore.verify(at: path, configuration: configuration).isSound)
      configuration.indexes = [impostor]
      let report = try TaskStore.verify(at: path, configuration: configuration)
      #expect(Set(report.faults.map(\.kind)) == [.wrongEntry] && report.faultCount == 5)
      configuration.indexes = [.byWord]
      #expect(try TaskStore.verify(at: path, configuration: configuration).isSound)
    }
  }
}

extension Database<[UInt8], [UInt8]> {
  fileprivate func removeValue(_ key: [UInt8], _ transaction: inout WriteTransaction) throws {
    _ = try remove(forKey: key, in: &transaction)
  }
}
