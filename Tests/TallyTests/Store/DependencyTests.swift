import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Tasks that are to be done before others.
@Suite struct DependencyTests {
  /// Adds tasks with the numbers from 0 as titles, each of which depends on the one before.
  private func chain(_ count: Int, in store: TaskStore) throws -> [UUID] {
    try store.writeAndWait { transaction in
      var ids: [UUID] = []
      for number in 0..<count {
        ids.append(try transaction.add("\(number)") { $0.dependsOn = TaskIDSet(ids.suffix(1)) }.id)
      }
      return ids
    }
  }

  private func titles(_ view: TaskView, in store: TaskStore) throws -> [String] {
    try store.read { try $0.view(view).tasks.map(\.title) }
  }

  private static let all: TaskView = .matching(.is(.open), by: .next)

  /// Runs a body with a store with two tasks, each of which depends on the other, as documents may have; a third waits.
  private func withCycle(_ body: (TaskStore, [UUID]) throws -> Void) throws {
    let ids = (0..<3).map { _ in UUIDv7.next() }
    func task(_ number: Int, after other: Int) -> String {
      """
      {"id":"\(IDText(ids[number]).text)","text":"\(number)","state":"notStarted","sortOrder":\(number),\
      "createdAt":"2026-11-01T00:00:00Z","updatedAt":"2026-11-01T00:00:00Z","dependsOn":["\(IDText(ids[other]).text)"]}
      """
    }
    try withStore { store in
      try store.importText("{\"tasks\":[\(task(0, after: 1)),\(task(1, after: 0)),\(task(2, after: 1))]}")
      try body(store, ids)
    }
  }

  @Test func noTaskWaitsForItself() throws {
    try withStore { store in
      let ids = try chain(4, in: store)
      for (last, cycle) in [(0, [0]), (1, [0, 1]), (3, [0, 3, 2, 1])] {
        let error = #expect(throws: TallyError.self) {
          try store.writeAndWait { _ = try $0.update(ids[0]) { $0.dependsOn.insert(ids[last]) } }
        }
        #expect(error?.code == .invalidDependency)
        #expect((error?.cause as? RefusedDependency)?.ids == cycle.map { ids[$0] }, "\(last)")
        for number in cycle where last > 0 { #expect(error?.message.contains(IDText(ids[number]).text) == true) }
      }
      // The other way round nothing is wrong, and a completed task closes a cycle, too: it may be reopened.
      try store.writeAndWait { _ = try $0.update(ids[3]) { $0.dependsOn.insert(ids[0]) } }
      try store.writeAndWait { _ = try $0.complete(ids[1]) }
      expect(.invalidDependency) {
        try store.writeAndWait { _ = try $0.update(ids[0]) { $0.dependsOn = [ids[2]] } }
      }
      let (one, other) = (UUID(), UUID())
      expect(.invalidDependency) {
        try store.writeAndWait { transaction in
          try transaction.insert(contentsOf: [
            TaskItem(id: one, title: "x", createdAt: .earliest, dependsOn: [other]),
            TaskItem(id: other, title: "y", createdAt: .earliest, dependsOn: [one]),
          ])
        }
      }
      expect(.invalidDependency) {
        try store.writeAndWait { _ = try $0.add("x") { $0.dependsOn = TaskIDSet((0...64).map { _ in UUID() }) } }
      }
    }
  }

  @Test func aSubtaskDoesNotWaitForATaskAboveIt() throws {
    try withStore { store in
      let (top, middle, low) = try store.writeAndWait { transaction in
        let top = try transaction.add("top").id
        let middle = try transaction.add("middle") { $0.parentID = top }.id
        return (top, middle, try transaction.add("low") { $0.parentID = middle }.id)
      }
      for id in [top, middle] {
        expect(.invalidDependency) { try store.writeAndWait { _ = try $0.update(low) { $0.dependsOn = [id] } } }
      }
      // A task may wait for its sub-tasks, and a sub-task that waits for another task may not be moved below it.
      try store.writeAndWait { _ = try $0.update(top) { $0.dependsOn = [low] } }
      let other = try store.writeAndWait { transaction in
        try transaction.add("other") { $0.dependsOn = [top] }
      }
      expect(.invalidDependency) { try store.writeAndWait { _ = try $0.update(other.id) { $0.parentID = top } } }
      #expect(try titles(.next, in: store) == ["middle", "low"])
    }
  }

  @Test func blockedTasksLeaveNextAndComeLastWhereTheyAreAskedFor() throws {
    try withStore { store in
      let ids = try chain(3, in: store)
      try store.writeAndWait { transaction in
        _ = try transaction.start(ids[2])
        _ = try transaction.update(ids[1]) { $0.priority = .high }
        _ = try transaction.add("free")
      }
      #expect(try titles(.next, in: store) == ["0", "free"])
      #expect(try titles(Self.all, in: store) == ["0", "free", "1", "2"])
      #expect(try titles(.matching(.is(.blocked), by: .created), in: store) == ["1", "2"])
      #expect(try titles(.matching(.is(.blocking), by: .created), in: store) == ["0", "1"])
      #expect(try titles(.matching(.has(.dependencies), by: .created), in: store) == ["1", "2"])
      // Nothing else changes its order.
      #expect(try titles(.inbox, in: store) == ["2", "0", "1", "free"])
      try store.writeAndWait { _ = try $0.complete(ids[0]) }
      #expect(try titles(.next, in: store) == ["1", "free"])
      // A blocked task may be done nevertheless.
      try store.writeAndWait { _ = try $0.complete(ids[2]) }
      try store.writeAndWait { _ = try $0.reopen(ids[0]) }
      #expect(try titles(.next, in: store) == ["0", "free"])
      #expect(try store.read { try $0.blockers(of: ids[1]).map(\.id) } == [ids[0]])
      #expect(try store.read { try $0.blockers(of: ids[2]) } == [])
      #expect(try store.read { try $0.dependents(of: ids[0]).map(\.id) } == [ids[1]])
    }
  }

  @Test func aDeletedTaskBlocksNothingUntilItIsBack() throws {
    try withStore { store in
      let ids = try chain(2, in: store)
      try store.writeAndWait { _ = try $0.delete(ids[0]) }
      #expect(try titles(.next, in: store) == ["1"])
      #expect(try store.read { try $0.task(ids[1])?.dependsOn } == [ids[0]])
      #expect(try store.read { try $0.dependents(of: ids[0]).map(\.id) } == [ids[1]])
      try checkInvariants(of: store)
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try titles(.next, in: store) == ["0"])
    }
  }

  @Test func theNextTaskOfASeriesDependsOnNothing() throws {
    try withStore { store in
      let next = try store.writeAndWait { transaction in
        let first = try transaction.add("first").id
        let task = try transaction.add("every day") { task in
          (task.dependsOn, task.recurrence) = ([first], try Recurrence(text: "FREQ=DAILY"))
        }
        return try transaction.successor(of: try transaction.complete(task.id))
      }
      #expect(next?.dependsOn == [])
      #expect(try titles(.next, in: store) == ["first", "every day"])
    }
  }

  /// Only a store with such tasks gets the feature, and only their export gets the key.
  @Test func aTaskWithoutDependenciesIsStoredAndExportedAsBefore() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("plain").id }
      #expect(try store.read { try !$0.header().requiredFeatures.contains(.taskLife) })
      #expect(try !store.exportedText().contains("dependsOn"))
      try store.writeAndWait { _ = try $0.add("other") { $0.dependsOn = [id] } }
      #expect(try store.read { try $0.header().requiredFeatures.contains(.taskLife) })
      let text = try store.exportedText(.ndjson)
      #expect(text.components(separatedBy: "\"dependsOn\":[\"\(IDText(id).text)\"]").count == 2)
      #expect(text.components(separatedBy: "dependsOn").count == 2)
      try withStore { other in
        try other.importText(text, .ndjson)
        #expect(try other.exportedText(.ndjson) == text)
        #expect(try titles(.next, in: other) == ["plain"])
      }
    }
  }

  @Test func tasksOfACycleDoNotBlockEachOther() throws {
    try withCycle { store, ids in
      #expect(try store.verify().isSound)
      #expect(try titles(.next, in: store) == ["0", "1"])
      #expect(try titles(Self.all, in: store) == ["0", "1", "2"])
      #expect(try titles(.matching(.is(.blocking), by: .created), in: store) == ["1"])
      try store.read { transaction throws in
        #expect(try transaction.dependencyCycle(of: ids[0]).map(\.title) == ["0", "1"])
        #expect(try transaction.dependencyCycle(of: ids[2]) == [])
        #expect(try transaction.blockers(of: ids[0]) == [])
        #expect(try transaction.blockers(of: ids[2]).map(\.title) == ["1"])
      }
      // Other changes of its tasks are accepted. Once one is done, the other one is free, and the cycle may be ended.
      try store.writeAndWait { _ = try $0.update(ids[0]) { $0.title = "renamed" } }
      try store.writeAndWait { _ = try $0.complete(ids[1]) }
      #expect(try titles(.next, in: store) == ["renamed", "2"])
      try store.writeAndWait { _ = try $0.reopen(ids[1]) }
      try store.writeAndWait { _ = try $0.update(ids[0]) { $0.dependsOn = [] } }
      #expect(try titles(Self.all, in: store) == ["renamed", "1", "2"])
      #expect(try titles(.next, in: store) == ["renamed"])
    }
  }

  @Test func aLongChainNeedsNoDeepStackAndOneVisitOfEachTask() throws {
    try withStore { store in
      let count = 20_000
      let ids = (0..<count).map { _ in UUIDv7.next() }
      try store.writeAndWait { transaction in
        try transaction.insert(
          contentsOf: ids.indices.map { number in
            let before = number == 0 ? TaskIDSet() : [ids[number - 1]]
            return TaskItem(id: ids[number], title: "\(number)", createdAt: .earliest, dependsOn: before)
          })
      }
      #expect(try titles(.next, in: store) == ["0"])
      #expect(try store.read { try $0.count(.is(.blocked)) } == count - 1)
      // The first tasks come in the order in which they are to be done; after the 154th the rank has no more room.
      let first = try store.read { try $0.page(of: Self.all, limit: 150).tasks.map(\.title) }
      #expect(first == (0..<150).map { "\($0)" })
      var lookups = 0
      let graph = BlockingGraph()
      try store.read { transaction throws in
        for id in ids.reversed() {
          _ = try graph.rank(of: id) {
            lookups += 1
            return try transaction.dependencies(of: $0)
          }
        }
      }
      #expect(lookups == count)
      // A cycle of more tasks than are looked at is stored, and blocks nothing.
      try store.writeAndWait { _ = try $0.update(ids[0]) { $0.dependsOn = [ids[count - 1]] } }
      #expect(try titles(.next, in: store).count == count)
    }
  }

  @Test func theNextTasksAreFollowedWhenATaskIsDone() throws {
    try withStore { store in
      let ids = try chain(4, in: store)
      var next = try store.read { try ObservedView(.next, in: $0) }
      var all = try store.read { try ObservedView(Self.all, in: $0) }
      func follow(_ change: (inout StoreWriteTransaction) throws -> Void) throws -> ViewDifference {
        try store.writeAndWait(change)
        let difference = try store.read { try next.follow($0) }
        _ = try store.read { try all.follow($0) }
        #expect(try Array(next.tasks) == store.read { try $0.view(.next).tasks })
        #expect(try Array(all.tasks) == store.read { try $0.view(Self.all).tasks })
        return difference
      }
      let done = try follow { _ = try $0.complete(ids[0]) }
      #expect(done.removals == [0] && done.insertions.map(\.task.id) == [ids[1]])
      let back = try follow { _ = try $0.undo() }
      #expect(back.removals == [0] && back.insertions.map(\.task.id) == [ids[0]])
      let removed = try follow { _ = try $0.delete(ids[1]) }
      #expect(removed.removals == [] && removed.insertions.map(\.task.id) == [ids[2]])
      _ = try follow { _ = try $0.update(ids[3]) { $0.dependsOn = [] } }
      _ = try follow { _ = try $0.update(ids[2]) { $0.dependsOn = [ids[0]] } }
      #expect(next.counts.viewReadCount == 1 && all.counts.viewReadCount == 1)
    }
  }

  @Test func anotherProcessBringsATaskIntoNext() async throws {
    try await withStore { store in
      let ids = try chain(2, in: store)
      var tasks: [TaskItem] = []
      for try await update in store.observe(.next) {
        switch update {
        case .snapshot(let view):
          tasks = view.tasks
          #expect(try HelperProcess("complete", store.directory, 0).lines() == ["done"])
        case .difference(let difference): tasks = difference.applied(to: tasks)
        }
        if tasks.map(\.id) == [ids[1]] { break }
      }
      #expect(store.observationCounts.viewReadCount == 1)
    }
  }
}
