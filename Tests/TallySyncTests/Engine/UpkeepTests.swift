import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// What stays in the folder, and for how long.
struct UpkeepTests {
  @Test func oldSegmentsThatEverybodyHasAreDeletedAndALateReplicaHasAllTasks() async throws {
    try await withFolderSpace { space in
      try await space.grow()
      try await space.synchronizeAll()
      let before = try await space.firstSegment()
      #expect(before == 1)
      try await space.wait(8, days: 5)
      #expect(try await space.firstSegment() > 1)
      let late = try space.addStore()
      try await StoreSync(late).join(try await space.invitation(), in: space.folder, deviceName: "late")
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      #expect(try late.read { try $0.taskCount } == space.stores[0].read { try $0.taskCount })
    }
  }

  /// One replica has not been there for long: what it needs is in the snapshot, and nothing that it has written is lost.
  @Test func aReplicaThatWasAwayForLongLosesNothingAndBringsNothingBack() async throws {
    try await withFolderSpace { space in
      let (kept, deleted) = try await space.stores[1].write { transaction in
        (try transaction.add("kept", to: .inbox).id, try transaction.add("deleted", to: .inbox).id)
      }
      try await space.synchronizeAll()
      try await space.stores[1].write { transaction in
        try transaction.update(kept) { $0.notes = "written while away" }
        try transaction.add("new", to: .inbox)
      }
      try await space.stores[0].write { _ = try $0.delete(deleted) }
      try await space.grow()
      for _ in 0..<20 {
        space.clock.now = space.clock.now.adding(seconds: 25 * 86_400)
        try await space.sync(0).synchronize()
      }
      #expect(try await space.firstSegment() > 1)
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let titles = try store.read { try $0.view(.inbox).tasks.map(\.title) }
        #expect(!titles.contains("deleted") && titles.contains("new"))
        #expect(try store.read { try $0.task(kept) }?.notes == "written while away")
      }
    }
  }

  @Test func aSegmentThatAnActiveReplicaLacksStaysUntilAnotherSnapshotCoversIt() async throws {
    try await withFolderSpace { space in
      try await space.sync(1).synchronize()
      try await space.grow()
      for _ in 0..<6 {
        space.clock.now = space.clock.now.adding(seconds: 10 * 86_400)
        try await space.sync(0).synchronize()
      }
      // The other one has a card, and has merged nothing.
      #expect(try await space.firstSegment() == 1)
    }
  }

  /// The record goes after 30 days; who deleted it stays, so that it does not come back.
  @Test func aLaterEditOfATaskWhoseValuesWereForgottenBringsAllOfItBack() async throws {
    try await withFolderSpace(3) { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox) { $0.notes = "notes" }.id }
      try await space.synchronizeAll()
      try await space.stores[0].write { try $0.delete(id) }
      for _ in 0..<4 {
        space.clock.now = space.clock.now.adding(seconds: 10 * 86_400)
        for number in 0...1 { try await space.sync(number).synchronize() }
      }
      #expect(try await space.sync(0).trash() == [])
      let hashes = try await [space.sync(0).status().stateHash, space.sync(1).status().stateHash]
      #expect(hashes[0] == hashes[1])
      // The third has not seen the deletion.
      try await space.stores[2].write { _ = try $0.update(id) { $0.priority = .high } }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(id) })
        #expect((task.title, task.notes, task.priority) == ("one", "notes", .high))
      }
    }
  }

  /// Nothing had been completed in it when it was deleted, so its name was stored only with its values.
  @Test func aCompletionThatArrivesLateCountsForItsDeletedListByName() async throws {
    try await withFolderSpace(3) { space in
      let (list, id) = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home").id
        return (list, try transaction.add("one", to: .inbox) { $0.listID = list }.id)
      }
      try await space.synchronizeAll()
      try await space.stores[0].write { try $0.deleteList(list) }
      // The third has not seen the deletion.
      try await space.stores[2].write { _ = try $0.complete(id) }
      for _ in 0..<4 {
        space.clock.now = space.clock.now.adding(seconds: 10 * 86_400)
        for number in 0...1 { try await space.sync(number).synchronize() }
      }
      #expect(try await space.sync(0).trash() == [])
      try await space.synchronizeAll()
      let late = try space.addStore()
      try await StoreSync(late).join(try await space.invitation(), in: space.folder, deviceName: "late")
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let count = try #require(try store.read { try $0.statistics().byList.first { $0.listID == list } })
        #expect((count.name, count.isDeleted, count.completed) == ("Home", true, 1))
      }
    }
  }

  @Test(arguments: [false, true]) func aDamagedSegmentIsReplacedBySnapshotOfItsAuthor(_ isTruncated: Bool) async throws
  {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.sync(0).synchronize()
      let file = try #require(try space.files(endingIn: ".seg").first)
      var bytes = try Data(contentsOf: file)
      if isTruncated { bytes.removeLast(10) } else { bytes[bytes.count / 2] ^= 1 }
      try bytes.write(to: file)
      #expect(try await space.sync(1).synchronize().blocked.count == 1)
      try await space.sync(0).synchronize()
      #expect(try await space.sync(1).synchronize().blocked == [])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      // It is not published again and again.
      let count = try space.files(endingIn: ".snap").count
      try await space.synchronizeAll()
      #expect(try space.files(endingIn: ".snap").count == count)
      // A snapshot that is damaged is replaced, too.
      let snapshot = try #require(try space.files(endingIn: ".snap").first)
      try Data([1, 2, 3]).write(to: snapshot)
      let late = try space.addStore()
      try await StoreSync(late).join(try await space.invitation(), in: space.folder, deviceName: "late")
      try await space.synchronizeAll()
      try await space.expectEqualStores()
    }
  }

  /// Other replicas could not verify a segment and publish snapshots without it: its author keeps it, however old it is.
  @Test func aSegmentThatSnapshotsOfOthersLackIsNotPruned() async throws {
    try await withFolderSpace(3) { space in
      try await space.grow()
      try await space.synchronizeAll()
      let author = try await space.sync(0).status().replica
      let id = try await space.stores[0].write { try $0.add("kept", to: .inbox).id }
      try await space.sync(0).synchronize()
      // The last file of a stream stays anyway.
      try await space.stores[0].write { _ = try $0.add("last", to: .inbox) }
      space.clock.now = space.clock.now.adding(seconds: 86_400)
      try await space.stores[0].write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
      try await space.sync(0).synchronize()
      // The others get neither the segment nor the snapshot, while their author is away for long.
      let own = try (space.files(endingIn: ".snap") + space.files(endingIn: ".seg")).filter {
        $0.path.contains(author.description)
      }
      let segment = try #require(own.dropLast().last)
      let files = own.filter { $0.pathExtension == "snap" } + [segment]
      let contents = try files.map { try Data(contentsOf: $0) }
      for (file, content) in zip(files, contents) { try Data(content.reversed()).write(to: file) }
      for _ in 0..<5 {
        space.clock.now = space.clock.now.adding(seconds: 10 * 86_400)
        for number in 1...2 {
          try await space.stores[number].write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
          #expect(try await space.sync(number).synchronize().blocked.count == 1)
        }
      }
      for (file, content) in zip(files, contents) { try content.write(to: file) }
      try await space.sync(0).synchronize()
      let first = try await space.firstSegment()
      #expect(first > 1, "the segments before it are pruned")
      #expect(FileManager.default.fileExists(atPath: segment.path))
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.title == "kept") }
    }
  }

  /// It was made a month before it arrived: its record is kept from the arrival on.
  @Test func aDeletionThatArrivesLateCanBeRestoredWithListsAndSubtasks() async throws {
    try await withFolderSpace { space in
      let (list, parent, part) = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home").id
        let parent = try transaction.add("parent", to: .inbox) { $0.listID = list }.id
        return (list, parent, try transaction.add("part", to: .inbox) { ($0.listID, $0.parentID) = (list, parent) }.id)
      }
      try await space.synchronizeAll()
      try await space.stores[1].write { transaction in
        try transaction.delete(parent)
        try transaction.deleteList(list)
      }
      space.clock.now = space.clock.now.adding(seconds: 31 * 86_400)
      try await space.synchronizeAll()
      let items = try await space.sync(0).trash()
      #expect(Set(items.map(\.id)) == [list, parent, part])
      try await space.sync(0).restore(items.map(\.id))
      try await space.synchronizeAll()
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(part) })
        #expect(task.listID == list && task.parentID == parent)
      }
      try await space.expectEqualStores()
    }
  }

  @Test func completionsOfTasksThatWereForgottenArePurgedEverywhere() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home").id
        let id = try transaction.add("one", to: .inbox) { $0.listID = list }.id
        try transaction.complete(id)
        try transaction.delete(id)
        try transaction.deleteList(list)
        return id
      }
      for _ in 0..<5 {
        try await space.synchronizeAll()
        space.clock.now = space.clock.now.adding(seconds: 10 * 86_400)
      }
      #expect(try await space.sync(0).trash() == [])
      let lists = try space.stores.map { try $0.read { try $0.statistics().completed.allTime } }
      #expect(lists == [1, 1])
      try await space.stores[0].write { _ = try $0.purgeCompletions(before: .latest) }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 0) }
      try await space.expectEqualStores()
      #expect(try space.stores[0].read { try $0.task(id) } == nil)
    }
  }

  /// The second time, the replica has only a snapshot there.
  @Test func aFolderThatIsLostTwiceIsFilledTwice() async throws {
    try await withFolderSpace(1) { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.sync(0).synchronize()
      for _ in 0..<2 {
        try FileManager.default.removeItem(atPath: space.folder.string)
        try FileManager.default.createDirectory(atPath: space.folder.string, withIntermediateDirectories: true)
        try await space.sync(0).synchronize()
      }
      let late = try space.addStore()
      try await StoreSync(late).join(try await space.invitation(), in: space.folder, deviceName: "late")
      try await space.synchronizeAll()
      #expect(try late.read { try $0.view(.inbox).tasks.map(\.title) } == ["one"])
      try await space.expectEqualStores()
    }
  }

  @Test func whenMostTasksAreDeletedElsewhereTheReportSaysSoAndOneStepRestoresThem() async throws {
    try await withFolderSpace { space in
      let ids = try await space.stores[0].write { transaction in
        try (0..<80).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try await space.synchronizeAll()
      try await space.stores[0].write { transaction in for id in ids.prefix(60) { try transaction.delete(id) } }
      try await space.sync(0).synchronize()
      let report = try await space.sync(1).synchronize()
      #expect(report.isMassDeletion && Set(report.deletedTaskIDs) == Set(ids.prefix(60)))
      try await space.sync(1).restore(report.deletedTaskIDs)
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.taskCount } == 80) }
      try await space.stores[0].write { transaction in for id in ids.prefix(20) { try transaction.delete(id) } }
      try await space.sync(0).synchronize()
      let small = try await space.sync(1).synchronize()
      #expect(!small.isMassDeletion && small.deletedTaskIDs.count == 20)
    }
  }

  @Test func theSixDigitsOfADeviceAreTheSameOnAll() async throws {
    try await withFolderSpace(3) { space in
      try await space.synchronizeAll()
      let members = try await [space.sync(0).members(), space.sync(1).members(), space.sync(2).members()]
      let codes = members.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.replica, $0.code) }) }
      #expect(codes[0].count == 3 && codes[0] == codes[1] && codes[1] == codes[2])
      #expect(codes[0].values.allSatisfy { $0?.count == 6 && $0?.allSatisfy(\.isNumber) == true })
      #expect(Set(codes[0].values).count == 3)
    }
  }
}

extension FolderSpace {
  /// Writes and sends enough that a snapshot is worth its files.
  fileprivate func grow() async throws {
    for part in 0..<3 {
      try await stores[0].write { transaction in
        for number in 0..<10 {
          try transaction.add("task \(part) \(number)", to: .inbox) { $0.notes = String(repeating: "n", count: 50_000) }
        }
      }
      for number in stores.indices.prefix(1) { try await sync(number).synchronize() }
    }
  }

  /// Lets days pass, after which every replica writes and synchronises, some times.
  fileprivate func wait(_ count: Int, days: Int64) async throws {
    for day in 0..<count {
      clock.now = clock.now.adding(seconds: days * 86_400)
      for store in stores {
        try await store.write { _ = try $0.add("day \(day)", to: .inbox) }
        try await StoreSync(store).synchronize()
      }
    }
  }

  /// The first segment of the first store's replica that is in the folder.
  fileprivate func firstSegment() async throws -> UInt64 {
    let replica = try await sync(0).status().replica
    let names = try files(endingIn: ".seg").filter { $0.path.contains(replica.description) }.map(\.lastPathComponent)
    return try #require(names.compactMap { UInt64($0.prefix(10)) }.min())
  }

  fileprivate func invitation() async throws -> String { try await sync(0).invite() }

  fileprivate func files(endingIn ending: String) throws -> [URL] {
    let all = FileManager.default.enumerator(at: URL(filePath: folder.string), includingPropertiesForKeys: nil)
    return (all?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.path.hasSuffix(ending) }
      .sorted { $0.path < $1.path }
  }
}
