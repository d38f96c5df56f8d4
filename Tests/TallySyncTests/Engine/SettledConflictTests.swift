import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallySync

/// What somebody has restored or dismissed on one device is settled on all of them.
struct SettledConflictTests {
  /// All stores edit the titles of the same tasks, unaware of each other; the last store writes last, so the others lose.
  private func withConflicts(
    stores: Int = 2, tasks: Int = 1, _ body: (FolderSpace, [UUID]) async throws -> Void
  ) async throws {
    try await withFolderSpace(stores) { space in
      let ids = try await space.stores[0].write { transaction in
        try (0..<tasks).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try await space.synchronizeAll()
      for (number, store) in space.stores.enumerated() {
        space.clock.now = space.clock.now.adding(seconds: 10)
        try await store.write { transaction in
          for id in ids { _ = try transaction.update(id) { $0.title = "by \(number)" } }
        }
      }
      try await space.synchronizeAll()
      try await body(space, ids)
    }
  }

  private func expectNoConflicts(_ space: FolderSpace, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for number in space.stores.indices {
      #expect(try await space.sync(number).conflicts() == [], "\(number)", sourceLocation: sourceLocation)
    }
    try await space.expectEqualStores(sourceLocation: sourceLocation)
  }

  @Test(arguments: [0, 1]) func aDismissedValueIsForgottenEverywhere(by number: Int) async throws {
    try await withConflicts { space, ids in
      for other in 0...1 { #expect(try await space.sync(other).conflicts().map(\.lost) == ["by 0"]) }
      let dismissed = try await space.sync(number).dismissConflicts()
      #expect(dismissed.map(\.lost) == ["by 0"])
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.task(ids[0]) }?.title == "by 1")
      try await expectNoConflicts(space)
    }
  }

  @Test(arguments: [0, 1]) func aRestoredValueIsForgottenEverywhere(by number: Int) async throws {
    try await withConflicts { space, ids in
      let conflict = try #require(try await space.sync(number).conflicts().first)
      try await space.sync(number).restoreConflict(conflict.id)
      try await space.synchronizeAll()
      for store in space.stores { #expect(try store.read { try $0.task(ids[0]) }?.title == "by 0") }
      try await expectNoConflicts(space)
      // Whoever writes the field now has seen the value.
      try await space.stores[1 - number].write { _ = try $0.update(ids[0]) { $0.title = "later" } }
      try await space.synchronizeAll()
      try await expectNoConflicts(space)
    }
  }

  @Test func dismissingOnBothAtTheSameTimeIsTheSame() async throws {
    try await withConflicts(tasks: 3) { space, _ in
      for number in 0...1 { try await space.sync(number).dismissConflicts() }
      try await space.synchronizeAll()
      try await expectNoConflicts(space)
    }
  }

  @Test func oneOfSeveralValuesOfAFieldIsDismissedAndTheOthersStay() async throws {
    try await withConflicts(stores: 3) { space, _ in
      // The author of the winning value has all values that lost.
      let kept = try await space.sync(2).conflicts()
      #expect(Set(kept.map(\.lost)) == ["by 0", "by 1"])
      let first = try #require(kept.first { $0.lost == "by 0" })
      try await space.sync(2).dismissConflicts([first.id])
      try await space.synchronizeAll()
      #expect(try await space.sync(0).conflicts() == [])
      for number in 1...2 { #expect(try await space.sync(number).conflicts().map(\.lost) == ["by 1"]) }
    }
  }

  @Test func allAreRestoredInOneChangeAndTheLastOfSeveralOfOneField() async throws {
    try await withConflicts(stores: 3, tasks: 2) { space, ids in
      #expect(try await space.sync(2).conflicts().count == 4)
      let restored = try await space.sync(2).restoreAllConflicts()
      #expect(restored.map(\.lost) == ["by 1", "by 1"])
      #expect(try await space.sync(2).conflicts().map(\.lost) == ["by 0", "by 0"])
      let titles = try space.stores[2].read { transaction in try ids.map { try transaction.task($0)?.title } }
      #expect(titles == ["by 1", "by 1"])
      try await space.stores[2].write { _ = try $0.undo() }
      #expect(try space.stores[2].read { try $0.task(ids[1]) }?.title == "by 2")
      #expect(try await space.sync(2).conflicts().count == 4, "an undo brings the conflicts back")
      try await space.synchronizeAll()
      #expect(try await space.sync(2).conflicts().count == 4)
      _ = try await space.sync(2).restoreAllConflicts()
      try await space.synchronizeAll()
      #expect(try await space.sync(2).status().conflicts == 2)
      // "by 1" also beat "by 0" on the device of its author, and nobody has settled that.
      #expect(try await space.sync(1).conflicts().allSatisfy { $0.lost == "by 0" })
      try await space.expectEqualStores()
    }
  }

  @Test(arguments: [false, true])
  func aPlaceThatIsInTheTrashIsNotRestored(_ isAll: Bool) async throws {
    try await withFolderSpace(2) { space in
      let task = try await space.stores[0].write { try $0.add("bread", to: .inbox) }
      let lists = try await space.stores[0].write { transaction in
        try ["first", "second"].map { try transaction.addList(name: $0) }
      }
      try await space.synchronizeAll()
      for (store, list) in zip(space.stores, lists) {
        _ = try await store.write { try $0.move(task.id, toList: list.id) }
      }
      try await space.synchronizeAll()
      // The author of the value that lost keeps it, whichever of two writes in one instant that is.
      let found = try await [space.sync(0).conflicts(), space.sync(1).conflicts()]
      let loser = try #require(found.firstIndex { !$0.isEmpty })
      let conflict = try #require(try await space.sync(loser).conflicts().first)
      let place = try space.stores[loser].read { try $0.task(task.id)?.listID }
      try await space.stores[loser].write { transaction in
        for list in lists where list.id != place { _ = try transaction.deleteList(list.id) }
      }
      if isAll {
        #expect(try await space.sync(loser).restoreAllConflicts() == [])
      } else {
        let error = await #expect(throws: TallyError.self) { try await space.sync(loser).restoreConflict(conflict.id) }
        #expect(error?.code == .listNotFound)
      }
      #expect(try space.stores[loser].read { try $0.task(task.id)?.listID } == place)
      #expect(try await space.sync(loser).conflicts() == [conflict])
    }
  }

  /// A second write of another device came on top of the one that won, and arrives before it or after it.
  @Test(arguments: [false, true], [false, true])
  func theAuthorLearnsWhatASecondWriteHides(isSeen: Bool, isLaterFirst: Bool) async throws {
    try await withFolderSpace(3) { space in
      let task = try await space.stores[0].write { try $0.add("bread", to: .inbox) }
      try await space.synchronizeAll()
      func edit(_ number: Int) async throws {
        space.clock.now = space.clock.now.adding(seconds: 10)
        _ = try await space.stores[number].write { try $0.update(task.id) { $0.title = "by \(number)" } }
      }
      // The streams are read in the order of their replicas.
      let replicas = try await [space.sync(0).status(), space.sync(1).status(), space.sync(2).status()].map(\.replica)
      let others = [1, 2].sorted { (replicas[$0] < replicas[$1]) != isLaterFirst }
      try await edit(0)
      if isSeen { for number in [0, others[0]] { try await space.sync(number).synchronize() } }
      try await edit(others[0])
      for number in others { try await space.sync(number).synchronize() }
      try await edit(others[1])
      try await space.sync(others[1]).synchronize()
      try await space.sync(0).synchronize()
      #expect(try await space.sync(0).conflicts().map(\.lost) == (isSeen ? [] : ["by 0"]))
      try await space.synchronizeAll()
      #expect(try await space.sync(0).conflicts().map(\.lost) == (isSeen ? [] : ["by 0"]))
      try await space.expectEqualStores()
    }
  }

  /// The author of the write in between saw the value only at its second write, which is in a later segment.
  @Test func aValueThatWasSeenLaterIsNoConflict() async throws {
    try await withFolderSpace(3) { space in
      let ids = try await space.stores[0].write { transaction in
        try (0..<2).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try await space.synchronizeAll()
      func edit(_ number: Int, _ title: String) async throws {
        space.clock.now = space.clock.now.adding(seconds: 10)
        try await space.stores[number].write { transaction in
          for id in ids { _ = try transaction.update(id) { $0.title = title } }
        }
      }
      try await edit(1, "first")
      try await space.sync(1).synchronize()
      try await edit(0, "seen")
      for number in [0, 1] { try await space.sync(number).synchronize() }
      try await edit(1, "second")
      for number in [1, 2] { try await space.sync(number).synchronize() }
      try await edit(2, "third")
      for number in [2, 0] { try await space.sync(number).synchronize() }
      #expect(try await space.sync(0).conflicts().allSatisfy { $0.lost != "seen" })
      for id in ids { #expect(try space.stores[0].read { try $0.task(id) }?.title == "third") }
    }
  }

  @Test func valuesOfDeletedTasksStay() async throws {
    try await withConflicts(tasks: 2) { space, ids in
      try await space.stores[0].write { try $0.delete(ids[0]) }
      let restored = try await space.sync(0).restoreAllConflicts()
      #expect(restored.map(\.objectID) == [ids[1]])
      #expect(try await space.sync(0).conflicts().map(\.objectID) == [ids[0]])
    }
  }

  /// Values that the store refuses stay, whatever the reason, and all others are restored.
  @Test func valuesThatTheStoreRefusesStay() async throws {
    try await withConflicts(tasks: 3) { space, ids in
      let (store, sync) = (space.stores[0], space.sync(0))
      let large = [UInt8](repeating: 0x6E, count: SyncLimit.maximumTextByteCount + 1)
      let list = try await store.write { transaction in
        _ = try transaction.update(ids[1]) { $0.parentID = ids[0] }
        return try transaction.addList(name: "list").id
      }
      let refused: [(object: ObjectKey, field: ObjectState.Field, value: [UInt8], code: TallyError.Code)] = [
        (ObjectKey(isList: false, id: ids[0]), .notes, large, .valueOutOfRange),
        (ObjectKey(isList: false, id: ids[0]), .parent, ReplicaID(ids[1]).bytes, .invalidParent),
        (ObjectKey(isList: false, id: ids[2]), .parent, ReplicaID(ids[2]).bytes, .invalidParent),
        (ObjectKey(isList: true, id: list), .title, large, .valueOutOfRange),
        (ObjectKey(isList: true, id: list), .title, Array("  ".utf8), .blankListName),
      ]
      let restorable = try await sync.conflicts().count
      #expect(restorable == 3)
      try await store.write { transaction in
        for (number, value) in refused.enumerated() {
          let lost = Register(time: Int64(number), replica: ReplicaID(UUID()), value: value.value)
          let winner = Register(time: Int64(number) + 1, replica: ReplicaID(UUID()), value: [])
          let now = transaction.now.microsecondsSince1970
          let conflict = StoredConflict(of: value.object, value.field, lost: lost, to: winner, at: now)
          try transaction.insertConflicts([(conflict, nil)])
        }
      }
      let kept = try await sync.conflicts().reversed().suffix(refused.count)
      for (conflict, value) in zip(kept, refused) {
        let error = await #expect(throws: TallyError.self) { try await sync.restoreConflict(conflict.id) }
        #expect(error?.code == value.code && error?.message.contains("conflict \(conflict.id) ") == true)
      }
      #expect(try await sync.restoreAllConflicts().count == restorable)
      #expect(Set(try await sync.conflicts().map(\.id)) == Set(kept.map(\.id)))
      #expect(try await sync.restoreAllConflicts() == [])
      for id in ids { #expect(try store.read { try $0.task(id) }?.title == "by 0") }
      #expect(try store.read { try $0.task(ids[0]) }?.parentID == nil)
      #expect(try store.read { try $0.list(list) }?.name == "list")
    }
  }

  /// A version that knows no settlements keeps the value that another device has settled; the exchange after its upgrade forgets it.
  @Test func whatWasSettledUnderAnOlderVersionIsForgotten() async throws {
    try await withConflicts(tasks: 2) { space, _ in
      let kept = try await space.stores[0].write { try $0.storedConflicts() }
      try await space.sync(1).dismissConflicts([try #require(space.sync(1).conflicts().first).id])
      try await space.synchronizeAll()
      let left = try await space.sync(0).conflicts()
      #expect(left.count == 1)
      // The older version has received the settlement, and done nothing.
      try await space.stores[0].write { transaction in
        for (id, conflict) in kept {
          let value = [UInt8](try JSONEncoder().encode(conflict))
          try transaction.setSyncValue(value, forKey: SyncKey.conflicts + id.bigEndianBytes)
        }
      }
      #expect(try await space.sync(0).conflicts().count == 2)
      #expect(try await space.sync(0).synchronize().conflicts == 1)
      #expect(try await space.sync(0).conflicts() == left)
      // Nothing is written where nothing is settled.
      let writes = try space.stores[0].begunWriteCount
      try await space.sync(0).synchronize()
      #expect(try space.stores[0].begunWriteCount == writes)
    }
  }

  /// The dismissal arrives together with the winning value, or before it.
  @Test func aValueThatWasDismissedElsewhereIsNotKeptLater() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "by 0" } }
      try await space.sync(0).synchronize()
      space.clock.now = space.clock.now.adding(seconds: 10)
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "by 1" } }
      try await space.sync(1).synchronize()
      try await space.sync(1).dismissConflicts()
      try await space.sync(1).synchronize()
      let report = try await space.sync(0).synchronize()
      #expect(report.conflicts == 0)
      try await expectNoConflicts(space)
    }
  }

  @Test func aDismissalArrivesInASnapshotAndInAFile() async throws {
    try await withConflicts { space, _ in
      try await space.sync(1).dismissConflicts()
      let file = space.directory.appending("second.tally")
      try await space.sync(1).writeDifference(to: file)
      try await space.sync(0).apply(file)
      #expect(try await space.sync(0).conflicts() == [])
    }
    try await withConflicts { space, _ in
      try await space.sync(1).dismissConflicts()
      try space.emptyFolder()
      try await space.sync(1).synchronize()
      try await space.sync(0).synchronize()
      #expect(try await space.sync(0).conflicts() == [])
    }
  }

  @Test func aNumberThatIsNotThereDismissesNothing() async throws {
    try await withConflicts { space, _ in
      let kept = try await space.sync(0).conflicts()
      let error = await #expect(throws: TallyError.self) {
        try await space.sync(0).dismissConflicts([kept[0].id, kept[0].id + 1])
      }
      #expect(error?.code == .conflictNotFound)
      #expect(try await space.sync(0).conflicts() == kept)
    }
  }
}
