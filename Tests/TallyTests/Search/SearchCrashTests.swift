import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Processes that end while the search index is behind: the searches of the next one find the same.
@Suite struct SearchCrashTests {
  private static let taskCount = 20_000

  /// After the write, before the index has looked at it.
  @Test func searchesAreExactAfterACrashBeforeTheIndexCatchesUp() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let helper = try HelperProcess("index-search", path, 200, 1)
      #expect(helper.line() == "written")
      helper.kill()
      try Self.check(path, count: 200) { #expect($0 == 0, "nothing is indexed") }
    }
  }

  /// Between two of the steps in which the index catches up: each is a commit of its own.
  @Test func searchesAreExactAfterACrashBetweenStepsOfTheIndex() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let helper = try HelperProcess("index-search", path, Self.taskCount, 1)
      #expect(helper.line() == "written")
      let observer = try TaskStore(at: path, configuration: .testing())
      helper.release()
      while try Self.indexedCount(observer) == 0 {}
      helper.kill()
      try observer.close()
      try Self.check(path, count: Self.taskCount) { #expect((1..<Self.taskCount).contains($0)) }
    }
  }

  private static func indexedCount(_ store: TaskStore) throws -> Int {
    try store.read { try SearchIndex($0.tables, in: $0.base).taskCount }
  }

  /// Compares searches with a look at every task: as the crash has left the index, caught up, and built by a repair.
  private static func check(_ path: FilePath, count: Int, _ expectIndexed: (Int) -> Void) throws {
    var store = try TaskStore(at: path, configuration: .testing())
    expectIndexed(try indexedCount(store))
    let expected = try compare(store, count: count)
    try store.updateSearchIndex()
    #expect(try indexedCount(store) == count)
    #expect(try compare(store, count: count) == expected)
    try checkInvariants(of: store)
    try store.close()
    #expect(try TaskStore.repair(at: path, configuration: .testing()).after.isSound)
    store = try TaskStore(at: path, configuration: .testing())
    #expect(try compare(store, count: count) == expected)
    try store.updateSearchIndex()
    #expect(try compare(store, count: count) == expected)
    try checkInvariants(of: store)
    try store.close()
  }

  /// The tasks found, which must be those that reading every task finds.
  private static func compare(_ store: TaskStore, count: Int) throws -> [[UUID]] {
    let tasks = try store.read { try $0.view(.all).tasks }
    #expect(tasks.count == count)
    return try ["form 17", "牛乳", "\"tax form 99\"", "nothing"].map { text in
      let query = SearchQuery(text)
      let found = try store.search(query, limit: 300).map(\.task.id)
      #expect(found == SearchTests.found(query, in: tasks).prefix(300).map(\.id), "\(text)")
      return found
    }
  }
}
