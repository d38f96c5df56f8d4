import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

extension TaskIndex {
  /// The words of titles, once for each.
  static let byWord = TaskIndex("byWord") { task in task.title.split(separator: " ").map(String.init) }
  /// The length of the title, then the title; none for a completed task.
  static let byLength = TaskIndex("byLength") { task in
    task.isCompleted ? [] : [Pair(Int64(task.title.utf8.count), task.title)]
  }
  /// A key of fixed width.
  static let byCreation = TaskIndex("byCreation") { [$0.createdAt.microsecondsSince1970] }
}

extension TaskStore.Configuration {
  static func indexing(_ indexes: TaskIndex...) -> Self {
    var configuration = Self.testing()
    configuration.indexes = indexes
    return configuration
  }
}

/// An application's own index: what it gives, and what it refuses.
@Suite struct TaskIndexTests {
  @Test func anIndexIsWalkedByKeyPrefixAndRangeInItsOrder() throws {
    try withStore(.indexing(.byWord, .byLength)) { store in
      let titles = ["b", "a", "ab", "a b", "abc", "a\0", "a\0b", "ä"]
      try store.writeAndWait { transaction in for title in titles { try transaction.add(title) } }
      try store.read { (snapshot) throws in
        func found(_ range: TaskIndexRange, reversed: Bool = false) throws -> [String] {
          try snapshot.page(of: .byWord, range, reversed: reversed, limit: .max).entries.map {
            String(decoding: $0.key, as: UTF8.self)
          }
        }
        #expect(try found(.all) == ["a", "a", "a\0", "a\0b", "ab", "abc", "b", "b", "ä"])
        #expect(try found(.all, reversed: true) == found(.all).reversed())
        #expect(try found(.key("a")) == ["a", "a"])
        #expect(try found(.key("")) == [])
        #expect(try found(.prefix("ab")) == ["ab", "abc"])
        #expect(try found(.prefix("a\0")) == ["a\0", "a\0b"])
        #expect(try found(.prefix("")) == found(.all))
        #expect(try found(.from("a\0b", upTo: "b")) == ["a\0b", "ab", "abc"])
        #expect(try found(.from(nil, upTo: "a\0")) == ["a", "a"])
        #expect(try found(.from("b")) == ["b", "b", "ä"])
        #expect(try found(.from("z", upTo: "a")) == [])
        #expect(try found(.from(String(repeating: "b", count: 5_000))) == ["ä"])
        #expect(try snapshot.count(of: .byWord, .prefix("a")) == 6)
        let long = try snapshot.tasks(in: .byLength, .prefix(Leading(Int64(2)))).map(\.title)
        #expect(long == ["a\0", "ab", "ä"])
        #expect(try snapshot.tasks(in: .byLength, reversed: true, limit: 2).map(\.title) == ["abc", "a b"])
      }
    }
  }

  @Test(arguments: [false, true])
  func pagesGoOnWhereTheLastOneEndedAlthoughItsTasksAreGone(reversed: Bool) throws {
    try withStore(.indexing(.byWord)) { store in
      try store.writeAndWait { transaction in for number in 10..<40 { try transaction.add("\(number) x") } }
      var (position, seen) = (nil as TaskIndexPosition?, [String]())
      repeat {
        let page = try store.read {
          try $0.page(of: .byWord, .from("", upTo: "x"), after: position, reversed: reversed, limit: 7)
        }
        seen += page.entries.map { String(decoding: $0.key, as: UTF8.self) }
        position = page.next
        try store.writeAndWait { transaction in for task in page.tasks { try transaction.delete(task.id) } }
      } while position != nil
      let expected = (10..<40).map(String.init)
      #expect(seen == (reversed ? expected.reversed() : expected))
    }
  }

  @Test func aTransactionSeesItsOwnChangesInTheIndex() throws {
    try withStore(.indexing(.byWord)) { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("one two")
        #expect(try transaction.tasks(in: .byWord, .key("two")).map(\.id) == [task.id])
        try transaction.update(task.id) { $0.title = "two three" }
        #expect(try transaction.tasks(in: .byWord).map(\.title) == ["two three", "two three"])
        #expect(try transaction.tasks(in: .byWord, .key("one")).isEmpty)
        try transaction.delete(task.id)
        #expect(try transaction.count(of: .byWord) == 0)
      }
    }
  }

  @Test func anIndexThatIsNotRegisteredIsRefused() throws {
    try withStore(.indexing(.byWord)) { (store) throws in
      let other = TaskIndex("byWord", version: 2) { [$0.title] }
      for index in [TaskIndex.byLength, other] {
        let error = #expect(throws: TallyError.self) { try store.read { try $0.tasks(in: index) } }
        #expect(error?.code == .invalidIndex)
      }
    }
  }

  @Test func namesThatCannotBeAreRefusedAtOpening() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let twice = TaskIndex("byWord", version: 2) { [$0.title] }
      let nameless = TaskIndex("") { [$0.title] }
      let long = TaskIndex(String(repeating: "x", count: TaskIndex.maximumNameByteCount + 1)) { [$0.title] }
      for indexes in [[.byWord, twice], [nameless], [long]] {
        var configuration = TaskStore.Configuration.testing()
        configuration.indexes = indexes
        let error = #expect(throws: TallyError.self) { try TaskStore(at: path, configuration: configuration) }
        #expect(error?.code == .invalidIndex)
      }
    }
  }

  @Test func aKeyThatIsTooLongIsATypedErrorAndStoresNothing() throws {
    try withStore(.indexing(.byWord)) { store in
      let longest = String(repeating: "x", count: TaskIndex.maximumKeyByteCount - 2)
      try store.writeAndWait { _ = try $0.add(longest) }
      #expect(try store.read { try $0.tasks(in: .byWord, .key(longest)).count } == 1)
      let error = #expect(throws: TallyError.self) { try store.writeAndWait { _ = try $0.add(longest + "x") } }
      #expect(error?.code == .invalidKey)
      #expect(error?.message.contains("'byWord'") == true && error?.message.contains("xxx") == false)
      let bulk = #expect(throws: TallyError.self) {
        let task = TaskItem(id: UUID(), title: longest + "x", createdAt: TestClock.noon.now)
        try store.writeAndWait { try $0.insert(contentsOf: [task]) }
      }
      #expect(bulk?.code == .invalidKey)
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  @Test func anIndexOfKeysWithAFixedWidthHasNoEndMarks() throws {
    try withStore(.indexing(.byCreation)) { store in
      let task = try store.writeAndWait { try $0.add("x") }
      let microseconds = task.createdAt.microsecondsSince1970
      let page = try store.read { try $0.page(of: .byCreation, .key(microseconds), limit: 5) }
      #expect(page.tasks == [task])
      #expect(page.entries.map(\.key) == [microseconds.encodedBytes])
      #expect(try store.read { try $0.count(of: .byCreation, .from(microseconds + 1)) } == 0)
    }
  }

  @Test func removingAnIndexLeavesNothingOfItAndTheNextWriteBuildsItAgain() throws {
    try withStore(.indexing(.byWord)) { store in
      try store.writeAndWait { _ = try $0.add("a b") }
      #expect(try store.information().indexes == [TaskIndexInformation(name: "byWord", version: 1, lagInCommits: 0)])
      #expect(try store.writeAndWait { try $0.removeIndex(named: "byWord") })
      #expect(try store.information().indexes == [])
      let tables = try store.tables.ownIndexes
      #expect(try store.environment.read { try tables.entries.count(in: $0) + tables.keys.count(in: $0) } == 0)
      // Right all the same, from the tasks themselves.
      #expect(try store.read { try $0.count(of: .byWord) } == 2)
      try store.writeAndWait { _ = try $0.add("c") }
      #expect(try store.environment.read { try tables.entries.count(in: $0) } == 3)
      #expect(try !store.writeAndWait { try $0.removeIndex(named: "other") })
    }
  }

  @Test func anIndexIsObservedAsAnyValue() async throws {
    try await withStore(.indexing(.byWord)) { store in
      var titles = store.values { try $0.tasks(in: .byWord, .key("x")).map(\.title) }.makeAsyncIterator()
      #expect(try await titles.next() == [])
      try await store.write { _ = try $0.add("x y") }
      #expect(try await titles.next() == ["x y"])
    }
  }

  @Test func concurrentWritesOfOneCommitAreAllIndexed() async throws {
    try await withStore(.indexing(.byWord)) { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            try? await store.write { transaction in
              _ = try transaction.add("n\(number)")
              // Some fail late, so that the commit's writes are run again, nested.
              if number.isMultiple(of: 17) { throw CancellationError() }
            }
          }
        }
        try await group.waitForAll()
      }
      let expected = (0..<200).filter { !$0.isMultiple(of: 17) }.map { "n\($0)" }.sorted()
      #expect(try store.read { try $0.tasks(in: .byWord).map(\.title) } == expected)
    }
  }
}
