import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Records that nobody may write, put into the folder as if somebody had.
struct ForgedRecordTests {
  @Test func whatARevokedReplicaPublishesChangesNothing() async throws {
    try await withScatteredSpace(3) { space in
      let thief = try await Thief(space, 2)
      _ = try await space.sync(0).revoke(thief.replica)
      try await space.settle()
      let epoch = try await space.epoch(0)
      for number in [2, 3, 99] as [UInt32] {
        let record = try await thief.record(number, revoking: [space.replica(0), space.replica(1)], in: space)
        try thief.publish(record, as: thief.replica, number: 50 + UInt64(number), to: space.folder(0))
      }
      // Another identity, with the key that the thief has, and one that says it uses the new one.
      for (number, epoch) in [(1, 1), (2, 2)] as [(UInt64, UInt32)] {
        try thief.publish(nil, as: ReplicaID(UUID()), number: number, to: space.folder(0), inEpoch: epoch)
      }
      try await space.settle()
      try await space.expectUnchanged([0, 1], epoch: epoch, revoked: [thief.replica])
      #expect(try await space.sync(0).members().count { $0.code != nil } == 3)
    }
  }

  /// Somebody has the key, from an invitation that leaked, and signs as a member whose signing key they lack.
  @Test func recordsThatTheirAuthorHasNotSignedChangeNothing() async throws {
    try await withScatteredSpace(3) { space in
      let stranger = try await Thief(space, 2, keys: ReplicaKeys())
      let member = try await space.replica(1)
      let record = try await stranger.record(2, revoking: [space.replica(0)], in: space)
      try stranger.publish(record, as: member, number: 50, to: space.folder(0))
      try await stranger.publish(record, as: space.replica(0), number: 50, to: space.folder(2))
      for number in [0, 2] { #expect(try await space.synchronize(number) == nil) }
      try await space.expectUnchanged([0, 2], epoch: 1, revoked: [])
    }
  }

  @Test func oldRecordsThatArePutBackChangeNothing() async throws {
    try await withScatteredSpace(4) { space in
      _ = try await space.sync(0).revoke(space.replica(3))
      try await space.settle()
      let (author, path) = (try await space.replica(0), try await space.cards(of: 0, in: 1))
      let names = try FileManager.default.contentsOfDirectory(atPath: path.string)
      let old = try names.filter { $0.hasSuffix(".card") }.map { name in
        try Data(contentsOf: URL(filePath: path.appending(name).string))
      }
      _ = try await space.sync(0).revoke(space.replica(2))
      try await space.settle()
      let key = try await space.key(0)
      // Under the greatest number, so that it is the newest one of the folder.
      for card in old {
        let target = try await space.cards(of: 0, in: 1).appending("card-0000009999.card")
        try card.write(to: URL(filePath: target.string))
        try await space.synchronize(1)
      }
      let revoked = [try await space.replica(2), try await space.replica(3)]
      try await space.expectUnchanged([0, 1], epoch: 3, revoked: revoked)
      #expect(try await space.key(1) == key)
      #expect(try await space.sync(1).members().contains { $0.replica == author && !$0.isRevoked })
    }
  }

  /// A device hands over a key for the next epoch before it is revoked; one that joins later must not seal with it.
  @Test func aKeyFromARevokedReplicaIsNotTakenByThoseWhoJoinLater() async throws {
    try await withScatteredSpace(3) { space in
      let thief = try await Thief(space, 2)
      // Of several keys of one epoch the one with the smallest hash seals.
      let key = (0..<2_000).map { _ in SpaceKey() }.min {
        $0.hash(in: thief.space.space) < $1.hash(in: thief.space.space)
      }
      let planted = EpochKey(epoch: 2, key: try #require(key))
      try thief.publish(nil, as: thief.replica, number: 50, to: space.folder(0), handingOver: [planted])
      try await space.settle()
      _ = try await space.sync(0).revoke(thief.replica)
      try await space.settle()
      let late = try await space.join(invitedBy: 0)
      try await space.settle()
      #expect(try await space.key(late) == space.key(0))
      try await space.expectUnchanged([0, 1, late], epoch: 2, revoked: [thief.replica])
    }
  }

  @Test func numbersOfEpochsDoNotRunOut() async throws {
    try await withScatteredSpace(3) { space in
      let member = try await Thief(space, 2)
      let record = try await member.record(.max, revoking: [], in: space)
      try member.publish(record, as: member.replica, number: 50, to: space.folder(0))
      try await space.settle()
      #expect(try await space.epoch(0) == 1)
      _ = try await space.sync(0).revoke(member.replica)
      try await space.settle()
      try await space.expectUnchanged([0, 1], epoch: 2, revoked: [member.replica])
    }
  }

  @Test func aSpaceWithoutEncryptionTakesNoRecord() async throws {
    try await withScatteredSpace(2, isEncrypted: false) { space in
      let member = try await Thief(space, 1)
      let record = try await member.record(2, revoking: [space.replica(0)], in: space)
      try member.publish(record, as: member.replica, number: 50, to: space.folder(0), inEpoch: 2)
      #expect(try await space.synchronize(0) == nil)
      #expect(try await !space.sync(0).status().isRevoked)
    }
  }

  @Test func aRecordWithAnotherKeyThanItSaysGivesNobodyAKey() async throws {
    let (space, keys, replica) = (SpaceID(), ReplicaKeys(), ReplicaID(UUID()))
    let (key, other) = (SpaceKey(), SpaceKey())
    func record(of sealed: SpaceKey, for member: ReplicaID, in epoch: UInt32 = 2) throws -> EpochRecord {
      let box = try sealed.sealed(for: keys.agreementKey, of: member, epoch: epoch, in: space)
      let member = EpochRecord.Member(verifyingKey: keys.verifyingKey, sealedKey: box)
      return EpochRecord(number: 2, keyHash: key.hash(in: space), members: [replica: member], revocations: [:])
    }
    #expect(try record(of: key, for: replica).key(for: replica, keys, in: space) == key)
    #expect(try record(of: other, for: replica).key(for: replica, keys, in: space) == nil)
    #expect(try record(of: key, for: ReplicaID(UUID())).key(for: replica, keys, in: space) == nil)
    #expect(try record(of: key, for: replica, in: 3).key(for: replica, keys, in: space) == nil)
    #expect(try record(of: key, for: replica).key(for: replica, ReplicaKeys(), in: space) == nil)
    #expect(try record(of: key, for: replica).key(for: replica, keys, in: SpaceID()) == nil)
  }

  /// With all that the revoked device has, byte for byte: nothing that was written since opens.
  @Test func theKeysOfARevokedReplicaOpenNothingThatWasWrittenSince() async throws {
    try await withScatteredSpace(3) { space in
      try await space.add("a title that is read", to: 1)
      try await space.settle()
      let thief = try await Thief(space, 2)
      // Waits, and is sealed only after the revocation.
      try await space.add("waits on another device", to: 1)
      let before = try space.envelopes(in: 0)
      #expect(before.contains { thief.opens($0) })
      _ = try await space.sync(0).revoke(thief.replica)
      try await space.add("a title that is not read", to: 0)
      try await space.settle()
      let new = try space.envelopes(in: 0).subtracting(before)
      #expect(new.map(\.header.label.kind).filter { $0 == .segment }.count >= 2)
      #expect(Set(new.map(\.header.label.kind)) == Set(EnvelopeHeader.Kind.allCases))
      for envelope in new {
        #expect(!thief.opens(envelope), "\(envelope.header)")
        for name in ["a title", "waits on", "device 0"] {
          #expect(!envelope.bytes.contains(Array(name.utf8)))
        }
        guard let record = try envelope.epochRecord else { continue }
        for replica in record.members.keys + [thief.replica] {
          #expect(record.key(for: replica, thief.keys, in: thief.space.space) == nil)
        }
      }
    }
  }
}

/// Somebody with what a device has: its id, its keys, and the keys of the space that it knew.
private struct Thief {
  let replica: ReplicaID
  let keys: ReplicaKeys
  let space: SpaceKeys

  init(_ scattered: ScatteredSpace, _ number: Int, keys other: ReplicaKeys? = nil) async throws {
    let settings = try await scattered.stores[number].write { try $0.requireSyncSettings() }
    (replica, keys, space) = (settings.replicaID, try other ?? settings.secretKeys(), try settings.spaceKeys())
  }

  /// A record that revokes some replicas and seals a key of the thief for all others.
  func record(_ number: UInt32, revoking: [ReplicaID], in scattered: ScatteredSpace) async throws -> EpochRecord {
    let key = SpaceKey()
    let cards = try await scattered.stores[0].write { transaction in
      try transaction.syncValues(under: SyncKey.cards).compactMap { key, _ -> (ReplicaID, Card)? in
        guard let replica = ReplicaID(bytes: key), let card = try transaction.card(of: replica) else { return nil }
        return (replica, card)
      }
    }
    var (members, revocations): ([ReplicaID: EpochRecord.Member], [ReplicaID: EpochRecord.Revocation]) = ([:], [:])
    for (replica, card) in cards {
      if revoking.contains(replica) {
        revocations[replica] = .init(verifyingKey: card.verifyingKey, cutOff: .start)
      } else {
        let box = try key.sealed(for: card.agreementKey, of: replica, epoch: number, in: space.space)
        members[replica] = .init(verifyingKey: card.verifyingKey, sealedKey: box)
      }
    }
    return EpochRecord(
      number: number, keyHash: key.hash(in: space.space), members: members, revocations: revocations)
  }

  /// Puts a card with a record into a folder.
  func publish(
    _ record: EpochRecord?, as replica: ReplicaID, number: UInt64, to folder: FilePath, inEpoch epoch: UInt32? = nil,
    handingOver olderKeys: [EpochKey] = []
  ) throws {
    let keys = SpaceKeys(
      space: space.space, epoch: epoch ?? space.epoch,
      keys: space.keys.merging([epoch ?? space.epoch: SpaceKey()]) { known, _ in known })
    let card = try Card(name: "not I", keys: self.keys, createdAt: 0, olderKeys: olderKeys)
      .sealed(number: number, of: replica, with: self.keys, in: keys, record: record)
    let path = folder.appending("tally-\(space.space)").appending("replicas").appending("\(replica)")
    try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
    let digits = "\(number)"
    let name = "card-" + String(repeating: "0", count: 10 - digits.count) + digits + ".card"
    try Data(card.bytes).write(to: URL(filePath: path.appending(name).string))
  }

  /// Whether the keys of the space that the device knew open an envelope, whatever epoch it names.
  func opens(_ envelope: Envelope) -> Bool {
    space.keys.values.contains { key in
      let keys = SpaceKeys(space: space.space, epoch: envelope.header.epoch, keys: [envelope.header.epoch: key])
      return (try? envelope.content(in: keys)) != nil
    }
  }
}

extension ScatteredSpace {
  /// The directory with the cards of a store's replica in the folder of another one.
  fileprivate func cards(of number: Int, in host: Int) async throws -> FilePath {
    let status = try await sync(number).status()
    return folder(host).appending("tally-\(status.space)").appending("replicas").appending("\(status.replica)")
  }

  fileprivate func key(_ number: Int) async throws -> [UInt8]? {
    let space = try await stores[number].write { try $0.requireSyncSettings().spaceKeys() }
    return space.keys[space.epoch]?.bytes
  }

  /// Everything in a folder.
  fileprivate func envelopes(in number: Int) throws -> Set<Envelope> {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder(number).string)
    let files = names.filter { name in [".seg", ".snap", ".card"].contains { name.hasSuffix($0) } }
    return try files.reduce(into: []) { envelopes, name in
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder(number).appending(name).string)))
      envelopes.formUnion(try Envelope.all(in: bytes))
    }
  }

  fileprivate func expectUnchanged(
    _ numbers: [Int], epoch: UInt32, revoked: [ReplicaID], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for number in numbers {
      #expect(try await self.epoch(number) == epoch, sourceLocation: sourceLocation)
      let status = try await sync(number).status()
      #expect(!status.isRevoked, sourceLocation: sourceLocation)
      #expect(Set(status.members.filter(\.isRevoked).map(\.replica)) == Set(revoked), sourceLocation: sourceLocation)
    }
    try await expectEqual(numbers, sourceLocation: sourceLocation)
  }
}
