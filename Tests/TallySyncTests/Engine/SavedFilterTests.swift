import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Saved filters are on every device, as tasks and lists are; values of applications are not.
struct SavedFilterTests {
  @Test func filtersAreTheSameEverywhere() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.saveFilter(TaskFilter(text: "is:open"), as: "Chores") }
      try await space.synchronizeAll()
      #expect(try space.filters == [["Chores: is:open"], ["Chores: is:open"]])
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { _ = try $0.saveFilter(TaskFilter(text: "is:done"), as: "CHORES") }
      try await space.synchronizeAll()
      #expect(try space.filters == [["CHORES: is:done"], ["CHORES: is:done"]])
      try await space.stores[0].write { _ = try $0.deleteFilter(named: "chores") }
      try await space.synchronizeAll()
      #expect(try space.filters == [[], []])
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      #expect(try space.filters == [["CHORES: is:done"], ["CHORES: is:done"]])
      try await space.expectEqualStores()
    }
  }

  @Test func filtersThatWereSavedBeforeAreJoined() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(1, in: directory)
      try await space.stores[0].write { _ = try $0.saveFilter(TaskFilter(text: "is:open"), as: "one") }
      let second = try space.addStore()
      try await second.write { _ = try $0.saveFilter(TaskFilter(text: "state:active"), as: "two") }
      try await StoreSync(second).join(space.sync(0).invite(), in: space.folder, deviceName: "second")
      try await space.synchronizeAll()
      #expect(
        try space.filters == [["one: is:open", "two: state:active"], ["one: is:open", "two: state:active"]])
      try await space.expectEqualStores()
      try space.close()
    }
  }

  @Test func theFilterThatLosesARaceIsKeptAndCanBeRestored() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.saveFilter(TaskFilter(text: "is:open"), as: "one") }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.saveFilter(TaskFilter(text: "state:active"), as: "one") }
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { _ = try $0.saveFilter(TaskFilter(text: "is:done"), as: "one") }
      try await space.synchronizeAll()
      let conflict = try #require(try await space.sync(1).conflicts().first)
      #expect(conflict.field == "savedFilter" && conflict.lost == "one: state:active")
      try await space.sync(1).restoreConflict(conflict.id)
      try await space.synchronizeAll()
      #expect(try space.filters == [["one: state:active"], ["one: state:active"]])
    }
  }

  @Test func valuesOfApplicationsStayWhereTheyAre() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { try $0.setValue(5, forKey: "width", in: "app.window") }
      try await space.synchronizeAll()
      #expect(try space.stores[1].read { try $0.bytes(forKey: "width", in: "app.window") } == nil)
    }
  }
}

extension FolderSpace {
  /// The filters of each store.
  fileprivate var filters: [[String]] {
    get throws { try stores.map { try $0.read { try $0.savedFilters().map { "\($0.name): \($0.text)" } } } }
  }
}
