import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Reminders that several devices write.
struct ReminderMergeTests {
  /// Runs a body with two devices that have a task with one reminder.
  private func withTask(_ body: (FolderSpace, UUID, Timestamp) async throws -> Void) async throws {
    try await withFolderSpace { space in
      let first = space.clock.now.adding(seconds: 86_400)
      let id = try await space.stores[0].write { try $0.add("x") { $0.reminders = [.at(first)] } }.id
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, id, first)
      try await space.expectEqualStores()
      for store in space.stores { try checkInvariants(of: store) }
    }
  }

  private func reminders(of id: UUID, in space: FolderSpace) throws -> [Set<Reminder>] {
    try space.stores.map { store in Set(try store.read { try $0.task(id)?.reminders } ?? []) }
  }

  @Test func bothDevicesKeepWhatTheOtherAdded() async throws {
    try await withTask { space, id, first in
      let added: [Reminder] = [.at(first.adding(seconds: -3_600)), .before(try RelativeReminder(daysBefore: 1))]
      for number in 0...1 {
        try await space.stores[number].write { _ = try $0.update(id) { $0.reminders.append(added[number]) } }
      }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0 == Set([.at(first)] + added) })
      // What one removes stays removed, although the other writes something else of the task.
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders.removeAll { $0 == added[0] } } }
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "renamed" } }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0 == [.at(first), added[1]] })
      #expect(try await space.sync(0).conflicts().isEmpty)
    }
  }

  /// One that becomes the first reminder leaves the set, so that it does not come back when it moves.
  @Test func aReminderThatMovesBetweenTheFieldsStaysOne() async throws {
    try await withTask { space, id, first in
      let second = first.adding(seconds: 600)
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders.append(.at(second)) } }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders = [.at(second)] } }
      try await space.synchronizeAll()
      let third = second.adding(seconds: 600)
      try await space.stores[1].write { _ = try $0.update(id) { $0.reminders = [.at(third)] } }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0 == [.at(third)] })
      // Two devices set the same one, each in another field.
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders.append(.at(first)) } }
      try await space.stores[1].write { _ = try $0.update(id) { $0.reminderDate = first } }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { store in try store.read { try $0.task(id)?.reminders } == [.at(first)] })
    }
  }

  /// A change of one element is undone by itself; what the other device added stays.
  @Test func undoLeavesWhatTheOtherDeviceAdded() async throws {
    try await withTask { space, id, first in
      let added = (1...2).map { Reminder.at(first.adding(seconds: Int64($0))) }
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders.append(added[0]) } }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.update(id) { $0.reminders.append(added[1]) } }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0 == [.at(first), added[1]] })
    }
  }

  /// Each device may add as many as a task can have; those without room come back when others go.
  @Test func moreThanATaskCanHaveAreKept() async throws {
    try await withTask { space, id, first in
      for number in 0...1 {
        let own = (1...20).map { Reminder.at(first.adding(seconds: Int64(20 * number + $0))) }
        try await space.stores[number].write { _ = try $0.update(id) { $0.reminders += own } }
      }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0.count == ReminderSet.maximumCount + 1 })
      try await space.stores[1].write { _ = try $0.update(id) { $0.reminders = [.at(first)] } }
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0.count == 9 })
    }
  }

  @Test func aDeletedTaskComesBackWithItsReminders() async throws {
    try await withTask { space, id, first in
      let added = Reminder.before(try RelativeReminder(minutesBefore: 90, .scheduled))
      try await space.stores[0].write { _ = try $0.update(id) { $0.reminders.append(added) } }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.delete(id) }
      try await space.synchronizeAll()
      try await space.sync(1).restore([id])
      try await space.synchronizeAll()
      #expect(try reminders(of: id, in: space).allSatisfy { $0 == [.at(first), added] })
    }
  }

  /// A device without the program that knows them carries the set on, whole, and reads the register as before.
  @Test func theSetHasTheNumberThatOlderVersionsCarryOn() throws {
    #expect(ObjectState.Field.reminders.number == 22)
    #expect(SyncFields.reminders.rawValue == 1 << 22)
    #expect(ObjectState.Field.reminders.isContent)
    #expect(!TaskItem.fields.contains(.reminders))
    var task = TaskItem(title: "x", reminderDate: .latest, createdAt: .earliest)
    let value = task.value(of: .reminder)
    task.otherReminders = [.at(.earliest)]
    #expect(task.value(of: .reminder) == value)
  }
}
