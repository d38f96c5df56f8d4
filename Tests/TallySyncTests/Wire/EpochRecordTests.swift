import TestSupport
import Testing

@testable import TallySync

struct EpochRecordTests {
  private let sample = WireSample()

  private func record() throws -> EpochRecord {
    let key = try #require(sample.space.keys[2])
    var members: [ReplicaID: EpochRecord.Member] = [:]
    for (replica, keys) in zip(sample.replicas, sample.keys).prefix(2) {
      let box = try key.sealed(for: keys.agreementKey, of: replica, epoch: 2, in: sample.space.space)
      members[replica] = EpochRecord.Member(verifyingKey: keys.verifyingKey, sealedKey: box)
    }
    let cutOff = StreamPosition(number: 300, hash: ContentHash(of: [1]))
    let revocation = EpochRecord.Revocation(verifyingKey: sample.keys[2].verifyingKey, cutOff: cutOff)
    return EpochRecord(
      number: 2, keyHash: key.hash(in: sample.space.space), members: members,
      revocations: [sample.replicas[2]: revocation])
  }

  private func sealed(_ record: EpochRecord) throws -> Envelope {
    let card = Card(name: "laptop", keys: sample.keys[0], createdAt: 5, olderKeys: sample.space.olderKeys)
    return try card.sealed(
      number: 3, of: sample.author, with: sample.keys[0], in: sample.space, record: record)
  }

  @Test func recordsComeBackFromACardWithoutAnyKey() throws {
    let record = try record()
    let envelope = try Envelope(parsing: sealed(record).bytes)
    #expect(try envelope.epochRecord == record)
    #expect(try EpochRecord(decoding: record.encoded) == record)
    let card = try Card(opening: envelope, of: sample.author, in: sample.space)
    #expect(card.olderKeys == [EpochKey(epoch: 1, key: try #require(sample.space.keys[1]))])
    let old = SpaceKeys(space: sample.space.space, epoch: 1, keys: sample.space.keys.filter { $0.key == 1 })
    #expect(throws: EnvelopeFault.unknownEpoch(2)) { try Card(opening: envelope, of: sample.author, in: old) }
    for (replica, keys) in zip(sample.replicas, sample.keys) {
      let key = record.key(for: replica, keys, in: sample.space.space)
      #expect(key == (replica == sample.replicas[2] ? nil : sample.space.keys[2]))
    }
  }

  @Test func everyFlippedBitOfACardWithARecordIsRefused() throws {
    let bytes = try sealed(record()).bytes
    for bit in 0..<(8 * bytes.count) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: EnvelopeFault.self, "bit \(bit)") {
        let envelope = try Envelope(parsing: changed)
        try envelope.verify(by: sample.keys[0].verifyingKey)
        _ = try Card(opening: envelope, of: sample.author, in: sample.space)
      }
    }
  }

  @Test func changedBytesAreRefusedOrAreAnotherRecord() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "record changedBytes"))
    let bytes = try record().encoded
    for _ in 0..<2_000 {
      let changed = bytes.changed(using: &random)
      guard let other = try? EpochRecord(decoding: changed) else { continue }
      #expect(other.encoded == changed)
    }
    #expect(throws: EnvelopeFault.needsNewerVersion) { try EpochRecord(decoding: [2]) }
  }

  @Test func onlySealedCardsHaveAClearPart() throws {
    var bytes = try sample.envelope([1, 2, 3]).bytes
    bytes[6] |= 2
    #expect(throws: EnvelopeFault.needsNewerVersion) { try Envelope(parsing: bytes) }
    bytes = try sealed(record()).bytes
    bytes[6] = 2
    #expect(throws: EnvelopeFault.needsNewerVersion) { try Envelope(parsing: bytes) }
  }

  @Test func ofTwoKeysOfOneEpochTheSmallestHashSealsAndBothOpen() throws {
    let (one, two) = (SpaceKey(), SpaceKey())
    let start = SpaceKeys(space: sample.space.space, epoch: 1, keys: [1: SpaceKey()])
    let left = start.adding(EpochKey(epoch: 2, key: one)).adding(EpochKey(epoch: 2, key: two))
    let right = start.adding(EpochKey(epoch: 2, key: two)).adding(EpochKey(epoch: 2, key: one))
    #expect(left == right && left.epoch == 2)
    #expect(left.adding(EpochKey(epoch: 2, key: one)) == left)
    for key in [one, two] {
      let space = SpaceKeys(space: start.space, epoch: 2, keys: [2: key])
      #expect(try sample.envelope([7], in: space).content(in: left) == [7])
    }
    #expect(left.olderKeys.count == 2)
  }
}
