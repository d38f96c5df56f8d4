import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Dependencies that several devices write.
struct DependencyMergeTests {
  /// Runs a body with two devices that have three tasks.
  private func withTasks(_ body: (FolderSpace, [UUID]) async throws -> Void) async throws {
    try await withFolderSpace { space in
      let ids = try await space.stores[0].write { transaction in
        try (0..<3).map { try transaction.add("\($0)").id }
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, ids)
      try await space.expectEqualStores()
      for store in space.stores { try checkInvariants(of: store) }
    }
  }

  private func dependencies(of id: UUID, in space: FolderSpace) throws -> [TaskIDSet?] {
    try space.stores.map { store in try store.read { try $0.task(id)?.dependsOn } }
  }

  @Test func bothDevicesKeepWhatTheOtherAdded() async throws {
    try await withTasks { space, ids in
      for number in 0...1 {
        try await space.stores[number].write { _ = try $0.update(ids[2]) { $0.dependsOn = [ids[number]] } }
      }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[2], in: space).allSatisfy { $0 == [ids[0], ids[1]] })
      // What one removes stays removed, although the other writes something else of the task.
      try await space.stores[0].write { _ = try $0.update(ids[2]) { $0.dependsOn.remove(ids[0]) } }
      try await space.stores[1].write { _ = try $0.update(ids[2]) { $0.title = "renamed" } }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[2], in: space).allSatisfy { $0 == [ids[1]] })
      #expect(try await space.sync(0).conflicts().isEmpty)
    }
  }

  /// A change of one element is undone by itself; what the other device added stays.
  @Test func undoLeavesWhatTheOtherDeviceAdded() async throws {
    try await withTasks { space, ids in
      try await space.stores[0].write { _ = try $0.update(ids[2]) { $0.dependsOn = [ids[0]] } }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.update(ids[2]) { $0.dependsOn.insert(ids[1]) } }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[2], in: space).allSatisfy { $0 == [ids[1]] })
    }
  }

  /// Neither device can know that the other closes the cycle.
  @Test func aCycleOfTwoDevicesBlocksNobodyAndLosesNothing() async throws {
    try await withTasks { space, ids in
      try await space.stores[0].write { _ = try $0.update(ids[0]) { $0.dependsOn = [ids[1]] } }
      try await space.stores[1].write { transaction in
        _ = try transaction.update(ids[1]) { $0.dependsOn = [ids[0]] }
        _ = try transaction.update(ids[2]) { $0.dependsOn = [ids[1]] }
      }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[0], in: space).allSatisfy { $0 == [ids[1]] })
      #expect(try dependencies(of: ids[1], in: space).allSatisfy { $0 == [ids[0]] })
      for store in space.stores {
        #expect(try store.verify().isSound)
        try store.read { transaction throws in
          #expect(try transaction.view(.next).tasks.map(\.title) == ["0", "1"])
          #expect(try Set(transaction.dependencyCycle(of: ids[0]).map(\.id)) == [ids[0], ids[1]])
        }
      }
      // Either device ends it for both.
      try await space.stores[1].write { _ = try $0.update(ids[0]) { $0.dependsOn = [] } }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.next).tasks.map(\.title) } == ["0"]) }
    }
  }

  /// Each device may add as many as a task can have; those without room come back when others go.
  @Test func moreThanATaskCanHaveAreKept() async throws {
    try await withTasks { space, ids in
      let others = (0..<80).map { _ in UUID() }
      for number in 0...1 {
        let own = TaskIDSet(others[(40 * number)..<(40 * number + 40)])
        try await space.stores[number].write { _ = try $0.update(ids[0]) { $0.dependsOn = own } }
      }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[0], in: space).allSatisfy { $0?.count == TaskIDSet.maximumCount })
      try await space.expectEqualStores()
      try await space.stores[1].write { _ = try $0.update(ids[0]) { $0.dependsOn = [] } }
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[0], in: space).allSatisfy { $0?.count == 16 })
    }
  }

  @Test func aDeletedTaskComesBackWithItsDependencies() async throws {
    try await withTasks { space, ids in
      try await space.stores[0].write { _ = try $0.update(ids[1]) { $0.dependsOn = [ids[0]] } }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.delete(ids[1]) }
      try await space.synchronizeAll()
      try await space.sync(1).restore([ids[1]])
      try await space.synchronizeAll()
      #expect(try dependencies(of: ids[1], in: space).allSatisfy { $0 == [ids[0]] })
    }
  }

  /// A device without the program that knows dependencies carries the set on, whole.
  @Test func theSetHasTheNumberThatOlderVersionsCarryOn() throws {
    #expect(ObjectState.Field.dependencies.number == 21)
    #expect(SyncFields.dependencies.rawValue == 1 << 21)
    #expect(ObjectState.Field.dependencies.isContent)
    #expect(!TaskItem.fields.contains(.dependencies))
  }
}
