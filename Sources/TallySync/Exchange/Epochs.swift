import Foundation
import SystemPackage
import Tally
import TallySystem

/// The members of a space, by the records of its newest epoch.
struct Membership {
  /// The records of the newest epoch: several if replicas have revoked at the same time.
  let records: [EpochRecord]
  let revocations: [ReplicaID: EpochRecord.Revocation]

  /// The number of the epoch; 0 before the first revocation, when any key of the space will do, or none in one without
  /// encryption.
  var epoch: UInt32 { records.first?.number ?? 0 }

  /// The members that some record lists and nobody has revoked, with their verifying keys.
  var listed: [ReplicaID: VerifyingKey] {
    var keys: [ReplicaID: VerifyingKey] = [:]
    for record in records { keys.merge(record.members.mapValues(\.verifyingKey)) { first, _ in first } }
    return keys.filter { revocations[$0.key] == nil }
  }

  /// Whether a card truly belongs to the replica that it names.
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
  /// The members of the space.
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

  /// Whether a new key can be sealed for all members that the records list.
  func hasCardsOfAllListed() throws -> Bool {
    let own = try requireSyncSettings().replicaID
    return try membership().listed.keys.allSatisfy { try $0 == own || card(of: $0) != nil }
  }

  /// Whether a replica has written nothing since its successor said that it had become it.
  fileprivate func isSilentFormerIdentity(_ replica: ReplicaID) throws -> Bool {
    guard let time = try DeviceRecords(in: self).timeOfSuccession(of: replica) else { return false }
    // A time in the future proves nothing.
    guard time <= now.microsecondsSince1970 + ClockDifference.leastMicroseconds else { return false }
    return try streamProgress(of: replica).lastSeen ?? .min <= time
  }
}

extension StoreWriteTransaction {
  /// Stores the record of an epoch, and deletes those of older ones.
  mutating func insert(_ record: EpochRecord) throws {
    for old in try membership().records where old.number < record.number {
      try setSyncValue(nil, forKey: old.storageKey)
    }
    try setSyncValue(record.encoded, forKey: record.storageKey)
  }

  /// Adds revocations to the known ones.
  ///
  /// A replica that has merged changes behind a cut-off publishes a snapshot: others cannot get them in another way.
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
  mutating func removeCardsWithOldKeys() throws {
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

  /// The largest card that every place accepts.
  static var largestCardInBytes: Int { 64 << 10 }
  /// The most bytes of a card besides the record and the keys of past epochs.
  private static var cardOverheadInBytes: Int { 4 << 10 }

  /// Makes the next epoch: a new key for all members, which is in use from now on.
  ///
  /// - Parameter new: The replicas that are revoked now.
  /// - Throws: `TallyError` with `tooManyReplicas`, before anything has changed except `new`; what the store throws.
  mutating func makeEpoch(revoking new: [ReplicaID: EpochRecord.Revocation]) throws {
    _ = try add(new)
    var settings = try requireSyncSettings()
    let space = try settings.spaceKeys()
    guard space.epoch < .max else { throw SyncFault.damagedSettings }
    let epoch = EpochKey(epoch: space.epoch + 1, key: SpaceKey())
    let record = EpochRecord(
      number: epoch.epoch, keyHash: epoch.key.hash(in: space.space), members: try members(getting: epoch, settings),
      revocations: try revocations())
    let keysInBytes = space.keys.count * (SpaceKey.byteCount + 8)
    guard record.encoded.count + keysInBytes <= Self.largestCardInBytes - Self.cardOverheadInBytes else {
      throw TallyError.tooManyReplicas
    }
    try insert(record)
    settings.setKeys(of: space.adding(epoch))
    // Only the revoked replica's own snapshot may cover segments of it that were deleted, and that snapshot does not
    // count.
    settings.needsSnapshot = settings.needsSnapshot || !new.isEmpty
    // The revoked device may be an owner that knows the code.
    if !new.isEmpty, settings.syncPlace.isHub { settings.renewRecoverySecret() }
    try setSyncSettings(settings)
    // The next exchange publishes the record with a new card.
    try setSyncValue(nil, forKey: SyncKey.cards + settings.replicaID.bytes)
  }

  /// Seals a key for all members: this replica, and those whose cards are here.
  private func members(getting epoch: EpochKey, _ settings: SyncSettings) throws -> [ReplicaID: EpochRecord.Member] {
    let (space, own) = (try settings.spaceKeys().space, try settings.secretKeys())
    var keys = [settings.replicaID: (own.verifyingKey, own.agreementKey)]
    for (id, _) in try syncValues(under: SyncKey.cards) {
      guard let replica = ReplicaID(bytes: id), replica != settings.replicaID, let card = try card(of: replica) else {
        continue
      }
      keys[replica] = (card.verifyingKey, card.agreementKey)
    }
    for replica in try revocations().keys { keys[replica] = nil }
    var members: [ReplicaID: EpochRecord.Member] = [:]
    for (replica, (verifyingKey, agreementKey)) in keys {
      // A card with bytes that are not a key: its author cannot get one.
      guard
        let sealed = try? epoch.key.sealed(for: agreementKey, of: replica, epoch: epoch.epoch, in: space)
      else { continue }
      members[replica] = EpochRecord.Member(verifyingKey: verifyingKey, sealedKey: sealed)
    }
    return members
  }

  /// Removes the values of objects that were deleted long ago, here or elsewhere; the record of which replica has
  /// written what, and when, stays.
  ///
  /// The name of a list stays, too: a completion of another replica may arrive later, and statistics name its list.
  mutating func removeValuesOfDeleted(before time: Int64) throws {
    var (table, forgotten) = (try StateTable(in: self), [ObjectKey: TouchedObject]())
    for (isList, id) in try deletedKeys() {
      guard try timeOfKeeping(isList: isList, id: id)?.microsecondsSince1970 ?? .min < time,
        try !isPending(isList: isList, id: id)
      else { continue }
      let object = ObjectKey(isList: isList, id: id)
      let state = try table.state(of: object, in: self)
      try forgetDeleted(isList: isList, id: id)
      guard state.isDeleted else { continue }
      forgotten[object] = TouchedObject(before: state, state: state.withoutValues(keeping: isList ? .title : nil))
    }
    try table.write(forgotten, in: &self)
  }
}

extension EpochRecord {
  fileprivate var storageKey: [UInt8] { SyncKey.epochs + number.bigEndianBytes + keyHash.bytes }
}

/// The data that a user needs after revoking a device.
public struct RevokedReplica: Hashable, Sendable {
  /// The replica that was revoked.
  public let replica: ReplicaID
  /// The former identities of its store, which were revoked with it because the store has their keys.
  public let formerReplicas: [ReplicaID]
  /// The replicas that are said to be former identities of its store but may be in use, so they were not revoked.
  ///
  /// Any member can say that. Such a replica has written something since then, or another replica than its successor says it.
  public let doubtfulReplicas: [ReplicaID]
  /// The new key of the space, to be kept on paper in place of the old one.
  public let recoveryCode: String
  /// Whether the space cannot be joined with its passphrase any more.
  public let isPassphraseDeleted: Bool
}

extension StoreSync {
  /// Revokes a replica: the space gets a new key, which all others get and this one does not.
  ///
  /// Former identities of its store are revoked, too, because the store has their keys: those that have been silent
  /// since their successor named them. What the replica wrote before stays; none of its later changes is merged
  /// anywhere. It keeps the tasks that it has. This store synchronises before and after. Revoking a replica again
  /// publishes nothing new and returns the recovery code again.
  ///
  /// - Parameters:
  ///   - replica: Which.
  ///   - passphrase: The passphrase of a space in a folder, for the new key; without one, joining by passphrase ends.
  /// - Returns: The new recovery code.
  /// - Throws: `TallyError` with `replicaNotFound`, `tooManyReplicas`, `spaceNotEncrypted` or `deviceRevoked`; with
  ///   `syncUnreachable` if the place cannot be reached. If that happens after the new key was made, the next exchange
  ///   publishes it; ask again for the code.
  public func revoke(_ replica: ReplicaID, passphrase: String? = nil) async throws -> RevokedReplica {
    guard try store.requireSyncSettings().isEncrypted else { throw TallyError.spaceNotEncrypted }
    try await synchronize()
    let (former, doubtful) = try await makeEpoch(revoking: replica)
    try await synchronize()
    // Another replica may have made a later epoch meanwhile.
    let (code, settings) = try await store.changeSyncSettings { (try $0.showRecoveryCode(), $0) }
    guard let code else { throw SyncFault.damagedSettings }
    let isDeleted = try changePassphrase(to: passphrase, of: settings.spaceKeys(), at: settings.syncPlace)
    return RevokedReplica(
      replica: replica, formerReplicas: former, doubtfulReplicas: doubtful, recoveryCode: code,
      isPassphraseDeleted: isDeleted)
  }

  /// Makes the epoch in one write, unless the replica was revoked before.
  ///
  /// - Returns: The former identities that the epoch revokes as well, and those that it does not.
  private func makeEpoch(revoking replica: ReplicaID) async throws -> (revoked: [ReplicaID], doubtful: [ReplicaID]) {
    let lock = try await acquireTurn()
    defer { lock.release() }
    return try await store.write { transaction in
      let (known, own) = (try transaction.revocations(), try transaction.requireSyncSettings().replicaID)
      guard known[replica] == nil else { return ([], []) }
      guard own != replica, try transaction.card(of: replica) != nil else { throw TallyError.replicaNotFound(replica) }
      let named = try DeviceRecords(in: transaction).formerIdentities(of: replica).filter { known[$0] == nil }
      let former = try named.filter { try $0 != own && transaction.isSilentFormerIdentity($0) }
      var revocations: [ReplicaID: EpochRecord.Revocation] = [:]
      for replica in [replica] + former where known[replica] == nil {
        guard let card = try transaction.card(of: replica) else { continue }
        let cutOff = try transaction.streamProgress(of: replica).head
        revocations[replica] = EpochRecord.Revocation(verifyingKey: card.verifyingKey, cutOff: cutOff)
      }
      try transaction.makeEpoch(revoking: revocations)
      return (former.filter { revocations[$0] != nil }, named.filter { revocations[$0] == nil })
    }
  }

  /// Wraps the new key with the passphrase, or deletes the wrapped old one.
  ///
  /// - Returns: Whether it was deleted.
  private func changePassphrase(to passphrase: String?, of keys: SpaceKeys, at place: SyncPlace) throws -> Bool {
    guard !place.isHub else { return false }
    let file = KeyFile(in: FilePath(place.address), space: keys.space)
    return try TallyError.replacing(TallyError.unreachable) {
      guard let passphrase else { return try file.remove() }
      try file.write(keys, passphrase: passphrase)
      return false
    }
  }
}
