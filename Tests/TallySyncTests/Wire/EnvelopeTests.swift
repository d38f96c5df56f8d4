import TestSupport
import Testing

@testable import TallySync

struct EnvelopeTests {
  private let sample = WireSample()

  @Test(arguments: [0, 1, 59, 60, 61, 124, 1_000, 100_000])
  func bodiesComeBack(byteCount: Int) throws {
    let body = [UInt8](repeating: 7, count: byteCount)
    for space in [sample.space, sample.unencrypted] {
      let envelope = try sample.envelope(body, in: space)
      #expect(try sample.open(envelope.bytes, in: space) == body)
      let padded = envelope.header.bodyByteCount - (space.isEncrypted ? 16 : 0)
      #expect(padded.isMultiple(of: 64) && padded >= byteCount + 4 && padded < byteCount + 4 + 64)
    }
  }

  /// The layout of `docs/synchronisation.md`.
  @Test func fieldsLieWhereTheyAreDocumented() throws {
    let salt = [UInt8](0..<32)
    let envelope = try Envelope(
      sealing: [1, 2, 3], as: sample.label(.snapshotPart, number: 0x0102), with: sample.keys[0], in: sample.space,
      salt: salt)
    let bytes = envelope.bytes
    #expect(Array(bytes[..<8]) == Array("TLYS".utf8) + [1, 2, 1, 0])
    #expect(Array(bytes[8..<24]) == sample.space.space.bytes)
    #expect(Array(bytes[24..<40]) == sample.author.bytes)
    #expect(Array(bytes[40..<52]) == [0, 0, 0, 2] + [0, 0, 0, 0, 0, 0, 1, 2])
    #expect(Array(bytes[52..<84]) == ContentHash(of: [1]).bytes)
    #expect(Array(bytes[84..<116]) == salt)
    #expect(Array(bytes[116..<120]) == [0, 0, 0, 80])
    #expect(bytes.count == 120 + 80 + 64)
    #expect(envelope.header.totalByteCount == bytes.count)
    #expect(try EnvelopeHeader(parsing: bytes) == envelope.header)
    #expect(envelope.head == SegmentHead(number: 0x0102, digest: Array(ContentHash(of: bytes).bytes[..<8])))
  }

  @Test func kindsHaveTheirNumbers() {
    #expect(EnvelopeHeader.Kind.allCases.map(\.rawValue) == [1, 2, 3])
  }

  /// Another implementation must be able to open it: RFC 5869 and RFC 8439, with the header as associated data.
  @Test func bodyIsNotThereInTheClear() throws {
    let secret = Array("a title that nobody else may read".utf8)
    let envelope = try sample.envelope(secret)
    #expect(!envelope.bytes.indices.contains { envelope.bytes[$0...].starts(with: secret.prefix(8)) })
  }

  @Test func everySaltIsAnother() throws {
    let salts = try (0..<20).map { _ in try sample.envelope([1]).header.salt }
    #expect(Set(salts).count == 20)
    #expect(salts.allSatisfy { $0.count == 32 })
  }

  @Test func bodiesOfOneBlockHaveOneSize() throws {
    let counts = try (0...60).map { try sample.envelope([UInt8](repeating: 1, count: $0)).bytes.count }
    #expect(Set(counts).count == 1)
  }

  @Test func everyFlippedBitIsRefused() throws {
    let bytes = try sample.envelope(Array("a title".utf8)).bytes
    for bit in 0..<(8 * bytes.count) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: EnvelopeFault.self, "bit \(bit)") { try sample.open(changed) }
    }
  }

  @Test func everyFlippedBitOfAnUnsealedOneIsRefused() throws {
    let bytes = try sample.envelope(Array("a title".utf8), in: sample.unencrypted).bytes
    for bit in 0..<(8 * bytes.count) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: EnvelopeFault.self, "bit \(bit)") { try sample.open(changed, in: sample.unencrypted) }
    }
  }

  /// Those who know the key of the space, and not the key of the replica.
  @Test func flippedBitsAreRefusedByTheSealAlone() throws {
    let envelope = try sample.envelope(Array("a title".utf8))
    for bit in 0..<(8 * (envelope.bytes.count - 64)) where bit / 8 < 116 || bit / 8 >= 120 {
      var changed = envelope.bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let parsed = try? Envelope(parsing: changed), parsed.header.isSealed else { continue }
      #expect(throws: EnvelopeFault.self, "bit \(bit)") { try parsed.content(in: sample.space) }
    }
  }

  @Test func everyTruncationIsRefused() throws {
    let bytes = try sample.envelope([1]).bytes
    for count in bytes.indices {
      #expect(throws: EnvelopeFault.tooShort) { try Envelope(parsing: Array(bytes[..<count])) }
    }
    #expect(throws: EnvelopeFault.trailingBytes) { try Envelope(parsing: bytes + [0]) }
  }

  @Test func randomBytesAreRefused() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomBytesAreRefused"))
    for round in 0..<2_000 {
      let start = round.isMultiple(of: 2) ? Array("TLYS".utf8) + [1, 1, 1, 0] : []
      let bytes = start + .random(count: Int.random(in: 0...400, using: &random), using: &random)
      #expect(throws: EnvelopeFault.self) { try sample.open(bytes) }
    }
  }

  @Test func envelopesInOneFileAreToldApart() throws {
    let envelopes = try [[], [1], [UInt8](repeating: 2, count: 300)].map { try sample.envelope($0) }
    let file = envelopes.flatMap(\.bytes)
    #expect(try Envelope.all(in: file) == envelopes)
    #expect(try Envelope.all(in: []) == [])
    #expect(throws: EnvelopeFault.tooShort) { try Envelope.all(in: file.dropLast()) }
    #expect(throws: EnvelopeFault.notAnEnvelope) { try Envelope.all(in: file + [0]) }
  }
}

struct EnvelopeFaultTests {
  private let sample = WireSample()

  @Test func wrongKeysAreNamed() throws {
    let envelope = try sample.envelope([1])
    let key = sample.keys[0].verifyingKey
    func fault(
      as kind: EnvelopeHeader.Kind = .segment, of replica: ReplicaID? = nil, verifying other: VerifyingKey? = nil,
      in space: SpaceKeys? = nil
    ) -> EnvelopeFault? {
      #expect(throws: EnvelopeFault.self) {
        try envelope.open(
          as: kind, of: replica ?? sample.author, verifying: other ?? key, in: space ?? sample.space)
      }
    }
    let space = sample.space
    #expect(fault(as: .card) == .wrongKind)
    #expect(fault(of: sample.replicas[1]) == .otherReplica)
    #expect(fault(verifying: sample.keys[1].verifyingKey) == .signatureDoesNotVerify)
    #expect(fault(in: SpaceKeys(space: SpaceID(), epoch: 2, keys: space.keys)) == .otherSpace)
    #expect(fault(in: SpaceKeys(space: space.space, epoch: 3, keys: [:])) == .unknownEpoch(2))
    #expect(fault(in: SpaceKeys(space: space.space, epoch: 2, keys: [2: SpaceKey()])) == .doesNotOpen)
    #expect(fault(in: sample.unencrypted) == .unknownEpoch(2))
  }

  @Test func earlierEpochsStillOpen() throws {
    let past = SpaceKeys(space: sample.space.space, epoch: 1, keys: sample.space.keys)
    let envelope = try sample.envelope([5], in: past)
    #expect(envelope.header.epoch == 1)
    #expect(try sample.open(envelope.bytes) == [5])
  }

  /// Even one that the replica itself has signed.
  @Test func unsealedOneIsRefusedInAnEncryptedSpace() throws {
    let envelope = try sample.envelope([1], in: sample.unencrypted)
    #expect(throws: EnvelopeFault.unsealed) { try sample.open(envelope.bytes) }
  }

  @Test func spaceThatHasLostItsKeysIsStillEncrypted() throws {
    let lost = SpaceKeys(space: sample.space.space, epoch: 2, keys: [:])
    let envelope = try sample.envelope([1], in: sample.unencrypted)
    #expect(throws: EnvelopeFault.unsealed) { try sample.open(envelope.bytes, in: lost) }
    #expect(throws: EnvelopeFault.unknownEpoch(2)) { try sample.envelope([1], in: lost) }
  }

  @Test(arguments: [4, 5, 6, 7])
  func newerFormsNeedANewerVersion(offset: Int) throws {
    var bytes = try sample.envelope([1]).bytes
    bytes[offset] = 0x42
    #expect(throws: EnvelopeFault.needsNewerVersion) { try EnvelopeHeader(parsing: bytes) }
  }

  @Test func largeOnesAreRefusedByTheirHeader() throws {
    var bytes = try sample.envelope([1]).bytes
    bytes.replaceSubrange(116..<120, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(throws: EnvelopeFault.tooLarge) { try EnvelopeHeader(parsing: bytes) }
    let body = [UInt8](repeating: 0, count: 8 << 20)
    #expect(throws: EnvelopeFault.tooLarge) { try sample.envelope(body) }
    #expect(try sample.open(sample.envelope(body.dropLast(1_000)).bytes).count == body.count - 1_000)
  }

  @Test(
    arguments: [
      ([], .malformed(.endsEarly)), ([0, 0, 0], .malformed(.endsEarly)),
      ([0, 0, 0, 61] + [UInt8](repeating: 0, count: 60), .malformed(.endsEarly)),
      // Another block than needed, a byte after the body, and half a block.
      ([0, 0, 0, 1] + [UInt8](repeating: 0, count: 124), .malformed(.notCanonical)),
      ([0, 0, 0, 1] + [UInt8](repeating: 0, count: 59) + [1], .malformed(.notCanonical)),
      ([0, 0, 0, 1] + [UInt8](repeating: 0, count: 28), .malformed(.notCanonical)),
      ([0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 60), .malformed(.endsEarly)),
    ] as [([UInt8], EnvelopeFault)])
  func otherPaddingIsRefused(padded: [UInt8], fault: EnvelopeFault) {
    #expect(throws: fault) { try BodyPadding.content(of: padded) }
  }

  @Test func faultsAreSentences() {
    let faults: [EnvelopeFault] = [
      .tooShort, .trailingBytes, .notAnEnvelope, .needsNewerVersion, .tooLarge, .otherSpace, .otherReplica, .wrongKind,
      .unsealed, .unknownEpoch(3), .signatureDoesNotVerify, .doesNotOpen, .malformed(.endsEarly),
    ]
    #expect(Set(faults.map(\.description)).count == faults.count)
    #expect(faults.allSatisfy { $0.description.hasSuffix(".") })
  }

  @Test func secretsAreNotDescribed() {
    let (key, keys) = (SpaceKey(), ReplicaKeys())
    for text in ["\(key)", String(reflecting: key), "\(keys)", String(reflecting: keys), "\(sample.space)"] {
      #expect(!text.contains("\(key.bytes[0]), \(key.bytes[1])"))
      #expect(text.contains("a space key") || text.contains("the keys of a replica"))
    }
  }
}
