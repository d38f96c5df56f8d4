import Crypto
import Foundation

// A key of an epoch, sealed for one replica: HPKE (RFC 9180), 32 bytes of encapsulated key, then the key with its tag.

extension SpaceKey {
  static let sealedByteCount = 80
  fileprivate static let encapsulatedByteCount = 32
  fileprivate static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly

  /// What identifies the key without giving it away.
  ///
  /// - Parameter space: The space of which it is a key.
  /// - Returns: A hash of both.
  func hash(in space: SpaceID) -> ContentHash {
    ContentHash(of: Array("tally key 1".utf8) + space.bytes + bytes)
  }

  /// What only the receiver of one key of one space opens.
  fileprivate static func context(of epoch: UInt32, in space: SpaceID) -> Data {
    Data(Array("tally epoch 1".utf8) + space.bytes + epoch.bigEndianBytes)
  }

  /// Seals the key for a replica.
  ///
  /// - Parameters:
  ///   - agreementKey: The key for key agreement in the replica's card.
  ///   - replica: The replica.
  ///   - epoch: The epoch of the key.
  ///   - space: The space.
  /// - Returns: The sealed key.
  /// - Throws: An error of the cryptographic library, also for bytes that are not a key.
  func sealed(
    for agreementKey: [UInt8], of replica: ReplicaID, epoch: UInt32, in space: SpaceID
  ) throws -> [UInt8] {
    let receiver = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: agreementKey)
    var sender = try HPKE.Sender(
      recipientKey: receiver, ciphersuite: Self.suite, info: Self.context(of: epoch, in: space))
    let box = try sender.seal(bytes, authenticating: replica.bytes)
    return Array(sender.encapsulatedKey) + Array(box)
  }
}

extension EpochRecord {
  /// Opens the key as one of its members.
  ///
  /// - Parameters:
  ///   - replica: The member.
  ///   - keys: Its keys.
  ///   - space: The space.
  /// - Returns: The key; `nil` if the record has none for the replica, or one that is not the key of the record.
  func key(for replica: ReplicaID, _ keys: ReplicaKeys, in space: SpaceID) -> SpaceKey? {
    guard let box = members[replica]?.sealedKey,
      let bytes = keys.open(
        box.prefix(SpaceKey.encapsulatedByteCount), box.dropFirst(SpaceKey.encapsulatedByteCount),
        suite: SpaceKey.suite, context: SpaceKey.context(of: number, in: space), authenticating: replica.bytes),
      let key = SpaceKey(bytes: bytes), key.hash(in: space) == keyHash
    else { return nil }
    return key
  }
}
