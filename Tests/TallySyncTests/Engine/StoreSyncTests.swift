import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores that synchronise through a folder.
struct StoreSyncTests {
  @Test func whatOneStoreHasArrivesAtTheOther() async throws {
    try await withFolderSpace { space in
      let task = try await space.stores[0].write { try $0.add("one", to: .inbox) { $0.notes = "notes" } }
      let sent = try await space.sync(0).synchronize()
      #expect(sent.sent == 1 && sent.pending == 0)
      let received = try await space.sync(1).synchronize()
      #expect(received.received == 1 && received.blocked == [])
      #expect(try space.stores[1].read { try $0.task(task.id) }?.notes == "notes")
      try await space.expectEqualStores()
    }
  }

  @Test func tasksThatTheSecondStoreHadAreAdded() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(1, in: directory)
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      let invitation = try await space.sync(0).invite()
      let other = try space.addStore()
      try await other.write { _ = try $0.add("two", to: .inbox) }
      try await StoreSync(other).join(invitation, in: space.folder, deviceName: "other")
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == 2) }
      try await space.expectEqualStores()
      try space.close()
    }
  }

  @Test func completionsOfTasksThatWereDeletedBeforeCountEverywhere() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      let stores = try (0..<2).map { _ in try space.addStore() }
      try await stores[0].write { transaction in
        let id = try transaction.add("one", to: .inbox).id
        try transaction.complete(id)
        try transaction.delete(id)
      }
      let invitation = try await space.sync(0).setUp(in: space.folder, deviceName: "a").invitation
      try await space.sync(1).join(invitation, in: space.folder, deviceName: "b")
      try await space.synchronizeAll()
      for store in stores { #expect(try store.read { try $0.statistics().completed.allTime } == 1) }
      try await space.expectEqualStores()
      try space.close()
    }
  }

  /// A deletion keeps the completion; undoing the import that brought both does not.
  @Test func undoingAnImportRemovesItsCompletionsEverywhere() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { transaction in
        let id = try transaction.add("one", to: .inbox).id
        try transaction.complete(id)
      }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 0) }
      try await space.expectEqualStores()
    }
  }

  /// The next instance has the same id on both, and another time of creation.
  @Test func anInstanceThatTwoReplicasMadeAndOneCompletedIsOneTask() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { transaction in
        let recurrence = try Recurrence(phrase: "every day")
        _ = try transaction.add("one", to: .today) { $0.recurrence = recurrence }
      }
      try await space.synchronizeAll()
      for number in [0, 0, 1] {
        space.clock.now = space.clock.now.adding(seconds: 3_600)
        try await space.stores[number].write { transaction in
          guard let open = try transaction.view(.all).tasks.first(where: { !$0.isCompleted }) else { return }
          try transaction.complete(open.id)
        }
      }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 2) }
      try await space.expectEqualStores()
    }
  }

  @Test func bothEditsOfOneFieldAreKept() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "earlier" } }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "later" } }
      try await space.synchronizeAll()
      for number in 0...1 {
        #expect(try space.stores[number].read { try $0.task(id) }?.title == "later")
        let conflicts = try await space.sync(number).conflicts()
        #expect(conflicts.map(\.lost) == ["earlier"] && conflicts.map(\.field) == ["title"])
      }
      let conflict = try #require(try await space.sync(1).conflicts().first)
      try await space.sync(1).restoreConflict(conflict.id)
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(id) }?.title == "earlier")
      #expect(try await space.sync(1).conflicts() == [])
      try await space.expectEqualStores()
    }
  }

  @Test func anEditAfterSeeingAnotherIsNoConflict() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      for number in [1, 0, 1] {
        try await space.stores[number].write { _ = try $0.update(id) { $0.title = "by \(number)" } }
        try await space.synchronizeAll()
      }
      for number in 0...1 { #expect(try await space.sync(number).conflicts() == []) }
    }
  }

  @Test func aDeletedTaskCanBeRestoredWhereItWasNotDeleted() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let id = try transaction.add("one", to: .inbox) { $0.tags = ["a"] }.id
        try transaction.complete(id)
        return id
      }
      try await space.synchronizeAll()
      try await space.stores[0].write { try $0.delete(id) }
      try await space.synchronizeAll()
      #expect(try await space.sync(1).trash().map(\.id) == [id])
      try await space.sync(1).restore([id])
      try await space.synchronizeAll()
      for number in 0...1 {
        let task = try #require(try space.stores[number].read { try $0.task(id) })
        #expect(task.isCompleted && task.tags == ["a"])
        #expect(try await space.sync(number).trash() == [])
        #expect(try space.stores[number].read { try $0.statistics().completed.allTime } == 1)
      }
      try await space.expectEqualStores()
    }
  }

  @Test func anEmptiedFolderDeletesNothingAndIsFilledAgain() async throws {
    try await withFolderSpace(3) { space in
      for number in 0...2 { try await space.stores[number].write { _ = try $0.add("task \(number)", to: .inbox) } }
      try await space.synchronizeAll()
      for name in try FileManager.default.contentsOfDirectory(atPath: space.folder.string) {
        try FileManager.default.removeItem(atPath: space.folder.appending(name).string)
      }
      try await space.stores[1].write { _ = try $0.add("later", to: .inbox) }
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == 4) }
      try await space.expectEqualStores()
      let fresh = try space.addStore()
      let invitation = try await space.sync(0).invite()
      try await StoreSync(fresh).join(invitation, in: space.folder, deviceName: "fresh")
      try await StoreSync(fresh).synchronize()
      try await space.expectEqualStores()
    }
  }

  @Test func aMissingFolderIsAnErrorAndChangesWait() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      let away = space.directory.appending("away")
      try FileManager.default.moveItem(atPath: space.folder.string, toPath: away.string)
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize() }
      #expect(error?.code == .syncUnreachable)
      #expect(try await space.sync(0).status().pending == 1)
      try FileManager.default.moveItem(atPath: away.string, toPath: space.folder.string)
      #expect(try await space.sync(0).synchronize().sent == 1)
    }
  }

  @Test func leavingKeepsAllTasks() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll()
      try await space.sync(1).leave()
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == 1)
      let error = await #expect(throws: TallyError.self) { try await space.sync(1).status() }
      #expect(error?.code == .notSynchronising)
      let invitation = try await space.sync(0).invite()
      try await space.sync(1).join(invitation, in: space.folder, deviceName: "again")
      try await space.stores[1].write { _ = try $0.add("two", to: .inbox) }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
    }
  }

  @Test func aPassphraseOrARecoveryCodeOpensTheSpace() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      let stores = try (0..<3).map { _ in try space.addStore() }
      let setup = try await StoreSync(stores[0]).setUp(in: space.folder, deviceName: "a", passphrase: "correct horse")
      let error = await #expect(throws: TallyError.self) {
        try await StoreSync(stores[1]).join(passphrase: "wrong", in: space.folder, deviceName: "b")
      }
      #expect(error?.code == .wrongPassphrase)
      try await StoreSync(stores[1]).join(passphrase: "correct horse", in: space.folder, deviceName: "b")
      let code = try #require(setup.recoveryCode)
      try await StoreSync(stores[2]).join(code, in: space.folder, deviceName: "c")
      try await stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      try space.close()
    }
  }

  @Test func withoutEncryptionTheFolderCanBeRead() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      let stores = try (0..<2).map { _ in try space.addStore() }
      let setup = try await StoreSync(stores[0]).setUp(in: space.folder, deviceName: "a", isEncrypted: false)
      #expect(setup.recoveryCode == nil)
      try await StoreSync(stores[1]).join(setup.invitation, in: space.folder, deviceName: "b")
      try await stores[0].write { _ = try $0.add("in the clear", to: .inbox) }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      try space.close()
    }
  }

  /// A changed segment stops its stream with a reason; the others go on.
  @Test func aDamagedSegmentStopsItsStreamOnly() async throws {
    try await withFolderSpace(3) { space in
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.add("damaged", to: .inbox) }
      try await space.sync(0).synchronize()
      let replica = try await space.sync(0).status().replica
      try space.flipBit(inLastSegmentOf: replica)
      try await space.stores[1].write { _ = try $0.add("fine", to: .inbox) }
      try await space.sync(1).synchronize()
      let report = try await space.sync(2).synchronize()
      #expect(report.blocked.map(\.replica) == [replica])
      #expect(try space.stores[2].read { try $0.view(.inbox).tasks.map(\.title) } == ["fine"])
    }
  }

  /// Each replica may add as many tags as a task can have; together they are more.
  @Test func moreTagsThanATaskCanHaveAreKeptAndShownAsFarAsThereIsRoom() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      for number in 0...1 {
        let tags = TagSet((0..<40).map { "tag\(number)-\($0)" })
        try await space.stores[number].write { _ = try $0.update(id) { $0.tags = tags } }
      }
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(id) }?.tags.count == TagSet.maximumCount)
      try await space.expectEqualStores()
      // Those without room come back when others go.
      try await space.stores[1].write { _ = try $0.update(id) { $0.tags = ["kept"] } }
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(id) }?.tags.count == 17)
      try await space.expectEqualStores()
    }
  }

  /// Its completion went with its creation.
  @Test func aTaskThatWasLoggedAndUndoneIsRestoredAsOpen() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        let id = try transaction.add("one", to: .inbox).id
        try transaction.complete(id)
        return id
      }
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.sync(0).restore([id])
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.isCompleted == false) }
      try await space.expectEqualStores()
    }
  }

  /// The import has changed nothing else.
  @Test func theTimeOfChangeIsTheSameAfterUndoingAnImport() async throws {
    try await withFolderSpace { space in
      let list = try await space.stores[0].write { try $0.addList(name: "Home").id }
      try await space.synchronizeAll()
      let file = space.directory.appending("export.json")
      try space.stores[0].export(to: file)
      try await space.stores[1].write { try $0.deleteList(list) }
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      try space.stores[1].importDocument(from: file, options: ImportOptions(overwrites: true))
      space.clock.now = space.clock.now.adding(seconds: 5)
      try await space.stores[1].write { _ = try $0.undo() }
      try await space.synchronizeAll()
      let times = try space.stores.map { try $0.read { try $0.list(list)?.updatedAt } }
      #expect(times[0] == times[1])
    }
  }

  @Test func aReplicaWithManySmallSegmentsPacksThem() async throws {
    try await withFolderSpace { space in
      for number in 0..<70 {
        try await space.stores[0].write { _ = try $0.add("task \(number)", to: .inbox) }
        try await space.sync(0).synchronize()
      }
      let names = FileManager.default.enumerator(atPath: space.folder.string)?.compactMap { $0 as? String } ?? []
      #expect(names.filter { $0.hasSuffix(".seg") }.count < 40)
      try await space.sync(1).synchronize()
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == 70)
      try await space.expectEqualStores()
    }
  }

  @Test func randomWritesOnSeveralStoresEndInTheSameState() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomWritesThroughAFolder"))
    for _ in 0..<2 {
      try await withFolderSpace(Int.random(in: 2...4, using: &random)) { space in
        for _ in 0..<60 {
          try StoreSpace.write(to: space.stores, space.clock, using: &random)
          if random.oneIn(12) { space.clock.now = space.clock.now.adding(seconds: 20 * 86_400) }
          guard random.oneIn(5), let store = space.stores.randomElement(using: &random) else { continue }
          try await StoreSync(store).synchronize()
        }
        try await space.synchronizeAll()
        try await space.expectEqualStores()
      }
    }
  }
}

extension FolderSpace {
  /// Changes one bit in the middle of the last segment of a replica.
  fileprivate func flipBit(inLastSegmentOf replica: ReplicaID) throws {
    let files = FileManager.default.enumerator(atPath: folder.string)?.compactMap { $0 as? String } ?? []
    let name = try #require(files.filter { $0.contains("\(replica)") && $0.hasSuffix(".seg") }.max())
    let url = URL(filePath: folder.appending(name).string)
    var bytes = try Data(contentsOf: url)
    bytes[bytes.startIndex + bytes.count / 2] ^= 1
    try bytes.write(to: url)
  }
}
