/// The beginning of an epoch: its new key, sealed for each member, and the replicas that are revoked.
///
/// It is in the clear part of cards, so that members with only older keys can read it. The signature of the card is its
/// signature.
struct EpochRecord: Hashable, Sendable {
  /// Counts the epochs; replicas that revoke at the same time make two of one number.
  let number: UInt32
  /// The hash of the key, so that all members get the same one.
  let keyHash: ContentHash
  let members: [ReplicaID: Member]
  let revocations: [ReplicaID: Revocation]

  /// A replica that gets the key.
  struct Member: Hashable, Sendable {
    let verifyingKey: VerifyingKey
    /// The key, sealed for the replica.
    let sealedKey: [UInt8]
  }

  /// Up to where a revoked replica's segments count.
  struct Revocation: Hashable, Sendable {
    let verifyingKey: VerifyingKey
    let cutOff: StreamPosition

    /// The later of two revocations of one replica.
    func joined(with other: Revocation) -> Revocation {
      guard cutOff.number == other.cutOff.number else { return cutOff.number < other.cutOff.number ? other : self }
      return cutOff.hash < other.cutOff.hash ? other : self
    }
  }
}

// The form of a record: version, 1; number; hash of the key, 32 bytes; count of members, for each, ascending: id, verifying
// key, 32 bytes, sealed key, 80 bytes; count of revoked replicas, for each, ascending: id, then the revocation.
//
// The form of a revocation: verifying key, 32 bytes; number of the last segment that counts, and its hash, 32 bytes.

extension EpochRecord {
  /// The bytes of the record, equal for equal records.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: [BodyVersion.current])
    writer.append(UInt64(number))
    writer.append(raw: keyHash.bytes)
    writer.append(byReplica: members) { $0.append(raw: $1.verifyingKey.bytes + $1.sealedKey) }
    writer.append(byReplica: revocations) { $0.append(raw: $1.encoded) }
    return writer.bytes
  }

  /// Reads a record.
  ///
  /// - Parameter bytes: What ``encoded`` returned, or anything else.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)`` for anything else.
  init(decoding bytes: [UInt8]) throws(EnvelopeFault) {
    self = try BodyVersion.decode(bytes) { reader throws(CodingFault) in
      guard let number = UInt32(exactly: try reader.number()), number > 1 else { throw .impossibleValue }
      let keyHash = try reader.hash()
      let memberByteCount = VerifyingKey.byteCount + SpaceKey.sealedByteCount
      let members = try reader.byReplica(ofAtLeast: memberByteCount) { reader, _ throws(CodingFault) in
        Member(verifyingKey: try reader.verifyingKey(), sealedKey: try reader.bytes(SpaceKey.sealedByteCount))
      }
      let revocationByteCount = VerifyingKey.byteCount + StreamPosition.leastByteCount
      let revocations = try reader.byReplica(ofAtLeast: revocationByteCount) { reader, replica throws(CodingFault) in
        guard members[replica] == nil else { throw .notCanonical }
        return try Revocation(from: &reader)
      }
      return EpochRecord(number: number, keyHash: keyHash, members: members, revocations: revocations)
    }
  }
}

extension EpochRecord.Revocation {
  /// The bytes of the revocation.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: verifyingKey.bytes)
    writer.append(cutOff)
    return writer.bytes
  }

  /// Reads a revocation.
  init(from reader: inout ByteReader) throws(CodingFault) {
    verifyingKey = try reader.verifyingKey()
    cutOff = try reader.streamPosition()
  }
}
