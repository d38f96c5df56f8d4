import Foundation
import Tally

extension StoreSync {
  /// How the store stands, without reaching the place.
  ///
  /// - Returns: The status, changes that wait included.
  /// - Throws: `TallyError` with `notSynchronising`.
  /// - Complexity: The replicas, and the first of the segments that wait; it takes no lock, and no write waits for it.
  public func status() async throws -> SyncStatus {
    try store.readSynchronization { transaction in
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
        conflicts: try transaction.countSyncValues(withPrefix: SyncKey.conflicts),
        tooLarge: try transaction.countSyncValues(withPrefix: SyncKey.tooLarge),
        needsUpgrade: blocked.contains(where: \.needsUpgrade),
        stateHash: try transaction.stateHash())
    }
  }

  /// The replicas of the space, this one included.
  ///
  /// - Returns: The others by the names of their devices, and this one.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func members() async throws -> [SyncStatus.Member] {
    try store.readSynchronization { transaction in
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

extension StoreTransaction where Base: ~Copyable {
  /// The hash of all states; `nil` while local changes wait that are in no state yet.
  ///
  /// Sealing them would be a write, and would take long where they are many.
  fileprivate func stateHash() throws -> String? {
    try hasPending() ? nil : HexDigits.text(of: StateTable.hash(in: self).bytes)
  }

  /// How many objects have changes that wait, and when the oldest changed.
  ///
  /// - Complexity: The first segment that waits; all of them if an older version has sealed or sent some.
  func countPending() throws -> (count: Int, oldest: Timestamp?) {
    let (unsealed, oldest) = try pendingSummary()
    let settings = try requireSyncSettings()
    let space = try settings.spaceKeys()
    let limit = settings.sealedChangeCount == nil ? Int.max : 1
    var (counted, sealedAt): (Int, Int64?) = (0, nil)
    for (_, bytes) in try syncValues(under: SyncKey.outbox, limit: limit) {
      let envelope = try Envelope(parsing: bytes)
      let content = try envelope.content(in: space)
      sealedAt = min(sealedAt ?? .max, try SegmentBody.timeOfSealing(in: content))
      guard settings.sealedChangeCount == nil else { break }
      counted += try SegmentBody(decoding: content, by: envelope.header.label.replica).changes.count
    }
    let sealed = sealedAt == nil ? 0 : settings.sealedChangeCount ?? counted
    let times = [oldest, sealedAt.map(Timestamp.init(clamping:))].compactMap(\.self)
    return (unsealed + sealed, times.min())
  }

  func blockedReplicas() throws -> [BlockedReplica] {
    let (revoked, keys) = (try revocations(), try requireSyncSettings().spaceKeys())
    return try streamProgress().compactMap { replica, progress in
      try progress.obstacle.map { obstacle in
        BlockedReplica(
          replica: replica, name: try card(of: replica, in: keys)?.name,
          since: progress.blockedSince.map(Timestamp.init(clamping:)), isRevoked: revoked[replica] != nil,
          obstacle: obstacle)
      }
    }.sorted { $0.replica < $1.replica }
  }

  fileprivate func members(besides own: ReplicaID) throws -> [SyncStatus.Member] {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    let (keys, former) = (try settings.spaceKeys(), settings.formerIDs)
    let cards = try syncValues(under: SyncKey.cards).compactMap { UUID(bytes: $0.key).map { ReplicaID($0) } }
    return try Set(cards).union(progress.keys).union(revoked.keys).subtracting([own]).sorted().map { replica in
      let (known, card) = (progress[replica], try card(of: replica, in: keys))
      return SyncStatus.Member(
        replica: replica, name: card?.name, lastSeen: known?.lastSeen.map(Timestamp.init(clamping:)),
        behind: known?.behind ?? 0, code: card.map { keys.code(of: replica, $0.verifyingKey) },
        isRevoked: revoked[replica] != nil, isFormer: former.contains(replica))
    }
  }
}
