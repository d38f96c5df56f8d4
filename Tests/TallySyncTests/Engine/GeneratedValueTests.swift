import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// A generated value never beats what a person has written.
struct GeneratedValueTests {
  /// Runs a body with two devices that have a task which repeats every day.
  private func withSeries(_ body: (FolderSpace, UUID) async throws -> Void) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("water", to: .inbox) { $0.recurrence = try Recurrence(phrase: "every day") }.id
      }
      try await space.synchronizeAll()
      try await body(space, id)
    }
  }

  /// Completes a task; the id of the next one of its series.
  private func complete(_ id: UUID, in store: TaskStore) async throws -> UUID {
    try await store.write { transaction in
      let task = try transaction.complete(id)
      return try #require(try transaction.successor(of: task)).id
    }
  }

  /// Two devices complete a repeating task; on one, a person edits the next task before the other device makes it, too.
  @Test(arguments: [0, 1]) func theNextTaskKeepsWhatAPersonWrote(_ first: Int) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let id = try transaction.add("water", to: .inbox) { task in
          (task.notes, task.tags) = ("notes", ["a"])
          task.recurrence = try Recurrence(phrase: "every day")
        }.id
        _ = try transaction.add("part", to: .inbox) { $0.parentID = id }
        return id
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      let next = try await space.stores[first].write { transaction in
        let task = try transaction.complete(id)
        return try #require(try transaction.successor(of: task))
      }
      let part = try #require(try space.stores[first].read { try $0.subtasks(of: next.id).first })
      try await space.stores[first].write { transaction in
        _ = try transaction.update(next.id) {
          ($0.title, $0.notes, $0.dueDay) = ("mine", nil, CalendarDay(clamping: 9))
        }
        _ = try transaction.update(part.id) { $0.title = "my part" }
      }
      try await space.sync(first).synchronize()
      try await space.stores[first].write { _ = try $0.update(next.id) { $0.tags = [] } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1 - first].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(next.id) })
        #expect(task.title == "mine" && task.notes == nil && task.dueDay == CalendarDay(clamping: 9))
        #expect(task.tags.isEmpty)
        #expect(try store.read { try $0.task(part.id) }?.title == "my part")
      }
      for number in 0...1 { #expect(try await space.sync(number).conflicts().isEmpty) }
    }
  }

  /// A completion is undone, and the next task that it had made is restored from the trash: its values are still the program's.
  @Test func aRestoredNextTaskKeepsWhatAPersonWroteElsewhere() async throws {
    try await withSeries { space, id in
      let next = try await complete(id, in: space.stores[1])
      try await space.stores[1].write { _ = try $0.update(next) { $0.title = "mine" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.complete(id) }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.sync(0).restore([next])
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.task(next) }?.title == "mine") }
      try await space.expectEqualStores()
    }
  }

  /// Everything happens in one instant, as by a clock that stands still: an undo leads back to what a person wrote before,
  /// which is not the program's though it has the time at which the program made the task.
  @Test(arguments: [0, 60]) func anUndoLeadsBackToWhatAPersonWrote(_ seconds: Int64) async throws {
    try await withSeries { space, id in
      let next = try await complete(id, in: space.stores[1])
      space.clock.now = space.clock.now.adding(seconds: seconds)
      for text in ["mine", "gone"] {
        try await space.stores[1].write { transaction in
          _ = try transaction.update(next) { task in
            (task.title, task.notes, task.tags) = (text, text, [text])
            task.dueDay = CalendarDay(clamping: text == "mine" ? 9 : 10)
          }
        }
      }
      try await space.stores[1].write { _ = try $0.undo() }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(next) })
        #expect(task.title == "mine" && task.notes == "mine" && task.tags == ["mine"])
        #expect(task.dueDay == CalendarDay(clamping: 9))
      }
      try await space.expectEqualStores()
    }
  }

  /// A person deletes the next task; another device makes it later.
  @Test func theNextTaskThatAPersonDeletedStaysDeleted() async throws {
    try await withSeries { space, id in
      let next = try await complete(id, in: space.stores[0])
      try await space.stores[0].write { _ = try $0.delete(next) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(next) == nil } })
      try await space.expectEqualStores()
    }
  }

  /// A person edits and deletes the next task before anything was sent; the trash keeps what was written.
  @Test func whatAPersonWroteToADeletedNextTaskStaysInTheTrash() async throws {
    try await withSeries { space, id in
      let next = try await complete(id, in: space.stores[0])
      try await space.stores[0].write { _ = try $0.update(next) { $0.title = "mine" } }
      try await space.stores[0].write { _ = try $0.delete(next) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      #expect(try await space.sync(0).trash().map(\.name) == ["mine"])
      try await space.sync(0).restore([next])
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(next) }?.title == "mine")
      try await space.expectEqualStores()
    }
  }

  /// Reopening deletes the next task, unless somebody has edited it elsewhere.
  @Test func reopeningDoesNotDeleteWhatAPersonEdited() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("water", to: .inbox) { $0.recurrence = try Recurrence(phrase: "every day") }.id
      }
      let next = try await complete(id, in: space.stores[0])
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.update(next) { $0.notes = "mine" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.reopen(id) }
      #expect(try space.stores[0].read { try $0.task(next) } == nil)
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(next) }?.notes == "mine")
      try await space.expectEqualStores()
      // Completed again, it is the same task.
      try await space.stores[0].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.task(next) }?.notes == "mine")
      try await space.expectEqualStores()
    }
  }

  /// The next task is made again after it was deleted with its completion.
  @Test func theNextTaskIsMadeAgain() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("water", to: .inbox) { $0.recurrence = try Recurrence(phrase: "every day") }.id
      }
      for _ in 0..<3 {
        try await space.stores[0].write { _ = try $0.complete(id) }
        try await space.synchronizeAll()
        #expect(try space.stores[1].read { try $0.view(.all).tasks.count } == 2)
        try await space.stores[0].write { _ = try $0.reopen(id) }
        try await space.synchronizeAll()
        #expect(try space.stores[1].read { try $0.view(.all).tasks.count } == 1)
        try await space.expectEqualStores()
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
    }
  }

  /// A completion is undone before it was sent: the next task of the other device stays.
  @Test func anUndoneCompletionLeavesTheNextTaskAlone() async throws {
    try await withSeries { space, id in
      let next = try await complete(id, in: space.stores[1])
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.complete(id) }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(next) != nil } })
      #expect(try space.stores.allSatisfy { try $0.read { try $0.task(id)?.isCompleted == true } })
      try await space.expectEqualStores()
    }
  }

  /// A rule plans a task without a day, but a day that a person gives it on another device counts.
  @Test func theFirstDayOfARuleDoesNotBeatADayThatAPersonGave() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("water", to: .inbox).id }
      try await space.synchronizeAll()
      let day = CalendarDay(clamping: 22_000)
      try await space.stores[1].write { _ = try $0.update(id) { $0.scheduledDate = day } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { transaction in
        _ = try transaction.update(id) { $0.recurrence = try Recurrence(text: "FREQ=DAILY") }
      }
      #expect(try space.stores[0].read { try $0.task(id) }?.scheduledDate != nil)
      try await space.synchronizeAll()
      let task = try #require(try space.stores[0].read { try $0.task(id) })
      #expect(task.scheduledDate == day && task.recurrence != nil)
      try await space.expectEqualStores()
    }
  }

  /// The same document is imported on two devices; in between, a person edits its tasks on one of them.
  @Test func animportOfUnchangedValuesDoesNotBeatAnEdit() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let source = try space.addStore()
      let id = try await source.write { transaction in
        let list = try transaction.addList(name: "Home").id
        return try transaction.add("old", to: .list(list)) { $0.notes = "old" }.id
      }
      let file = space.directory.appending("export.json")
      _ = try source.export(to: file)
      space.clock.now = space.clock.now.adding(seconds: 60)
      _ = try space.stores[0].importDocument(from: file)
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { transaction in
        _ = try transaction.update(id) { $0.title = "edited" }
        if let list = try transaction.lists().first { _ = try transaction.recolorList(list.id, to: "112233") }
      }
      space.clock.now = space.clock.now.adding(seconds: 60)
      _ = try space.stores[1].importDocument(from: file)
      try await StoreSync(source).join(space.sync(0).invite(), in: space.folder, deviceName: "source")
      try await space.synchronizeAll()
      for store in space.stores {
        #expect(try store.read { try $0.task(id) }?.title == "edited")
        #expect(try store.read { try $0.lists().map(\.colorHex) } == ["112233"])
      }
      try await space.expectEqualStores()
    }
  }
}
