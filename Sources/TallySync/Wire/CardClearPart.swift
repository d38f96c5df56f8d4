import Crypto

/// What everybody can read of a card in a space that has had a revocation.
struct CardClearPart: Hashable, Sendable {
  /// The record of the newest epoch that the author of the card knows.
  let record: EpochRecord
  /// The key that verifies the card.
  let verifyingKey: VerifyingKey
  /// Proofs that the author has the keys of past epochs, one for each.
  ///
  /// A replica that has only such a key, and has never seen a card of the author, sees by them that it is a member.
  let proofs: [ContentHash]

  /// Takes the parts.
  init(record: EpochRecord, verifyingKey: VerifyingKey, proofs: [ContentHash]) {
    (self.record, self.verifyingKey, self.proofs) = (record, verifyingKey, proofs)
  }

  /// Proves that a replica has keys.
  init(_ record: EpochRecord, of replica: ReplicaID, _ key: VerifyingKey, having older: [EpochKey]) {
    self.init(
      record: record, verifyingKey: key, proofs: older.map { record.proof(of: replica, key, having: $0.key) })
  }

  /// Whether the author of the card has a key.
  func proves(that replica: ReplicaID, has spaceKey: SpaceKey) -> Bool {
    proofs.contains(record.proof(of: replica, verifyingKey, having: spaceKey))
  }
}

extension EpochRecord {
  /// A message authentication code (HMAC, RFC 2104) over the record, the replica and its verifying key.
  fileprivate func proof(of replica: ReplicaID, _ key: VerifyingKey, having spaceKey: SpaceKey) -> ContentHash {
    let message = encoded + replica.bytes + key.bytes
    let code = HMAC<SHA256>.authenticationCode(for: message, using: spaceKey.keyForProofs)
    return ContentHash(bytes: Array(code)) ?? .none
  }
}

// The form of a clear part: version, 1; byte count of the record, and the record; verifying key, 32 bytes; count of proofs,
// and for each 32 bytes.

extension CardClearPart {
  /// The bytes of the clear part, equal for equal parts.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: [BodyVersion.current])
    writer.append(counted: record.encoded)
    writer.append(raw: verifyingKey.bytes)
    writer.append(UInt64(proofs.count))
    for proof in proofs { writer.append(raw: proof.bytes) }
    return writer.bytes
  }

  /// Reads a clear part.
  ///
  /// - Parameter bytes: What ``encoded`` returned, or anything else.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)`` for anything else.
  init(decoding bytes: [UInt8]) throws(EnvelopeFault) {
    let (record, key, proofs) = try BodyVersion.decode(bytes) { reader throws(CodingFault) in
      let record = try reader.countedBytes()
      let key = try reader.verifyingKey()
      var proofs: [ContentHash] = []
      for _ in 0..<(try reader.count(ofAtLeast: ContentHash.byteCount)) { proofs.append(try reader.hash()) }
      return (record, key, proofs)
    }
    self.init(record: try EpochRecord(decoding: record), verifyingKey: key, proofs: proofs)
  }
}

extension Envelope {
  /// The clear part of a card; `nil` if it has none.
  ///
  /// - Throws: ``EnvelopeFault`` for anything else that stands there.
  var cardClearPart: CardClearPart? {
    get throws(EnvelopeFault) {
      guard let bytes = try clearPart else { return nil }
      return try CardClearPart(decoding: bytes)
    }
  }

  /// The record of an epoch in the clear part of a card; `nil` if there is none.
  ///
  /// - Throws: ``EnvelopeFault`` for anything else that stands there.
  var epochRecord: EpochRecord? {
    get throws(EnvelopeFault) { try cardClearPart?.record }
  }
}
