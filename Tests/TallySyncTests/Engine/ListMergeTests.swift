import Foundation
import Tally
import TallyTestSupport
import Testing

@testable import TallySync

/// Lists that several devices merge, without knowing of each other.
struct ListMergeTests {
  /// Each store, offline, creates a list with the same name and a task in it.
  private func withListsOfOneName(
    _ count: Int = 2, _ body: (FolderSpace, [UUID]) async throws -> Void
  ) async throws {
    try await withFolderSpace(count) { space in
      var lists: [UUID] = []
      for (number, store) in space.stores.enumerated() {
        space.clock.now = space.clock.now.adding(seconds: 1)
        let list = try await store.write { transaction in
          let list = try transaction.addList(name: "Groceries").id
          try transaction.add("task \(number)", to: .list(list))
          return list
        }
        lists.append(list)
      }
      try await space.synchronizeAll()
      try await body(space, lists)
    }
  }

  /// Expects that all tasks of all stores are in one list.
  private func expectOneList(
    _ space: FolderSpace, taskCount: Int, among lists: [UUID], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for store in space.stores {
      let (found, tasks) = try store.read { (try $0.lists().map(\.id), try $0.view(.all).tasks) }
      #expect(found.count == 1 && lists.contains(found.first ?? UUID()), sourceLocation: sourceLocation)
      #expect(tasks.count == taskCount && tasks.allSatisfy { $0.listID == found.first }, sourceLocation: sourceLocation)
    }
    try await space.expectEqualStores(sourceLocation: sourceLocation)
  }

  @Test func anExchangeSaysWhichListsHaveOneName() async throws {
    try await withFolderSpace(3) { space in
      for (number, name) in ["Groceries", "groceries", "Other"].enumerated() {
        try await space.stores[number].write { _ = try $0.addList(name: name) }
      }
      try await space.sync(0).synchronize()
      let report = try await space.sync(1).synchronize()
      #expect(report.listsOfOneName.map { Set($0.map(\.name)) } == [["Groceries", "groceries"]])
      // The next exchange does not say it again, because it brings no list.
      #expect(try await space.sync(1).synchronize().listsOfOneName == [])
      #expect(try await space.sync(2).synchronize().listsOfOneName.count == 1)
    }
  }

  @Test func mergedListsAreOneEverywhere() async throws {
    try await withListsOfOneName(3) { space, lists in
      try await space.stores[1].write { transaction in
        for id in lists[1...] { try transaction.mergeList(id, into: lists[0]) }
      }
      try await space.synchronizeAll()
      try await expectOneList(space, taskCount: 3, among: [lists[0]])
    }
  }

  /// The list is deleted later: its tasks of other devices go to the inbox, as those of any deleted list.
  @Test(arguments: [true, false]) func aMergeThatWasUndoneTakesNoTasks(isSentBetween: Bool) async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { _ = try $0.mergeList(lists[0], into: lists[1]) }
      if isSentBetween { try await space.synchronizeAll() }
      try await space.stores[0].write { _ = try $0.undo() }
      if isSentBetween { try await space.synchronizeAll() }
      let late = try await space.stores[1].write { try $0.add("late", to: .list(lists[0])).id }
      space.clock.now = space.clock.now.adding(seconds: 1)
      try await space.stores[0].write { _ = try $0.deleteList(lists[0]) }
      for _ in 0..<2 { try await space.synchronizeAll() }
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(late) })
        #expect(task.listID == nil)
      }
      try await space.expectEqualStores()
    }
  }

  @Test(arguments: [true, false]) func mergesInOppositeDirectionsLoseNeitherListNorTask(isAtOnce: Bool) async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { _ = try $0.mergeList(lists[0], into: lists[1]) }
      if !isAtOnce { space.clock.now = space.clock.now.adding(seconds: 5) }
      try await space.stores[1].write { _ = try $0.mergeList(lists[1], into: lists[0]) }
      try await space.synchronizeAll()
      try await space.synchronizeAll()
      try await expectOneList(space, taskCount: 2, among: lists)
    }
  }

  @Test func mergesInARingOfThreeLeaveOneList() async throws {
    try await withListsOfOneName(3) { space, lists in
      for number in 0..<3 {
        try await space.stores[number].write { _ = try $0.mergeList(lists[number], into: lists[(number + 1) % 3]) }
      }
      for _ in 0..<2 { try await space.synchronizeAll() }
      try await expectOneList(space, taskCount: 3, among: lists)
    }
  }

  @Test func twoEmptyListsThatWereMergedIntoEachOtherLeaveOne() async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { transaction in
        for task in try transaction.view(.all).tasks { try transaction.delete(task.id) }
      }
      try await space.synchronizeAll()
      for number in 0...1 {
        try await space.stores[number].write { _ = try $0.mergeList(lists[number], into: lists[1 - number]) }
      }
      for _ in 0..<2 { try await space.synchronizeAll() }
      try await expectOneList(space, taskCount: 0, among: lists)
      // The list that is left can be deleted for good.
      let left = try #require(try space.stores[0].read { try $0.lists().first })
      try await space.stores[0].write { try $0.deleteList(left.id) }
      for _ in 0..<2 { try await space.synchronizeAll() }
      for store in space.stores { #expect(try store.read { try $0.lists() } == []) }
    }
  }

  @Test func aTaskThatAnotherDeviceAddsToAMergedListGoesWithIt() async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { _ = try $0.mergeList(lists[1], into: lists[0]) }
      try await space.stores[1].write { transaction in
        try transaction.add("late", to: .list(lists[1]))
        let parent = try transaction.add("with a part", to: .list(lists[1])).id
        try transaction.add("part", to: .inbox) { $0.parentID = parent }
      }
      try await space.synchronizeAll()
      try await space.synchronizeAll()
      try await expectOneList(space, taskCount: 5, among: [lists[0]])
      // Undo takes back the merge, and not what followed from it.
      try await space.stores[0].write { _ = try $0.undo() }
      #expect(try space.stores[0].read { try $0.lists().count } == 2)
    }
  }

  @Test func aChainOfMergesLeadsToItsEnd() async throws {
    try await withListsOfOneName(3) { space, lists in
      try await space.stores[0].write { _ = try $0.mergeList(lists[0], into: lists[1]) }
      try await space.stores[1].write { _ = try $0.mergeList(lists[1], into: lists[2]) }
      try await space.stores[2].write { _ = try $0.add("late", to: .list(lists[0])) }
      for _ in 0..<2 { try await space.synchronizeAll() }
      try await expectOneList(space, taskCount: 4, among: [lists[2]])
    }
  }

  @Test func aTaskOfADeletedListStaysInTheInbox() async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { _ = try $0.deleteList(lists[1]) }
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { _ = try $0.add("late", to: .list(lists[1])) }
      for _ in 0..<2 { try await space.synchronizeAll() }
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["late"]) }
    }
  }

  /// A list whose merge was undone, and which was then deleted on purpose, does not come back.
  @Test func aMergeThatWasTakenBackIsNoneAnyMore() async throws {
    try await withListsOfOneName { space, lists in
      try await space.stores[0].write { _ = try $0.mergeList(lists[0], into: lists[1]) }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[0].write { _ = try $0.mergeList(lists[1], into: lists[0]) }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { try $0.deleteList(lists[0]) }
      for _ in 0..<2 { try await space.synchronizeAll() }
      for store in space.stores { #expect(try store.read { try $0.lists() } == []) }
      try await space.expectEqualStores()
    }
  }
}
