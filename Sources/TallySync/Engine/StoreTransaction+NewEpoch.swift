import Foundation
import Tally

extension StoreWriteTransaction {
  /// The largest card that every place takes.
  static var largestCardInBytes: Int { 64 << 10 }
  /// What a card needs besides the record and the keys of past epochs, at most.
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
    try put(record)
    settings.setKeys(of: space.adding(epoch))
    // Segments of the revoked replica that were deleted may be covered by its own snapshot alone, which is not taken.
    settings.needsSnapshot = settings.needsSnapshot || !new.isEmpty
    // The revoked device may be an owner that knows the code.
    if !new.isEmpty, settings.syncPlace.isHub { settings.renewRecoverySecret() }
    try setSyncSettings(settings)
    // The next exchange publishes the record with a new card.
    try setSyncValue(nil, forKey: SyncKey.cards + settings.replicaID.bytes)
  }

  /// Seals a key for all members: this replica, and those whose cards are here.
  private func members(
    getting epoch: EpochKey, _ settings: SyncSettings
  ) throws -> [ReplicaID: EpochRecord.Member] {
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
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a new key can be sealed for all members that the records list.
  func hasCardsOfAllListed() throws -> Bool {
    let own = try requireSyncSettings().replicaID
    return try membership().listed.keys.allSatisfy { try $0 == own || card(of: $0) != nil }
  }
}
