import Foundation
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// A device of an earlier version carries on what it does not know; once it is upgraded, its records show that.
struct CarriedValuesTests {
  /// Removes from a store's records, but not from its states, what the first version of the program does not know.
  private func forgetLaterFields(of ids: [UUID], in store: TaskStore) async throws {
    try await store.write { transaction in
      let tasks = try ids.map { id in
        var task = try #require(try transaction.storedTask(id))
        (task.otherReminders, task.start, task.dependsOn) = ([], nil, [])
        if task.isCancelled { (task.state, task.cancelledAt) = (.notStarted, nil) }
        return MergedTask(
          id: id, item: task, completions: StoredCompletions(current: nil), replacing: StoredCompletions(current: nil))
      }
      var series: [UUID: TaskSeries?] = [:]
      for id in ids where try transaction.storedSeries(id) != nil { series.updateValue(nil, forKey: id) }
      try transaction.merge(tasks, lists: [:], deletedListNames: [:], series: series, filters: [:])
      try transaction.setSyncValue(nil, forKey: SyncKey.shownFields)
    }
  }

  @Test(arguments: [false, true]) func anUpgradedDeviceShowsWhatItHasCarried(appliesFile: Bool) async throws {
    try await withFolderSpace { space in
      let ids = try await space.stores[0].write { transaction in
        let first = try transaction.add("first") { $0.start = .someday }.id
        let pills = try transaction.add("pills", to: .today) { task in
          task.recurrence = try Recurrence(text: "FREQ=DAILY")
          task.reminders = [.at(space.clock.now), .before(try RelativeReminder(daysBefore: 1, .scheduled))]
          task.dependsOn = [first]
        }.id
        let dropped = try transaction.add("dropped").id
        try transaction.cancel(dropped)
        return [first, pills, dropped]
      }
      try await space.synchronizeAll()
      try await forgetLaterFields(of: ids, in: space.stores[1])
      #expect(try space.stores[1].read { try $0.task(ids[2])?.isOpen } == true)
      #expect(try space.stores[1].read { try $0.storedSeries(ids[1]) } == nil)
      // A change that waits to be sent is applied in the same write.
      try await space.stores[1].write { _ = try $0.update(ids[1]) { $0.notes = "upgraded" } }
      if appliesFile {
        let file = space.directory.appending("changes")
        try await space.sync(0).writeDifference(to: file)
        _ = try await space.sync(1).apply(file)
      } else {
        try await space.sync(1).synchronize()
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        #expect(try await StoreSync(store).verify() == [])
        #expect(try store.read { try $0.task(ids[1])?.notes } == "upgraded")
      }
      #expect(
        try space.stores[1].read { try $0.storedSeries(ids[1]) } == space.stores[0].read { try $0.storedSeries(ids[1]) }
      )
      #expect(try space.stores[1].read { try $0.task(ids[1])?.otherReminders.count } == 1)
    }
  }

  /// In stores of an earlier version, tasks describe their series: the first device to change a task alone decides what the
  /// series is.
  @Test func theFirstDescriptionOfASeriesWins() async throws {
    try await withFolderSpace(0) { space in
      let (first, second) = (try space.addStore(), try space.addStore())
      let id = try await first.write { transaction in
        try transaction.add("plants", to: .today) { $0.recurrence = try Recurrence(text: "FREQ=DAILY") }.id
      }
      try await forgetLaterFields(of: [id], in: first)
      let invitation = try await StoreSync(first).setUp(in: space.folder, deviceName: "first").invitation
      try await StoreSync(second).join(invitation, in: space.folder, deviceName: "second")
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.storedSeries(id) } == nil) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await first.write { _ = try $0.update(id) { $0.title = "the big plant" } }
      // The other device knows what the first one has written to the task, but not the series.
      try await second.write { transaction in
        var task = try #require(try transaction.storedTask(id))
        (task.title, task.notes, task.tags) = ("the big plant", "with the blue can", ["big"])
        let none = StoredCompletions(current: nil)
        try transaction.merge(
          [MergedTask(id: id, item: task, completions: none, replacing: none)], lists: [:], deletedListNames: [:],
          series: [:], filters: [:])
      }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await second.write { _ = try $0.update(id) { $0.priority = .high } }
      #expect(try second.read { try $0.storedSeries(id)?.template.title } == "the big plant")
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      let series = try space.stores.map { store in try #require(try store.read { try $0.storedSeries(id) }) }
      #expect(series[0] == series[1])
      #expect(series[0].template.title == "plants" && series[0].template.notes == nil)
    }
  }

  /// An upgraded device has carried a series, and does not show it before its next exchange: describing it again by its task
  /// changes nothing that others know, but what a person has written counts.
  @Test(arguments: [false, true]) func aCarriedSeriesIsNotDescribedAgain(changesSeries: Bool) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("plants", to: .today) { task in
          (task.recurrence, task.tags) = (try Recurrence(text: "FREQ=DAILY"), ["home"])
        }.id
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { transaction in
        _ = try transaction.update(id) { ($0.title, $0.tags) = ("the big plant", []) }
      }
      try await space.synchronizeAll()
      try await forgetLaterFields(of: [id], in: space.stores[1])
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { transaction in
        if changesSeries { try transaction.updateSeries(of: id) { $0.priority = .high } }
        _ = try transaction.update(id) { $0.notes = "with the blue can" }
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let series = try #require(try store.read { try $0.storedSeries(id) })
        #expect(series.template.title == "plants" && series.template.tags == ["home"] && series.template.notes == nil)
        #expect(series.template.priority == (changesSeries ? .high : Priority.none))
      }
    }
  }
}
