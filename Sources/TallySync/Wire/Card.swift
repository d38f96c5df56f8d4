import Crypto

/// The description of a replica for the others: its device, and the keys with which they deal with it.
struct Card: Hashable, Sendable {
  /// The longest name of a device.
  static let maximumNameByteCount = 256

  /// The device, as its user calls it.
  let name: String
  let verifyingKey: VerifyingKey
  /// The public key for key agreement (X25519), 32 bytes.
  let agreementKey: [UInt8]
  /// When it was made, in microseconds since 1970.
  let createdAt: Int64
  /// The keys of all epochs before the one whose key seals the card, ascending by epoch.
  let olderKeys: [EpochKey]

  static let agreementKeyByteCount = 32
}

extension Card {
  /// Describes a replica.
  ///
  /// - Parameters:
  ///   - name: The name of the device; cut after ``maximumNameByteCount`` bytes, between characters.
  ///   - keys: The keys of the replica.
  ///   - createdAt: The time now, in microseconds since 1970.
  ///   - olderKeys: The keys of past epochs, ascending by epoch.
  init(name: String, keys: ReplicaKeys, createdAt: Int64, olderKeys: [EpochKey] = []) {
    var name = name
    while name.utf8.count > Self.maximumNameByteCount { name.removeLast() }
    self.init(
      name: name, verifyingKey: keys.verifyingKey, agreementKey: keys.agreementKey, createdAt: createdAt,
      olderKeys: olderKeys)
  }
}

// The form of a card: version, 1 or 2; time of making; verifying key, 32 bytes; key for key agreement, 32 bytes; name; in
// version 2: count of older keys, from 1, for each, ascending: epoch, 4 bytes, and key, 32 bytes.

extension Card {
  /// The bytes of the card, equal for equal cards.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: [olderKeys.isEmpty ? BodyVersion.current : BodyVersion.cardWithKeys])
    writer.append(signed: createdAt)
    writer.append(raw: verifyingKey.bytes)
    writer.append(raw: agreementKey)
    writer.append(counted: name.utf8)
    guard !olderKeys.isEmpty else { return writer.bytes }
    writer.append(UInt64(olderKeys.count))
    for key in olderKeys { writer.append(raw: key.bytes) }
    return writer.bytes
  }

  /// Reads a card.
  ///
  /// - Parameter bytes: What ``encoded`` returned, or anything else.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)`` for anything else.
  init(decoding bytes: [UInt8]) throws(EnvelopeFault) {
    let version = bytes.first
    self = try BodyVersion.decode(bytes, newest: BodyVersion.cardWithKeys) { reader throws(CodingFault) in
      let createdAt = try reader.signedNumber()
      let key = try reader.verifyingKey()
      let agreementKey = try reader.bytes(Card.agreementKeyByteCount)
      let name = try reader.countedBytes()
      guard name.count <= Card.maximumNameByteCount, let name = String(validating: name, as: UTF8.self) else {
        throw .impossibleValue
      }
      let olderKeys = version == BodyVersion.cardWithKeys ? try reader.epochKeys() : []
      return Card(name: name, verifyingKey: key, agreementKey: agreementKey, createdAt: createdAt, olderKeys: olderKeys)
    }
  }

  // Byte for byte, as the encoded forms.
  static func == (left: Card, right: Card) -> Bool { left.encoded == right.encoded }

  func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

  /// Seals the card, and signs it with the key that it names.
  ///
  /// - Parameters:
  ///   - number: Counts the cards of the replica.
  ///   - replica: The author.
  ///   - keys: The keys of the replica, those with which the card was made.
  ///   - space: The space.
  ///   - record: The record of the newest epoch, for the clear part; `nil` in the first epoch.
  /// - Returns: The sealed card.
  /// - Throws: As sealing any envelope.
  func sealed(
    number: UInt64, of replica: ReplicaID, with keys: ReplicaKeys, in space: SpaceKeys, record: EpochRecord? = nil
  ) throws -> Envelope {
    try Envelope(
      sealing: encoded, as: EnvelopeHeader.Label(kind: .card, replica: replica, number: number), with: keys, in: space,
      clearPart: record.map { CardClearPart($0, of: replica, verifyingKey, having: olderKeys).encoded })
  }

  /// Opens a card, whose signature is verified with the key in it.
  ///
  /// Anyone with the key of the space can make one: a replica that is known already must keep its key.
  ///
  /// - Parameters:
  ///   - envelope: The sealed card.
  ///   - replica: The expected author.
  ///   - space: The space in which it should be.
  /// - Throws: ``EnvelopeFault``.
  init(opening envelope: Envelope, of replica: ReplicaID, in space: SpaceKeys) throws(EnvelopeFault) {
    try envelope.check(.card, replica, space)
    let card = try Card(decoding: envelope.content(in: space))
    try envelope.verify(by: card.verifyingKey)
    self = card
  }
}

/// The part of a card that everybody can read, in a space that has had a revocation.
struct CardClearPart: Hashable, Sendable {
  /// The record of the newest epoch that the author of the card knows.
  let record: EpochRecord
  /// The key that verifies the card.
  let verifyingKey: VerifyingKey
  /// Proofs that the author has the keys of past epochs, one for each.
  ///
  /// A replica that has only such a key, and has never seen a card of the author, sees by them that it is a member.
  let proofs: [ContentHash]
}

extension CardClearPart {
  /// Proves that a replica has keys.
  init(_ record: EpochRecord, of replica: ReplicaID, _ key: VerifyingKey, having older: [EpochKey]) {
    self.init(record: record, verifyingKey: key, proofs: older.map { record.proof(of: replica, key, having: $0.key) })
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
  /// - Throws: ``EnvelopeFault`` for anything else.
  var cardClearPart: CardClearPart? {
    get throws(EnvelopeFault) {
      try clearPart.map { bytes throws(EnvelopeFault) in try CardClearPart(decoding: bytes) }
    }
  }

  /// The record of an epoch in the clear part of a card; `nil` if there is none.
  ///
  /// - Throws: ``EnvelopeFault`` for anything else.
  var epochRecord: EpochRecord? {
    get throws(EnvelopeFault) { try cardClearPart?.record }
  }
}
