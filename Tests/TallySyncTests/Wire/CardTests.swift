import TestSupport
import Testing

@testable import TallySync

struct CardTests {
  private let sample = WireSample()

  private var card: Card { Card(name: "Élan’s laptop", keys: sample.keys[0], createdAt: -5) }

  private func sealed(in space: SpaceKeys? = nil) throws -> Envelope {
    try card.sealed(number: 3, of: sample.author, with: sample.keys[0], in: space ?? sample.space)
  }

  private func open(_ bytes: [UInt8], in space: SpaceKeys? = nil) throws(EnvelopeFault) -> Card {
    try Card(opening: Envelope(parsing: bytes), of: sample.author, in: space ?? sample.space)
  }

  @Test func cardsComeBack() throws {
    for space in [sample.space, sample.unencrypted] {
      let envelope = try sealed(in: space)
      #expect(try open(envelope.bytes, in: space) == card)
      #expect(envelope.header.label.number == 3)
    }
    #expect(card.verifyingKey == sample.keys[0].verifyingKey)
    #expect(card.agreementKey == sample.keys[0].agreementKey)
    #expect(ReplicaKeys(bytes: sample.keys[0].bytes)?.bytes == sample.keys[0].bytes)
    #expect(ReplicaKeys(bytes: sample.keys[0].bytes)?.verifyingKey == card.verifyingKey)
    #expect(ReplicaKeys(bytes: [1, 2]) == nil)
  }

  @Test func everyFlippedBitIsRefused() throws {
    for space in [sample.space, sample.unencrypted] {
      let bytes = try sealed(in: space).bytes
      for bit in 0..<(8 * bytes.count) {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(throws: EnvelopeFault.self, "bit \(bit)") { try open(changed, in: space) }
      }
    }
  }

  @Test func cardThatAnotherKeyHasSignedIsRefused() throws {
    let forged = try card.sealed(number: 3, of: sample.author, with: sample.keys[1], in: sample.space)
    #expect(throws: EnvelopeFault.signatureDoesNotVerify) { try open(forged.bytes) }
  }

  @Test func cardOfAnotherReplicaOrKindIsRefused() throws {
    let envelope = try sealed()
    #expect(throws: EnvelopeFault.otherReplica) {
      try Card(opening: envelope, of: sample.replicas[1], in: sample.space)
    }
    #expect(throws: EnvelopeFault.wrongKind) { try open(sample.envelope(card.encoded).bytes) }
    #expect(throws: EnvelopeFault.unsealed) { try open(sealed(in: sample.unencrypted).bytes) }
  }

  @Test func longNamesAreCutBetweenCharacters() throws {
    let name = Card(name: String(repeating: "é", count: 300), keys: sample.keys[0], createdAt: 0).name
    #expect(name == String(repeating: "é", count: 128))
  }

  @Test func changedBytesAreRefusedOrAreAnotherCard() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "card changedBytes"))
    for _ in 0..<2_000 {
      let changed = card.encoded.changed(using: &random)
      guard let other = try? Card(decoding: changed) else { continue }
      #expect(other.encoded == changed)
    }
    #expect(throws: EnvelopeFault.needsNewerVersion) { try Card(decoding: [3]) }
  }
}
