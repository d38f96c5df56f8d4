import Tally

/// Who belongs to a space, by the records of its newest epoch.
struct Membership {
  /// The records of the newest epoch: several if replicas have revoked at the same time.
  let records: [EpochRecord]
  let revocations: [ReplicaID: EpochRecord.Revocation]

  /// The number of the epoch; 0 before the first revocation, when any key of the space will do, or none in one without encryption.
  var epoch: UInt32 { records.first?.number ?? 0 }

  /// The members that some record lists and nobody has revoked, with their verifying keys.
  var listed: [ReplicaID: VerifyingKey] {
    var keys: [ReplicaID: VerifyingKey] = [:]
    for record in records { keys.merge(record.members.mapValues(\.verifyingKey)) { first, _ in first } }
    return keys.filter { revocations[$0.key] == nil }
  }

  /// Whether a card says truly who a replica is.
  ///
  /// A replica that no record lists has joined since: its card is sealed with a key of the newest epoch, which no
  /// revoked replica has.
  func admits(_ replica: ReplicaID, _ key: VerifyingKey, sealedInEpoch cardEpoch: UInt32) -> Bool {
    if let revocation = revocations[replica] { return revocation.verifyingKey == key }
    if let known = listed[replica] { return known == key }
    return cardEpoch >= epoch
  }

  /// Whether a record names exactly the members and the revocations that are known.
  func isComplete(_ record: EpochRecord) -> Bool {
    record.revocations == revocations && Set(record.members.keys) == Set(listed.keys)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Who belongs to the space.
  func membership() throws -> Membership {
    let records = try syncValues(under: SyncKey.epochs).map { try EpochRecord(decoding: $0.value) }
    return Membership(records: records, revocations: try revocations())
  }

  /// The revoked replicas.
  func revocations() throws -> [ReplicaID: EpochRecord.Revocation] {
    var revocations: [ReplicaID: EpochRecord.Revocation] = [:]
    for (key, value) in try syncValues(under: SyncKey.revocations) {
      guard let replica = ReplicaID(bytes: key) else { throw SyncFault.damagedSettings }
      var reader = ByteReader(value)
      revocations[replica] = try EpochRecord.Revocation(from: &reader)
    }
    return revocations
  }

  /// The record whose key seals; `nil` in the first epoch.
  func currentRecord() throws -> EpochRecord? {
    let space = try requireSyncSettings().spaceKeys()
    let hash = space.keys[space.epoch]?.hash(in: space.space)
    return try membership().records.first { $0.keyHash == hash }
  }
}

extension StoreWriteTransaction {
  /// Keeps the record of an epoch, and none of an older one.
  mutating func put(_ record: EpochRecord) throws {
    for old in try membership().records where old.number < record.number {
      try setSyncValue(nil, forKey: old.storageKey)
    }
    try setSyncValue(record.encoded, forKey: record.storageKey)
  }

  /// Adds revocations to the known ones.
  ///
  /// A replica that has merged more than counts publishes a snapshot: others get those changes in no other way.
  ///
  /// - Returns: Whether any of them was not known.
  mutating func add(_ new: [ReplicaID: EpochRecord.Revocation]) throws -> Bool {
    let (known, progress) = (try revocations(), try streamProgress())
    var isNew = false
    for (replica, revocation) in new {
      let joined = known[replica]?.joined(with: revocation) ?? revocation
      guard joined != known[replica] else { continue }
      isNew = true
      try setSyncValue(joined.encoded, forKey: SyncKey.revocations + replica.bytes)
      guard progress[replica]?.head.number ?? 0 > joined.cutOff.number else { continue }
      try changeSyncSettings { $0.needsSnapshot = true }
    }
    return isNew
  }

  /// Forgets the cards of replicas that do not belong to the space any more: they had joined with an old key.
  mutating func forgetCardsWithOldKeys() throws {
    let (membership, progress) = (try membership(), try streamProgress())
    let own = try requireSyncSettings().replicaID
    for (key, bytes) in try syncValues(under: SyncKey.cards) {
      guard let replica = ReplicaID(bytes: key), replica != own, let card = try card(of: replica),
        !membership.admits(replica, card.verifyingKey, sealedInEpoch: try Envelope(parsing: bytes).header.epoch)
      else { continue }
      try setSyncValue(nil, forKey: SyncKey.cards + key)
      guard progress[replica]?.head.number ?? 0 > 0 else { continue }
      try changeSyncSettings { $0.needsSnapshot = true }
    }
  }
}

extension EpochRecord {
  fileprivate var storageKey: [UInt8] { SyncKey.epochs + number.bigEndianBytes + keyHash.bytes }
}
