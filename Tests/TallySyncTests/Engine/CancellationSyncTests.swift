import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Cancelled tasks on several devices.
struct CancellationSyncTests {
  private func states(of id: UUID, in space: FolderSpace) throws -> [TaskState?] {
    try space.stores.map { store in try store.read { try $0.task(id) }?.state }
  }

  @Test func aCancellationArrivesAndIsTakenBack() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let task = try transaction.add("one")
        return try transaction.start(task.id).id
      }
      try await space.synchronizeAll()
      let cancelled = try await space.stores[0].write { try $0.cancel(id) }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(id) }?.cancelledAt == cancelled.cancelledAt)
      #expect(try space.stores.allSatisfy { try $0.statistics().open.total == 0 })
      // Versions that do not know cancelled tasks see one that is not started.
      let state = try space.stores[1].readSynchronization {
        try StateTable(in: $0).state(of: ObjectKey(isList: false, id: id), in: $0)
      }
      #expect(state.registers[.progress]?.value == [] && state.completion == nil)
      #expect(state.registers[ObjectState.Field(19)]?.value.count == 10)
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.reopen(id) }
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.notStarted, .notStarted])
      try await space.stores[0].write { _ = try $0.cancel(id) }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.notStarted, .notStarted])
      try await space.expectEqualStores()
    }
  }

  @Test(arguments: [false, true])
  func aCompletionStandsBesideACancellationAndReopeningTakesBothBack(isCancelledLater: Bool) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one").id }
      try await space.synchronizeAll()
      for number in isCancelledLater ? [0, 1] : [1, 0] {
        space.clock.now = space.clock.now.adding(seconds: 60)
        try await space.stores[number].write { transaction in
          _ = try number == 0 ? transaction.complete(id) : transaction.cancel(id)
        }
      }
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.completed, .completed])
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(id) }?.cancelledAt == nil })
      #expect(try space.stores.allSatisfy { try $0.statistics().completed.allTime == 1 })
      try await space.expectEqualStores()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.reopen(id) }
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.notStarted, .notStarted])
      try await space.expectEqualStores()
    }
  }

  @Test func aSkippedOccurrenceOnTwoDevicesHasOneNextTask() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let recurrence = try Recurrence(phrase: "every day")
        return try transaction.add("one", to: .today) { $0.recurrence = recurrence }.id
      }
      try await space.synchronizeAll()
      for store in space.stores { try await store.write { _ = try $0.cancel(id) } }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.taskCount } == 2) }
      try await space.expectEqualStores()
    }
  }

  @Test func aCancellationThatLosesToAReopeningIsKept() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one").id }
      try await space.stores[0].write { _ = try $0.cancel(id) }
      try await space.synchronizeAll()
      let earlier = try OffsetTimestamp(iso8601: "2026-11-01T10:00:00Z")
      try await space.stores[1].write { _ = try $0.cancel(id, at: earlier) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.reopen(id) }
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.notStarted, .notStarted])
      let conflict = try #require(try await space.sync(0).conflicts().first)
      #expect(conflict.field == "cancelledAt" && conflict.lost == earlier.iso8601)
      try await space.sync(0).restoreConflict(conflict.id)
      try await space.synchronizeAll()
      #expect(try states(of: id, in: space) == [.cancelled, .cancelled])
      #expect(try space.stores[1].read { try $0.task(id) }?.cancelledAt == earlier)
      try await space.expectEqualStores()
    }
  }
}
