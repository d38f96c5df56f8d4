import SystemPackage
import Tally
import TallySystem

/// What a user needs after revoking a device.
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
  /// Former identities of its store are revoked, too, because the store has their keys: those that have been silent since their
  /// successor named them. What the replica wrote before stays; none of its later changes is merged anywhere. It keeps the tasks
  /// that it has. This store synchronises before and after.
  /// Revoking a replica again publishes nothing new and returns the recovery code again.
  ///
  /// - Parameters:
  ///   - replica: Which.
  ///   - passphrase: The passphrase of a space in a folder, for the new key; without one, joining by passphrase ends.
  /// - Returns: The new recovery code.
  /// - Throws: `TallyError` with `replicaNotFound`, `tooManyReplicas`, `spaceNotEncrypted` or `deviceRevoked`; with
  ///   `syncUnreachable` if the place cannot be reached. If that happens after the new key was made, the next exchange
  ///   publishes it; ask again for the code.
  public func revoke(_ replica: ReplicaID, passphrase: String? = nil) async throws -> RevokedReplica {
    guard try store.readSynchronization({ try $0.requireSyncSettings() }).isEncrypted else {
      throw TallyError.spaceNotEncrypted
    }
    try await synchronise()
    let (former, doubtful) = try await makeEpoch(revoking: replica)
    try await synchronise()
    // Another replica may have made a later epoch meanwhile.
    let (settings, code) = try await store.write { transaction in
      try transaction.changeSyncSettings { settings in
        let code = try settings.showRecoveryCode()
        return (settings, code)
      }
    }
    guard let code else { throw SyncFault.damagedSettings }
    let isDeleted = try changePassphrase(to: passphrase, of: settings.spaceKeys(), at: settings.syncPlace)
    return RevokedReplica(
      replica: replica, formerReplicas: former, doubtfulReplicas: doubtful, recoveryCode: code,
      isPassphraseDeleted: isDeleted)
  }

  /// Makes the epoch in one write, unless the replica was revoked before.
  ///
  /// - Returns: The former identities that the epoch revokes as well, and those that it does not.
  private func makeEpoch(
    revoking replica: ReplicaID
  ) async throws -> (revoked: [ReplicaID], doubtful: [ReplicaID]) {
    let lock = try await takeTurn()
    defer { lock.release() }
    return try await store.write { transaction in
      let (known, own) = (try transaction.revocations(), try transaction.requireSyncSettings().replicaID)
      guard known[replica] == nil else { return ([], []) }
      guard own != replica, try transaction.card(of: replica) != nil else {
        throw TallyError.replicaNotFound(replica)
      }
      let said = try DeviceRecords(in: transaction).formerIdentities(of: replica).filter { known[$0] == nil }
      let former = try said.filter { try $0 != own && transaction.isSilentFormerIdentity($0) }
      var revocations: [ReplicaID: EpochRecord.Revocation] = [:]
      for replica in [replica] + former where known[replica] == nil {
        guard let card = try transaction.card(of: replica) else { continue }
        let cutOff = try transaction.streamProgress()[replica]?.head ?? .start
        revocations[replica] = EpochRecord.Revocation(verifyingKey: card.verifyingKey, cutOff: cutOff)
      }
      try transaction.makeEpoch(revoking: revocations)
      return (former.filter { revocations[$0] != nil }, said.filter { revocations[$0] == nil })
    }
  }

  /// Wraps the new key with the passphrase, or deletes the wrapped old one.
  ///
  /// - Returns: Whether it was deleted.
  private func changePassphrase(to passphrase: String?, of keys: SpaceKeys, at place: SyncPlace) throws -> Bool {
    guard !place.isHub else { return false }
    let file = KeyFile(in: FilePath(place.address), space: keys.space)
    do {
      if let passphrase {
        try file.write(keys, passphrase: passphrase)
        return false
      }
      return try file.remove()
    } catch {
      throw TallyError.unreachable(error)
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a replica has written nothing since its successor said that it had become it.
  fileprivate func isSilentFormerIdentity(_ replica: ReplicaID) throws -> Bool {
    guard let time = try DeviceRecords(in: self).timeOfSuccession(of: replica) else { return false }
    // A time in the future proves nothing.
    guard time <= now.microsecondsSince1970 + ClockDifference.leastMicroseconds else { return false }
    return try streamProgress()[replica]?.lastSeen ?? .min <= time
  }
}
