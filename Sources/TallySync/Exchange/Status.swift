public import Foundation
public import Tally

extension StoreSync {
  /// The state of synchronisation after the last exchange, with the changes made since.
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
    let rows = try syncValues(under: SyncKey.tooLarge)
    guard !rows.isEmpty else { return [] }
    let table = try StateTable(in: self)
    // Another device may have written a shorter value since.
    return try rows.map { try ObjectKey(bytes: $0.key) }.filter {
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
      try progress.blockReason.map { blockReason in
        BlockedReplica(
          replica: replica, name: try deviceName(of: replica),
          since: progress.blockedSince.map(Timestamp.init(clamping:)), isRevoked: revoked[replica] != nil,
          blockReason: blockReason)
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

/// The data that a user needs after setting up a space.
public struct SpaceSetup: Hashable, Sendable {
  /// The space.
  public let space: SpaceID
  /// The replica that this store is in the space.
  public let replica: ReplicaID
  /// The text with which another store joins, within a day; secret.
  public let invitation: String
  /// The key of the space, to be kept on paper; `nil` in a space without encryption.
  public let recoveryCode: String?

  /// Creates a value from its fields.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - replica: The replica that this store is in the space.
  ///   - invitation: The text with which another store joins.
  ///   - recoveryCode: The key of the space.
  public init(space: SpaceID, replica: ReplicaID, invitation: String, recoveryCode: String?) {
    (self.space, self.replica) = (space, replica)
    (self.invitation, self.recoveryCode) = (invitation, recoveryCode)
  }
}

/// The results of one exchange.
public struct SyncReport: Hashable, Sendable {
  /// The objects whose changes the place has acknowledged; an object counts once in each segment.
  public let sent: Int
  /// The objects whose changes were merged, counted in the same way.
  public let received: Int
  /// The objects whose changes wait.
  public let pending: Int
  /// The number of conflicts.
  public let conflicts: Int
  /// The replicas whose segments cannot be merged, except revoked ones.
  public let blocked: [BlockedReplica]
  /// The tasks that others have deleted; ``StoreSync/restore(_:)`` brings them back.
  public let deletedTaskIDs: [UUID]
  /// Whether others deleted more than 50 tasks and more than 30 % of all tasks, which may be a mistake.
  public let isMassDeletion: Bool
  /// Groups of lists with the same name, in any case, to which this exchange has added at least one list.
  ///
  /// `StoreTransaction.mergeList(_:into:)` makes one list of them.
  public let listsOfOneName: [[TaskList]]
  /// The devices whose clocks show another time.
  public let clocks: [ClockDifference]
  /// The titles of the tasks and the names of the lists with a text that is too large to be sent.
  ///
  /// A store that synchronises refuses such a text now; earlier versions accepted it.
  public let unsentTexts: [String]

  /// The replicas whose changes are known to exist but have not completely arrived.
  public var incomplete: [BlockedReplica] { blocked.filter(\.isIncomplete) }
}

/// A replica whose next segment cannot be merged; those of others are.
public struct BlockedReplica: Hashable, Sendable {
  /// The replica.
  public let replica: ReplicaID
  /// The name of its device; `nil` if its card has not arrived.
  public let name: String?
  /// When this store noticed; `nil` if a version without this property noticed it.
  public let since: Timestamp?
  /// Whether the device was revoked, so that its later changes are never merged.
  public let isRevoked: Bool
  let blockReason: BlockReason

  /// Why, as sentences for people.
  public var reason: String { blockReason.reason }
  /// The remedy, as sentences for people; `nil` if the reason already says it, or nothing can be done.
  public var remedy: String? { blockReason.kind.remedy }
  /// The segments that are known to exist and were not found, ascending.
  ///
  /// Empty if the reason is another one, or if the numbers are unknown.
  public var missing: [ClosedRange<UInt64>] { blockReason.missing }
  /// Whether something is missing that may still arrive; otherwise it is there but cannot be merged.
  public var isIncomplete: Bool { blockReason.kind.isIncomplete }
  /// Whether a newer version of Tally may read it.
  public var needsUpgrade: Bool { blockReason.kind == .needsUpgrade }
}

/// The synchronisation state of a store.
public struct SyncStatus: Hashable, Sendable {
  /// Another replica of the space.
  public struct Member: Hashable, Sendable {
    /// The replica.
    public let replica: ReplicaID
    /// The name of its device; `nil` if its card has not arrived.
    public let name: String?
    /// When it sealed the last segment that was merged here; `nil` if none was.
    public let lastSeen: Timestamp?
    /// How many of its segments are at the place and were not merged here, at the last exchange of this store.
    public let behind: Int
    /// Six digits of the replica's card, the same on each device whose copy of the card is genuine; `nil` without a
    /// card.
    ///
    /// People compare the digits on two devices to see that both have the same card.
    public let code: String?
    /// Whether the device was revoked: nothing that it writes is merged.
    public let isRevoked: Bool
    /// Whether this store, or the store that is ``successor`` now, was this replica before it was copied or restored.
    ///
    /// After a copy, the original store may still use this identity. After a restore, nobody does.
    public let isFormer: Bool
    /// The replica that the store became when it was copied or restored; `nil` if it did not, or has not said so.
    public let successor: ReplicaID?
    /// The shortest suffix of the replica's digits, at least four, that no other replica of the space has.
    public let handle: String
  }

  /// The space.
  public let space: SpaceID
  /// The replica that this store is in the space.
  public let replica: ReplicaID
  /// The name of this device.
  public let name: String
  /// The place of the space: the path of a folder, or the address of a hub.
  public let place: String
  /// Whether synchronisation was stopped.
  public let isStopped: Bool
  /// Whether another device has revoked this one; everything stays in this store.
  public let isRevoked: Bool
  /// When the place last acknowledged a segment; `nil` if never.
  public let lastSent: Timestamp?
  /// When changes of another replica were last merged; `nil` if never.
  public let lastReceived: Timestamp?
  /// Whether the recovery code that this store has shown last does not open the space any more.
  ///
  /// Another device has revoked a device since. ``StoreSync/recoveryCode()`` shows the new code.
  public let isRecoveryCodeOutdated: Bool
  /// The reason why the place has refused the last exchange, as a sentence for people; `nil` if it has not.
  public let refused: String?
  /// The objects whose changes wait.
  public let pending: Int
  /// When the oldest of them changed; `nil` if nothing waits.
  public let oldestPending: Timestamp?
  /// The other replicas.
  public let members: [Member]
  /// The replicas whose segments cannot be merged.
  public let blocked: [BlockedReplica]
  /// The number of conflicts.
  public let conflicts: Int
  /// The objects with a value of more than 7 MiB, which is not sent; the rest of them is.
  public let tooLarge: Int
  /// The titles and names of those objects.
  public let unsentTexts: [String]
  /// Whether another replica writes with a newer version, which this one cannot read.
  public let needsUpgrade: Bool
  /// The devices whose clocks show another time.
  public let clocks: [ClockDifference]
  /// A hash of all tasks and lists with their histories of writes: equal on replicas with the same state.
  ///
  /// `nil` while changes of this store wait to be sealed. The next exchange makes them part of the state, even if the
  /// place cannot store them yet.
  public let stateHash: String?
}

extension [SyncStatus.Member] {
  /// The name of a device, with its handle if others have the same name; its replica if the name is unknown.
  ///
  /// A former identity has the same name as its device. Only the former identity is shown with its handle.
  ///
  /// - Parameters:
  ///   - member: A member of this array.
  ///   - own: The name of this device, if it is not in this array.
  /// - Returns: The name.
  public func label(of member: SyncStatus.Member, besides own: String? = nil) -> String {
    guard let name = member.name else { return member.replica.description }
    let isShared =
      own == name
      || contains { $0.replica != member.replica && $0.name == name && (member.isFormer || !$0.isFormer) }
    return isShared ? "\(name) (\(member.handle))" : name
  }
}
