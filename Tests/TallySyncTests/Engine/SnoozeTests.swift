import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Reminders that move with their day, or are put off for once, on several devices.
struct SnoozeTests {
  /// Runs a body with two devices that have a task for today with a reminder.
  private func withTask(
    repeating recurrence: String? = "every day", _ body: (FolderSpace, TaskItem) async throws -> Void
  ) async throws {
    try await withFolderSpace { space in
      let task = try await space.stores[0].write { transaction in
        let reminder = transaction.now.adding(seconds: 600)
        return try transaction.add("Pills", to: .today) { task in
          task.reminderDate = reminder
          task.recurrence = try recurrence.map { try Recurrence(phrase: $0) }
        }
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, task)
      try await space.expectEqualStores()
    }
  }

  @Test func aReminderThatMovedWithItsDayArrivesBesideWhatAnotherDeviceWrote() async throws {
    try await withTask(repeating: nil) { space, task in
      try await space.stores[0].write { _ = try $0.schedule(task.id, on: try $0.today.adding(days: 1)) }
      try await space.stores[1].write { _ = try $0.update(task.id) { $0.title = "Pills and water" } }
      try await space.synchronizeAll()
      for store in space.stores {
        let merged = try #require(try store.read { try $0.task(task.id) })
        #expect(merged.title == "Pills and water")
        #expect(merged.scheduledDate == (try task.scheduledDate?.adding(days: 1)))
        #expect(merged.reminderDate == task.reminderDate?.adding(seconds: 86_400))
      }
    }
  }

  /// The device that completes the task has only received the snooze.
  @Test(arguments: [0, 1]) func theNextTaskHasTheReminderOfTheSeriesOnEveryDevice(_ completing: Int) async throws {
    try await withTask { space, task in
      try await space.stores[0].write { _ = try $0.snooze(task.id, until: $0.now.adding(seconds: 7_200)) }
      try await space.synchronizeAll()
      let next = try await space.stores[completing].write { transaction in
        try #require(try transaction.successor(of: try transaction.complete(task.id)))
      }
      try await space.synchronizeAll()
      for store in space.stores {
        let stored = try #require(try store.read { try $0.task(next.id) })
        #expect(stored.reminderDate == task.reminderDate?.adding(seconds: 86_400))
        #expect(stored.attributes.isEmpty)
      }
    }
  }

  /// One device snoozes, the other sets a reminder of the series later: the person's new time holds for the series.
  @Test func aReminderThatAnotherDeviceSetLaterHoldsForTheSeries() async throws {
    try await withTask { space, task in
      try await space.stores[0].write { _ = try $0.snooze(task.id, until: $0.now.adding(seconds: 7_200)) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      let later = try #require(task.reminderDate).adding(seconds: 1_800)
      try await space.stores[1].write { _ = try $0.updateSeries(of: task.id) { $0.reminderDate = later } }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.task(task.id) }?.reminderDate == later) }
      let next = try await space.stores[0].write { transaction in
        try #require(try transaction.successor(of: try transaction.complete(task.id)))
      }
      #expect(next.reminderDate == later.adding(seconds: 86_400))
      try await space.synchronizeAll()
    }
  }

  /// A device with an older version copies the note into the next task; there it names another reminder and says nothing.
  @Test func aNoteThatAnOlderVersionCopiedIsVoid() async throws {
    try await withTask { space, task in
      let snoozed = try await space.stores[0].write { try $0.snooze(task.id, until: $0.now.adding(seconds: 7_200)) }
      try await space.synchronizeAll()
      let next = try await space.stores[1].write { transaction in
        let next = try #require(try transaction.successor(of: try transaction.complete(task.id)))
        var copied = next
        copied.attributes = snoozed.attributes
        copied.reminderDate = snoozed.reminderDate?.adding(seconds: 86_400)
        try transaction.put(copied)
        return copied
      }
      try await space.synchronizeAll()
      let last = try await space.stores[0].write { transaction in
        try #require(try transaction.successor(of: try transaction.complete(next.id)))
      }
      #expect(last.reminderDate == task.reminderDate?.adding(seconds: 2 * 86_400))
      #expect(last.attributes.isEmpty)
      try await space.synchronizeAll()
    }
  }
}
