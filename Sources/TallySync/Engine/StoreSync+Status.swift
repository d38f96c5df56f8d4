import Foundation
import Tally

extension StoreSync {
  /// How the store stands, without reaching the place.
  ///
  /// - Returns: The status, changes that wait included.
  /// - Throws: `TallyError` with `notSynchronising`.
  /// - Complexity: The changes that wait, and the replicas.
  public func status() async throws -> SyncStatus {
    let hash = try await stateHash()
    return try await store.write { transaction in
      let settings = try transaction.requireSyncSettings()
      let (count, oldest) = try transaction.countPending()
      let blocked = try transaction.blockedReplicas()
      return SyncStatus(
        space: try settings.spaceKeys().space, replica: settings.replicaID, name: settings.deviceName,
        place: settings.place, isStopped: settings.isStopped, isRevoked: settings.isRevoked ?? false,
        lastSent: settings.lastSent.map(Timestamp.init(clamping:)),
        lastReceived: settings.lastReceived.map(Timestamp.init(clamping:)),
        isRecoveryCodeOutdated: try settings.isRecoveryCodeOutdated(), refused: settings.refused, pending: count,
        oldestPending: oldest,
        members: try transaction.members(besides: settings.replicaID), blocked: blocked,
        conflicts: try transaction.storedConflicts().count,
        tooLarge: try transaction.objectsTooLarge().count, unsentTexts: try transaction.unsentTexts(),
        needsUpgrade: blocked.contains { $0.reason == EnvelopeFault.needsNewerVersion.description },
        stateHash: hash)
    }
  }

  /// The titles of the tasks and the names of the lists with a text that is too large to be sent.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  package func unsentTexts() async throws -> [String] {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      return try transaction.unsentTexts()
    }
  }

  /// The hash of all states as if local changes were sealed now: the write is rolled back.
  private func stateHash() async throws -> String {
    struct Rollback: Error {
      let hash: StateHash
    }
    do {
      try await store.write { transaction in
        let settings = try transaction.requireSyncSettings()
        var merge = try StateMerge(in: transaction)
        _ = try merge.take(limit: .max, as: settings.replicaID, in: &transaction)
        try merge.finish(in: &transaction)
        throw Rollback(hash: merge.hash)
      }
      return ""
    } catch let rollback as Rollback {
      return HexDigits.text(of: rollback.hash.bytes)
    }
  }

  /// The replicas of the space, this one included.
  ///
  /// - Returns: The others by the names of their devices, and this one.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func members() async throws -> [SyncStatus.Member] {
    try await store.write { transaction in
      let settings = try transaction.requireSyncSettings()
      let own = SyncStatus.Member(
        replica: settings.replicaID, name: settings.deviceName,
        lastSeen: settings.lastSent.map(Timestamp.init(clamping:)), behind: 0,
        code: try settings.spaceKeys().code(of: settings.replicaID, settings.secretKeys().verifyingKey),
        isRevoked: settings.isRevoked ?? false, isFormer: false)
      return [own] + (try transaction.members(besides: settings.replicaID))
    }
  }
}

extension StoreWriteTransaction {
  /// How many objects have changes that wait, and when the oldest changed.
  func countPending() throws -> (count: Int, oldest: Timestamp?) {
    var (count, oldest) = try pendingSummary()
    let settings = try requireSyncSettings()
    for (_, bytes) in try syncValues(under: SyncKey.outbox) {
      let envelope = try Envelope(parsing: bytes)
      let body = try SegmentBody(
        decoding: envelope.content(in: settings.spaceKeys()), by: envelope.header.label.replica)
      count += body.changes.count
      oldest = min(oldest ?? .latest, Timestamp(clamping: body.sealedAt))
    }
    return (count, oldest)
  }

  /// The objects with a value that is too large to be sent.
  func objectsTooLarge() throws -> [ObjectKey] {
    let noted = try syncValues(under: SyncKey.tooLarge)
    guard !noted.isEmpty else { return [] }
    let table = try StateTable(in: self)
    // Another device may have written a shorter one since.
    return try noted.map { try ObjectKey(bytes: $0.key) }.filter {
      try table.state(of: $0, in: self).hasValue(largerThan: ObjectChange.maximumByteCount)
    }
  }

  /// The titles of the tasks and the names of the lists with a text that is too large to be sent.
  func unsentTexts() throws -> [String] {
    try objectsTooLarge().compactMap { object in
      if object.isTask { return try task(object.id)?.title }
      return object.isList ? try list(object.id)?.name : nil
    }
  }

  func blockedReplicas() throws -> [BlockedReplica] {
    let revoked = try revocations()
    return try streamProgress().compactMap { replica, progress in
      try progress.block.map { reason in
        BlockedReplica(
          replica: replica, name: try card(of: replica)?.name, reason: reason, isRevoked: revoked[replica] != nil)
      }
    }.sorted { $0.replica < $1.replica }
  }

  fileprivate func members(besides own: ReplicaID) throws -> [SyncStatus.Member] {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    let (keys, former) = (try settings.spaceKeys(), settings.formerIDs)
    let cards = try syncValues(under: SyncKey.cards).compactMap { UUID(bytes: $0.key).map { ReplicaID($0) } }
    return try Set(cards).union(progress.keys).union(revoked.keys).subtracting([own]).sorted().map { replica in
      let (known, card) = (progress[replica], try card(of: replica))
      return SyncStatus.Member(
        replica: replica, name: card?.name, lastSeen: known?.lastSeen.map(Timestamp.init(clamping:)),
        behind: known?.behind ?? 0, code: card.map { keys.code(of: replica, $0.verifyingKey) },
        isRevoked: revoked[replica] != nil, isFormer: former.contains(replica))
    }
  }
}
