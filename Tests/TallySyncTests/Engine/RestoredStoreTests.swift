import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores that are copied or go back to a backup, and places that are replaced: nothing of anybody is lost, and nothing old comes back.
struct RestoredStoreTests {
  @Test func aCopyOfAStoreWritesAsAnotherReplica() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll()
      try space.stores[0].close()
      let copy = space.directory.appending("copy")
      try FileManager.default.copyItem(atPath: space.directory.appending("store-0").string, toPath: copy.string)
      space.replace(0, with: try space.open("store-0"))
      let twin = try TaskStore(at: copy, configuration: .testing(clock: space.clock))
      try await space.stores[0].write { _ = try $0.add("by the original", to: .inbox) }
      try await twin.write { _ = try $0.add("by the copy", to: .inbox) }
      try await space.sync(0).synchronize()
      try await StoreSync(twin).synchronize()
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == 3) }
      let original = try await space.sync(0).status().replica
      #expect(try await StoreSync(twin).status().replica != original)
      // Only the copy was it before.
      #expect(try await StoreSync(twin).members().filter(\.isFormer).map(\.replica) == [original])
      for number in 0...1 { #expect(try await space.sync(number).members().allSatisfy { !$0.isFormer }) }
      try await space.expectEqualStores()
      try twin.close()
    }
  }

  /// A machine that goes back in time cannot know it; the place does.
  @Test func aStoreThatWasRolledBackWritesAsAnotherReplica() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll()
      let file = space.directory.appending("store-0").appending("data.mdb").string
      try space.stores[0].close()
      let before = try Data(contentsOf: URL(filePath: file))
      space.replace(0, with: try space.open("store-0"))
      try await space.stores[0].write { _ = try $0.add("forgotten", to: .inbox) }
      try await space.sync(0).synchronize()
      try space.stores[0].close()
      try before.write(to: URL(filePath: file))
      space.replace(0, with: try space.open("store-0"))
      try await space.stores[0].write { _ = try $0.add("after", to: .inbox) }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == 3) }
      try await space.expectEqualStores()
    }
  }

  /// Clients have dropped what they wrote after they were restored, and sent copies of what others had deleted.
  @Test func aStoreThatIsRestoredTwiceLosesNoLaterWriteAndBringsNothingBack() async throws {
    try await withFolderSpace { space in
      let (edited, deleted) = try await space.stores[0].write { transaction in
        (try transaction.add("old", to: .inbox).id, try transaction.add("deleted later", to: .inbox).id)
      }
      try await space.synchronizeAll()
      let backup = space.directory.appending("backup.mdb")
      try space.stores[0].backup(to: backup)
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.update(edited) { $0.title = "newer" } }
      try await space.stores[1].write { try $0.delete(deleted) }
      try await space.synchronizeAll()
      let original = try await space.sync(0).status().replica
      var (titles, replicas): (Set<String>, Set<ReplicaID>) = (["newer"], [original])
      for round in 1...2 {
        try space.restore(0, from: backup)
        #expect(try space.stores[0].read { try $0.task(edited) }?.title == "old")
        space.clock.now = space.clock.now.adding(seconds: 60)
        try await space.stores[0].write { _ = try $0.add("after restoring \(round)", to: .inbox) }
        titles.insert("after restoring \(round)")
        try await space.synchronizeAll()
        for store in space.stores { #expect(Set(try store.read { try $0.view(.inbox).tasks.map(\.title) }) == titles) }
        try await space.expectEqualStores()
        replicas.insert(try await space.sync(0).status().replica)
      }
      // Each time it is another replica, so that no segment has a number that others know.
      #expect(replicas.count == 3)
      // The backup knows only what the store was then.
      #expect(try await space.sync(0).members().filter(\.isFormer).map(\.replica) == [original])
    }
  }

  /// Edits of a task that others have deleted meanwhile, made before the restored store learns of it, bring it back.
  @Test func anEditAfterRestoringWinsOverAnEarlierDeletion() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      let backup = space.directory.appending("backup.mdb")
      try space.stores[0].backup(to: backup)
      try await space.stores[1].write { try $0.delete(id) }
      try await space.synchronizeAll()
      try space.restore(0, from: backup)
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "edited" } }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.title == "edited") }
      try await space.expectEqualStores()
    }
  }

  @Test func aFolderReplacedByThatOfAnotherSpaceChangesNothing() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("ours", to: .inbox) }
      try await space.synchronizeAll()
      try await withTemporaryDirectory { directory in
        let other = try await FolderSpace(1, in: directory)
        try await other.stores[0].write { _ = try $0.add("theirs", to: .inbox) }
        try await other.sync(0).synchronize()
        try FileManager.default.removeItem(atPath: space.folder.string)
        try FileManager.default.copyItem(atPath: other.folder.string, toPath: space.folder.string)
        try await space.stores[1].write { _ = try $0.add("later", to: .inbox) }
        try await space.synchronizeAll()
        for store in space.stores {
          #expect(Set(try store.read { try $0.view(.inbox).tasks.map(\.title) }) == ["ours", "later"])
        }
        try await space.expectEqualStores()
        try await other.sync(0).synchronize()
        #expect(try other.stores[0].read { try $0.view(.inbox).tasks.map(\.title) } == ["theirs"])
        try other.close()
      }
    }
  }

  /// Of two equal writes the second one is not left out where only its author's changes arrive.
  @Test func writesThatAreEqualToThoseOfAnotherPassOn() async throws {
    try await withFolderSpace(3) { space in
      let (edited, deleted, completed) = try await space.stores[0].write { transaction in
        (
          try transaction.add("one", to: .inbox).id, try transaction.add("two", to: .inbox).id,
          try transaction.add("three", to: .inbox).id
        )
      }
      try await space.synchronizeAll()
      for number in 0...1 {
        try await space.stores[number].write { transaction in
          try transaction.update(edited) { $0.title = "same" }
          try transaction.delete(deleted)
          try transaction.complete(completed)
        }
      }
      try await space.sync(0).synchronize()
      try await space.sync(1).synchronize()
      // The third one hears only of the second.
      let file = space.directory.appending("second.tally")
      try await space.sync(1).writeDifference(to: file)
      try await space.sync(2).apply(file)
      let tasks = try space.stores[2].read { try $0.view(.all).tasks }
      #expect(tasks.first { $0.id == edited }?.title == "same")
      #expect(tasks.first { $0.id == completed }?.isCompleted == true)
      #expect(!tasks.contains { $0.id == deleted })
      try await space.synchronizeAll()
      try await space.expectEqualStores()
    }
  }
}

extension FolderSpace {
  /// Restores a backup in the directory of a store.
  func restore(_ number: Int, from backup: FilePath) throws {
    let directory = stores[number].directory
    try stores[number].close()
    try TaskStore.restore(from: backup, to: directory, configuration: .testing(clock: clock))
    replace(number, with: try open(directory.lastComponent?.string ?? ""))
  }
}
