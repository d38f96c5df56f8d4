import Foundation
import Tally
import TallyTestSupport
import Testing

@testable import TallySync

/// Values that are sealed and signed, and that no version of Tally writes: found by fuzzing.
struct ImpossibleValueTests {
  /// It was a fault of the storage, which ended the whole exchange.
  @Test func aCompletionThatCannotBeReadStopsItsStreamAlone() async throws {
    try await withFolderSpace(3) { space in
      try await space.sync(0).change { transaction, settings in
        let change = ObjectChange(object: .random, state: .uncounted(by: settings.replicaID))
        try Outbox.put([change], &settings, in: &transaction)
        try transaction.setSyncSettings(settings)
      }
      try await space.sync(0).synchronise()
      try await space.stores[1].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(1).synchronise()
      let report = try await space.sync(2).synchronise()
      #expect(report.blocked.count == 1)
      #expect(try space.stores[2].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
    }
  }

  @Test func aSnapshotThatCannotBeReadIsLeftOut() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(0).synchronise()
      let (settings, name, part) = try await space.sync(0).change { transaction, settings in
        let replica = settings.replicaID
        let ahead = StreamPosition(number: 99, hash: ContentHash(of: [1]))
        let summary = SnapshotSummary(coverage: [replica: ahead], madeAt: 0, stateHash: .none, partCount: 1)
        let label = EnvelopeHeader.Label(
          kind: .snapshotPart, replica: replica, number: 0, link: summary.coverageHash)
        let part = SnapshotPart(summary: summary, states: [.random: .uncounted(by: replica)])
        let envelope = try Envelope(
          sealing: part.encoded(by: replica), as: label, with: settings.secretKeys(), in: settings.spaceKeys())
        let digest = Array(summary.coverageHash.bytes.prefix(8))
        return (settings, SnapshotName(replica: replica, number: 1, digest: digest, partCount: 1), envelope.bytes)
      }
      try await space.sync(0).transport(of: settings).putPart(part, number: 0, of: name)
      try await space.sync(1).synchronise()
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
    }
  }
}

extension StoreSync {
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
  /// A task with a completion of three bytes.
  fileprivate static func uncounted(by replica: ReplicaID) -> ObjectState {
    var state = ObjectState().setting(.title, to: Array("bad".utf8), at: 1, by: replica)
    let created = FieldValue.instant(Timestamp(clamping: 1)).storedBytes
    state.join(state.setting(.created, to: created, at: 1, by: replica))
    state.join(state.completing(with: [1, 2, 3], at: 1, by: replica))
    return state
  }
}
