import Foundation
import Tally
import TallyTestSupport
import Testing

@testable import TallySync

/// Values that are sealed and signed, and that no version of Tally writes: found by fuzzing.
struct ImpossibleValueTests {
  /// The first was a fault of the storage, which ended the whole exchange; the second was kept, and could end the process.
  @Test(arguments: [[1, 2, 3], .completion(createdAt: .max)])
  func aCompletionThatCannotBeCountedStopsItsStreamAlone(completion: [UInt8]) async throws {
    try await withFolderSpace(3) { space in
      try await space.sync(0).change { transaction, settings in
        let change = ObjectChange(object: .random, state: .completed(with: completion, by: settings.replicaID))
        try Outbox.seal([change], &settings, in: &transaction)
        try transaction.setSyncSettings(settings)
      }
      try await space.sync(0).synchronize()
      try await space.stores[1].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(1).synchronize()
      let report = try await space.sync(2).synchronize()
      #expect(report.blocked.count == 1)
      #expect(try space.stores[2].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
    }
  }

  /// A known register with an unknown value, which may come from a newer version.
  @Test(arguments: [
    (ObjectState.Field.due, [3, 1, 2], "due"), (.recurrence, [9, 9], "recurrence"), (.priority, [200], "priority"),
    (.scheduledDate, [1], "scheduledDate"), (.attribute("size"), [1, 2, 3, 4], "attributes.size"),
    (.parent, [1], "parentID"),
  ])
  func aValueOfANewerVersionAsksForAnUpgrade(field: ObjectState.Field, value: [UInt8], name: String) async throws {
    try await withFolderSpace(3) { space in
      try await space.sync(0).seal { $0.setting(field, to: value, at: 2, by: $1) }
      try await space.stores[1].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(1).synchronize()
      let report = try await space.sync(2).synchronize()
      let blocked = try #require(report.blocked.first)
      #expect(report.blocked.count == 1 && blocked.needsUpgrade && !blocked.isIncomplete, "\(blocked)")
      #expect(blocked.reason.contains("'\(name)'") && blocked.remedy?.contains("newest version") == true)
      let status = try await space.sync(2).status()
      #expect(status.needsUpgrade && status.blocked == report.blocked)
      #expect(try space.stores[2].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
      // Everything else works, and the waiting segment causes no writes.
      let writes = try space.stores[2].begunWriteCount
      try await space.sync(2).synchronize()
      #expect(try space.stores[2].begunWriteCount == writes)
    }
  }

  /// Every version can read texts, so bytes that are not a text are damage.
  @Test func bytesThatAreNoTextAskForNoUpgrade() async throws {
    try await withFolderSpace { space in
      try await space.sync(0).seal { $0.setting(.notes, to: [0xFF, 0xFE], at: 2, by: $1) }
      let blocked = try #require(try await space.sync(1).synchronize().blocked.first)
      #expect(!blocked.needsUpgrade && !blocked.isIncomplete && blocked.reason.contains("not what Tally writes"))
    }
  }

  @Test func aSnapshotThatCannotBeReadIsLeftOut() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(0).synchronize()
      let (name, part) = try await space.sync(0).change { transaction, settings in
        let replica = settings.replicaID
        let ahead = StreamPosition(number: 99, hash: ContentHash(of: [1]))
        let summary = SnapshotSummary(coverage: [replica: ahead], madeAt: 0, stateHash: .none, partCount: 1)
        let label = EnvelopeHeader.Label(
          kind: .snapshotPart, replica: replica, number: 0, link: summary.coverageHash)
        let part = SnapshotPart(summary: summary, states: [.random: .completed(with: [1, 2, 3], by: replica)])
        let envelope = try Envelope(
          sealing: part.encoded(by: replica), as: label, with: settings.secretKeys(), in: settings.spaceKeys())
        let digest = Array(summary.coverageHash.bytes.prefix(8))
        return (SnapshotName(replica: replica, number: 1, digest: digest, partCount: 1), envelope.bytes)
      }
      try await space.sync(0).connect().transport.putPart(part, number: 0, of: name)
      try await space.sync(1).synchronize()
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
    }
  }
}

extension StoreSync {
  /// Sends a task with a further write.
  fileprivate func seal(_ write: @escaping @Sendable (ObjectState, ReplicaID) -> ObjectState) async throws {
    try await change { transaction, settings in
      let replica = settings.replicaID
      var state = ObjectState().setting(.title, to: Array("new".utf8), at: 1, by: replica)
      let created = FieldValue.instant(Timestamp(clamping: 1)).storedBytes
      state.join(state.setting(.created, to: created, at: 1, by: replica))
      state.join(write(state, replica))
      try Outbox.seal([ObjectChange(object: .random, state: state)], &settings, in: &transaction)
      try transaction.setSyncSettings(settings)
    }
    try await synchronize()
  }

  fileprivate func change<R: Sendable>(
    _ body: @escaping @Sendable (inout StoreWriteTransaction, inout SyncSettings) throws -> R
  ) async throws -> R {
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      return try body(&transaction, &settings)
    }
  }
}

extension ObjectKey {
  fileprivate static var random: ObjectKey { ObjectKey(isList: false, id: UUID()) }
}

extension ObjectState {
  fileprivate static func completed(with completion: [UInt8], by replica: ReplicaID) -> ObjectState {
    var state = ObjectState().setting(.title, to: Array("bad".utf8), at: 1, by: replica)
    let created = FieldValue.instant(Timestamp(clamping: 1)).storedBytes
    state.join(state.setting(.created, to: created, at: 1, by: replica))
    state.join(state.completing(with: completion, at: 1, by: replica))
    return state
  }
}

extension [UInt8] {
  /// A completion in the inbox, of a task that was created at a time in microseconds since 1970.
  fileprivate static func completion(createdAt: Int64) -> [UInt8] {
    let created = (UInt64(bitPattern: createdAt) ^ 1 << 63).bigEndianBytes
    return FieldValue.instant(Timestamp(clamping: 1)).storedBytes + [1, 0, 0, 0] + created
      + [UInt8](repeating: 0, count: 16)
  }
}
