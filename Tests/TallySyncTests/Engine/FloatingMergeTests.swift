import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// The times of a series are wall-clock times on every device, whatever zone it is in.
struct FloatingMergeTests {
  private static let nine = "2026-11-23T09:00:00"

  private func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  /// Runs a body with a device in Berlin that has pills every day at nine, and one in New York.
  private func withPills(_ body: (FolderSpace, UUID) async throws -> Void) async throws {
    try await withFolderSpace { space in
      for (number, zone) in ["Europe/Berlin", "America/New_York"].enumerated() {
        var configuration = TaskStore.Configuration.testing(clock: space.clock)
        configuration.calendar.timeZone = try #require(TimeZone(identifier: zone))
        let directory = space.stores[number].directory
        try space.stores[number].close()
        space.replace(number, with: try TaskStore(at: directory, configuration: configuration))
      }
      let id = try await space.stores[0].write { transaction in
        try transaction.add("pills") { task in
          task.recurrence = try Recurrence(text: "FREQ=DAILY")
          task.dueDate = try instant(Self.nine + "+01:00")
          task.reminderDate = task.dueDate
        }.id
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, id)
      for _ in 0..<2 { try await space.synchronizeAll() }
      let stored = try space.stores.map { store in
        try store.read { transaction in
          try transaction.view(.all).tasks.map { task in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(task.stored)
          }
        }
      }
      #expect(stored[0] == stored[1], "the records of the two devices are the same")
      let hashes = [try await space.sync(0).status().stateHash, try await space.sync(1).status().stateHash]
      #expect(hashes[0] != nil && hashes[0] == hashes[1])
    }
  }

  /// A sub-task of the next task floats as well, on every device.
  @Test(arguments: [false, true]) func aSubtaskFloatsOnEveryDevice(hasTime: Bool) async throws {
    try await withPills { space, id in
      if !hasTime {
        try await space.stores[0].write { transaction in
          try transaction.updateSeries(of: id) { task in
            (task.scheduledDate, task.dueDate) = (try CalendarDay(iso8601: "2026-11-23"), nil)
            task.reminders = []
          }
        }
      }
      let reminder = try instant("2026-11-23T08:00:00+01:00")
      try await space.stores[0].write { transaction in
        _ = try transaction.add("glass") { ($0.parentID, $0.reminderDate) = (id, reminder) }
        try transaction.complete(id)
      }
      for _ in 0..<2 { try await space.synchronizeAll() }
      for (store, shown) in zip(space.stores, ["2026-11-24T08:00:00+01:00", "2026-11-24T08:00:00-05:00"]) {
        let open = try store.read { try $0.view(.all).tasks.filter { $0.title == "glass" && $0.isOpen } }
        #expect(open.map(\.reminderDate) == [try instant(shown)])
      }
    }
  }

  private func due(_ id: UUID, on number: Int, of space: FolderSpace) throws -> Timestamp? {
    try space.stores[number].read { try $0.task(id)?.dueDate }
  }

  private func next(_ id: UUID, on number: Int, of space: FolderSpace) throws -> TaskItem? {
    try space.stores[number].read { transaction in
      try transaction.task(id).flatMap { try transaction.successor(of: $0) }
    }
  }

  @Test func nineIsNineOnBoth() async throws {
    try await withPills { space, id in
      #expect(try due(id, on: 0, of: space) == instant(Self.nine + "+01:00"))
      #expect(try due(id, on: 1, of: space) == instant(Self.nine + "-05:00"))
      // A change of something else sends nothing about the times.
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "vitamins" } }
      try await space.synchronizeAll()
      #expect(try due(id, on: 0, of: space) == instant(Self.nine + "+01:00"))
      try await space.stores[1].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      #expect(try next(id, on: 0, of: space)?.dueDate == instant("2026-11-24T09:00:00+01:00"))
      #expect(try next(id, on: 1, of: space)?.dueDate == instant("2026-11-24T09:00:00-05:00"))
    }
  }

  /// Both complete it and so make the next one, each with the instants of its own zone.
  @Test func aTaskThatBothMakeFloatsOnBoth() async throws {
    try await withPills { space, id in
      for store in space.stores {
        try await store.write { _ = try $0.complete(id) }
        space.clock.now = space.clock.now.adding(seconds: 5)
      }
      for _ in 0..<2 { try await space.synchronizeAll() }
      #expect(try next(id, on: 0, of: space)?.dueDate == instant("2026-11-24T09:00:00+01:00"))
      #expect(try next(id, on: 1, of: space)?.dueDate == instant("2026-11-24T09:00:00-05:00"))
    }
  }

  @Test func whatOneMovesIsAnInstantOnBoth() async throws {
    try await withPills { space, id in
      let moved = try instant("2026-11-23T11:30:00-05:00")
      try await space.stores[1].write { _ = try $0.update(id, keepingReminder: true) { $0.dueDate = moved } }
      try await space.synchronizeAll()
      for number in 0..<2 { #expect(try due(id, on: number, of: space) == moved) }
      let reminders = try space.stores.map { store in try store.read { try $0.task(id)?.reminderDate } }
      #expect(try reminders == [instant(Self.nine + "+01:00"), instant(Self.nine + "-05:00")])
    }
  }

  /// A device that does not know wall-clock times writes the instant alone, which ends the time on the others.
  @Test func anOlderDeviceEndsItByMovingTheTask() async throws {
    try await withPills { space, id in
      let moved = try instant("2026-11-23T12:00:00Z")
      let object = ObjectKey(isList: false, id: id)
      let state = try await space.stores[0].write { try StateTable(in: $0).state(of: object, in: $0) }
      #expect(state.registers[.floating]?.value.isEmpty == false)
      var known = state
      var task = TaskItem(id: id, title: "", createdAt: .earliest)
      task.dueDate = moved
      known.join(known.setting(.due, to: task.value(of: .due), at: .max, by: ReplicaID(UUID())))
      let merged = try known.task(id, at: Outline.Place())
      #expect(merged?.dueDate == moved && merged?[.floatingDue] == nil && merged?[.floatingReminder] != nil)
    }
  }
}
