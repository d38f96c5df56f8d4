import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Damage of the rows of synchronisation is found, and repaired from the records and the place.
struct VerifyTests {
  enum Damage: CaseIterable {
    case unreadableState, missingState, otherState, hash, replicas, segment, card, conflict, position
  }

  @Test(arguments: Damage.allCases) func damageIsFoundAndRepaired(_ damage: Damage) async throws {
    try await withFolderSpace { space in
      let id = try await space.fill()
      for store in space.stores { #expect(try await StoreSync(store).verify() == []) }
      try await space.stores[0].write { _ = try $0.update(id) { $0.notes = "waits" } }
      try await space.stores[0].write { try $0.damage(damage, of: id) }
      #expect(try await space.sync(0).verify() != [])
      #expect(try await space.sync(0).repair() != [])
      #expect(try await space.sync(0).verify() == [])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        #expect(try await StoreSync(store).verify() == [])
        let task = try #require(try store.read { try $0.task(id) })
        #expect((task.title, task.notes, task.tags) == ("one", "waits", ["a"]))
      }
    }
  }

  /// A part of a task in the outbox, without its state, does not look like a task that was deleted.
  @Test func aTaskWhoseStateIsLostWhileAChangeOfItWaitsStays() async throws {
    try await withFolderSpace { space in
      let id = try await space.fill()
      try await space.stores[0].write { transaction in
        _ = try transaction.update(id) { $0.notes = "waits" }
        _ = try transaction.merging { _, _, _ in }
        try transaction.damage(.unreadableState, of: id)
      }
      #expect(try await space.sync(0).repair() != [])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.notes == "waits") }
    }
  }

  @Test func aSoundStoreStaysTheReplicaThatItIs() async throws {
    try await withFolderSpace { space in
      _ = try await space.fill()
      let replica = try await space.sync(0).status().replica
      #expect(try await space.sync(0).repair() == [])
      #expect(try await space.sync(0).status().replica == replica)
    }
  }
}

extension FolderSpace {
  fileprivate func fill() async throws -> UUID {
    let id = try await stores[0].write { transaction in
      let list = try transaction.addList(name: "Home")
      let done = try transaction.add("done", to: .inbox) { $0.listID = list.id }.id
      try transaction.complete(done)
      return try transaction.add("one", to: .inbox) { ($0.listID, $0.tags) = (list.id, ["a"]) }.id
    }
    try await synchronizeAll()
    return id
  }
}

extension StoreWriteTransaction {
  fileprivate mutating func damage(_ damage: VerifyTests.Damage, of id: UUID) throws {
    let key = SyncKey.states + ObjectKey(isList: false, id: id).bytes
    switch damage {
    case .unreadableState: try setSyncValue([9, 9, 9], forKey: key)
    case .missingState: try setSyncValue(nil, forKey: key)
    case .otherState:
      var table = try StateTable(in: self)
      let object = ObjectKey(isList: false, id: id)
      let state = try table.state(of: object, in: self)
      let replica = try requireSyncSettings().replicaID
      let other = state.joined(with: state.setting(.priority, to: [2], at: 1, by: replica))
      try table.write([object: TouchedObject(before: state, state: other)], in: &self)
      _ = try takePending(limit: .max)
    case .hash: try setSyncValue(Array(repeating: 7, count: 32), forKey: SyncKey.stateHash)
    case .replicas: try setSyncValue([1], forKey: SyncKey.replicas + [0])
    case .segment: try setSyncValue([1, 2], forKey: SyncKey.outbox + UInt64(99).bigEndianBytes)
    case .card: try setSyncValue([1, 2], forKey: SyncKey.cards + ReplicaID(UUID()).bytes)
    case .conflict: try setSyncValue([1], forKey: SyncKey.conflicts + UInt64(9).bigEndianBytes)
    case .position: try setSyncValue([1], forKey: SyncKey.streams + ReplicaID(UUID()).bytes)
    }
  }
}
