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
}
