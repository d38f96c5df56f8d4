import Foundation
import Tally

extension StoreSync {
  /// The synchronisation state of the store, as it was after the last exchange and the changes since.
  ///
  /// - Returns: The status, changes that wait included.
  /// - Throws: `TallyError` with `notSynchronising`.
  /// - Complexity: Reads the replicas and the first segment that waits. It takes no lock, so no write waits for it.
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
        conflicts: try transaction.openConflicts().count,
        tooLarge: try transaction.objectsTooLarge().count, unsentTexts: try transaction.unsentTexts(),
        needsUpgrade: blocked.contains(where: \.needsUpgrade), clocks: try transaction.clockDifferences(),
        stateHash: try transaction.stateHash())
    }
  }

  /// The titles of the tasks and the names of the lists with a text that is too large to be sent.
  ///
  /// - Throws: `TallyError` with `notSynchronising`.
  package func unsentTexts() async throws -> [String] {
    try store.readSynchronization { transaction in
      _ = try transaction.requireSyncSettings()
      return try transaction.unsentTexts()
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
        isRevoked: settings.isRevoked ?? false, isFormer: false, successor: nil,
        handle: try transaction.allReplicas().handle(of: settings.replicaID))
      return [own] + (try transaction.members(besides: settings.replicaID))
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The hash of all states; `nil` while local changes wait that are not yet part of a state.
  ///
  /// Adding them would need a write, and take long if there are many.
  fileprivate func stateHash() throws -> String? {
    try hasPending() ? nil : HexDigits.text(of: StateTable.hash(in: self).bytes)
  }

  /// How many objects have changes that wait, and when the oldest changed.
  ///
  /// - Complexity: Reads the first segment that waits, or all of them if an older version has sealed or sent some.
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

  /// The objects with a value that is too large to be sent.
  func objectsTooLarge() throws -> [ObjectKey] {
    let noted = try syncValues(under: SyncKey.tooLarge)
    guard !noted.isEmpty else { return [] }
    let table = try StateTable(in: self)
    // Another device may have written a shorter value since.
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
      try progress.obstacle.map { obstacle in
        BlockedReplica(
          replica: replica, name: try deviceName(of: replica),
          since: progress.blockedSince.map(Timestamp.init(clamping:)), isRevoked: revoked[replica] != nil,
          obstacle: obstacle)
      }
    }.sorted { $0.replica < $1.replica }
  }

  fileprivate func members(besides own: ReplicaID) throws -> [SyncStatus.Member] {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    let (keys, former) = (try settings.spaceKeys(), settings.formerIDs)
    let (all, records) = (try allReplicas(), try DeviceRecords(in: self))
    return try all.subtracting([own]).sorted().map { replica in
      let (known, card) = (progress[replica], try card(of: replica, in: keys))
      let successor = records.successor(of: replica)
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
  /// The shortest suffix of a replica's digits, at least four, that no other replica of the set has.
  fileprivate func handle(of replica: ReplicaID) -> String {
    let others = subtracting([replica]).map(\.description)
    let length = (4..<32).first { length in
      !others.contains { $0.suffix(length) == replica.description.suffix(length) }
    }
    return String(replica.description.suffix(length ?? 32))
  }
}
