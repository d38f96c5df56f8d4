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
        tooLarge: try transaction.syncValues(under: SyncKey.tooLarge).count,
        needsUpgrade: blocked.contains { $0.reason == EnvelopeFault.needsNewerVersion.description },
        clocks: try transaction.clockDifferences(),
        stateHash: hash)
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
        isRevoked: settings.isRevoked ?? false, isFormer: false, successor: nil,
        handle: try transaction.allReplicas().handle(of: settings.replicaID))
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

  func blockedReplicas() throws -> [BlockedReplica] {
    let revoked = try revocations()
    return try streamProgress().compactMap { replica, progress in
      try progress.block.map { reason in
        BlockedReplica(
          replica: replica, name: try deviceName(of: replica), reason: reason, isRevoked: revoked[replica] != nil)
      }
    }.sorted { $0.replica < $1.replica }
  }

  fileprivate func members(besides own: ReplicaID) throws -> [SyncStatus.Member] {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    let (keys, former) = (try settings.spaceKeys(), settings.formerIDs)
    let (all, records) = (try allReplicas(), try DeviceRecords(in: self))
    return try all.subtracting([own]).sorted().map { replica in
      let (known, card, successor) = (progress[replica], try card(of: replica), records.successor(of: replica))
      return SyncStatus.Member(
        replica: replica, name: records.name(of: replica) ?? card?.name,
        lastSeen: known?.lastSeen.map(Timestamp.init(clamping:)), behind: known?.behind ?? 0,
        code: card.map { keys.code(of: replica, $0.verifyingKey) }, isRevoked: revoked[replica] != nil,
        isFormer: former.contains(replica) || successor != nil, successor: successor,
        handle: all.handle(of: replica))
    }
  }

  /// All replicas of which something is known, this one included.
  fileprivate func allReplicas() throws -> Set<ReplicaID> {
    let cards = try syncValues(under: SyncKey.cards).compactMap { ReplicaID(bytes: $0.key) }
    return try Set(cards).union(streamProgress().keys).union(revocations().keys).union([
      requireSyncSettings().replicaID
    ])
  }
}

extension Set<ReplicaID> {
  /// The shortest end of a replica's digits, at least four, that no other one of them has.
  fileprivate func handle(of replica: ReplicaID) -> String {
    let others = subtracting([replica]).map(\.description)
    let length = (4..<32).first { length in
      !others.contains { $0.suffix(length) == replica.description.suffix(length) }
    }
    return String(replica.description.suffix(length ?? 32))
  }
}
