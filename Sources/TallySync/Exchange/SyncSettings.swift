import Foundation
import Tally

/// The settings of a store for its space; they are stored in the same transaction as the data that they describe.
struct SyncSettings: Codable, Equatable {
  /// The space, as hexadecimal digits.
  var space: String
  /// The replica that this store is in the space.
  var replica: UUID
  /// The keys of the space by epoch; empty in a space without encryption.
  var keys: [UInt32: Data]
  var isEncrypted: Bool
  /// The secret keys of the replica.
  var replicaKeys: Data
  var deviceName: String
  /// The place of the space: the path of a folder, or the address of a hub.
  var place: String
  /// The token by which the hub knows this device; `nil` for a folder.
  var token: String?
  /// The tokens of this device at other hubs, by address, for when it returns to a hub or repeats a move.
  var hubTokens: [String: String]?
  /// The last segment that was sealed.
  var sealed = StreamPosition.start
  /// The last segment that the place has acknowledged.
  var acknowledged = StreamPosition.start
  /// The number of the card that names this device; 0 before the first one.
  var cardNumber: UInt64 = 0
  /// The last snapshot of this replica, and how many bytes of segments came since.
  var snapshot: OwnSnapshot?
  var byteCountSinceSnapshot = 0
  /// Whether the place needs a snapshot: it has lost segments, or some are damaged.
  var needsSnapshot = false
  /// Whether the user has stopped synchronising for now.
  var isStopped = false
  /// In microseconds since 1970; `nil` if it has never happened.
  var lastSent: Int64?
  var lastReceived: Int64?
  /// The reason why the place has refused the last exchange; `nil` if it has not.
  var refused: String?
  /// The mark of this replica's files at the place after it had written them.
  var mark: Data?
  /// When those files were checked, and when old ones were deleted.
  var lastCheck: Int64?
  var lastUpkeep: Int64?
  /// Keys besides those in `keys`, of replicas that revoked at the same time.
  var otherKeys: [OtherKey]?
  /// The replicas that this store was before, the latest last: keys may have been sealed for them.
  var formerReplicas: [FormerReplica]?
  /// Whether another replica has revoked this one.
  var isRevoked: Bool?
  /// The hash of the key whose recovery code this store has shown last.
  var shownKeyHash: Data?
  /// When the last segments of this replica were sealed, by their numbers, in microseconds since 1970.
  var sealTimes: [UInt64: Int64]?
  /// Whether the store has moved to a place without segments of this replica, where its stream continues.
  var beginsStream: Bool?
  /// The part of the recovery code of an owner at a hub that is not the key of the space.
  var recoverySecret: Data?
  /// Whether the hub called this device an owner at the last exchange; `nil` if a version without this field exchanged last.
  var isOwner: Bool?
  /// How many changes of objects are in the segments that wait; `nil` if a version without this field has sealed or
  /// sent some.
  var sealedChangeCount: Int?

  /// A further key of an epoch.
  struct OtherKey: Codable, Equatable {
    var epoch: UInt32
    var key: Data
  }

  /// A replica that this store was, with its secret keys.
  struct FormerReplica: Codable, Equatable {
    var replica: UUID
    var keys: Data
  }
}

/// A snapshot that this replica has published.
struct OwnSnapshot: Codable, Equatable {
  var number: UInt64
  var digest: Data
  var partCount: Int
  /// The last segment of this replica that it covers.
  var coveredNumber: UInt64
  var byteCount: Int

  func name(of replica: ReplicaID) -> SnapshotName {
    SnapshotName(replica: replica, number: number, digest: Array(digest), partCount: partCount)
  }
}

extension SyncSettings {
  var replicaID: ReplicaID { ReplicaID(replica) }

  /// Where the space is.
  var syncPlace: SyncPlace { SyncPlace(place, token: token) }

  /// The token of this device at a hub; `nil` if it has none.
  func token(ofHub address: String) -> String? {
    let key = Self.hubKey(address)
    return Self.hubKey(place) == key ? token ?? hubTokens?[key] : hubTokens?[key]
  }

  /// Stores the token of this device at a hub; `nil` forgets it.
  mutating func storeToken(_ token: String?, ofHub address: String) {
    var tokens = hubTokens ?? [:]
    tokens[Self.hubKey(address)] = token
    hubTokens = tokens.isEmpty ? nil : tokens
  }

  /// The same text for all spellings of an address: scheme and host in lower case, no default port, no slash at the end.
  private static func hubKey(_ address: String) -> String {
    guard var parts = URLComponents(string: address) else { return address }
    (parts.scheme, parts.host) = (parts.scheme?.lowercased(), parts.host?.lowercased())
    if parts.port == (parts.scheme == "http" ? 80 : 443) { parts.port = nil }
    while parts.path.hasSuffix("/") { parts.path.removeLast() }
    return parts.string ?? address
  }

  /// The space with its keys.
  func spaceKeys() throws -> SpaceKeys {
    guard let space = SpaceID(space) else { throw SyncFault.damagedSettings }
    guard isEncrypted else { return SpaceKeys(unencrypted: space) }
    let keys = keys.compactMapValues { SpaceKey(bytes: $0) }
    guard let epoch = keys.keys.max() else { throw SyncFault.damagedSettings }
    let others = (otherKeys ?? []).compactMap { other in
      SpaceKey(bytes: other.key).map { EpochKey(epoch: other.epoch, key: $0) }
    }
    return SpaceKeys(space: space, epoch: epoch, keys: keys, others: others)
  }

  /// Stores the keys of the space.
  mutating func setKeys(of space: SpaceKeys) {
    keys = space.keys.mapValues { Data($0.bytes) }
    otherKeys = space.others.isEmpty ? nil : space.others.map { OtherKey(epoch: $0.epoch, key: Data($0.key.bytes)) }
  }

  /// The replicas that this store is and was, with the secret keys.
  func identities() throws -> [(replica: ReplicaID, keys: ReplicaKeys)] {
    let former = (formerReplicas ?? []).compactMap { former in
      ReplicaKeys(bytes: former.keys).map { (ReplicaID(former.replica), $0) }
    }
    return [(replicaID, try secretKeys())] + former.reversed()
  }

  /// Whether the recovery code differs from the one that this store last showed.
  func isRecoveryCodeOutdated() throws -> Bool {
    guard let shownKeyHash, let hash = try recoveryCodeHash() else { return false }
    return hash != shownKeyHash
  }

  /// The recovery code of the newest key; `nil` in a space without encryption.
  func recoveryCode() throws -> RecoveryCode? {
    let space = try spaceKeys()
    return space.keys[space.epoch].map { RecoveryCode($0, ownerSecret: recoverySecret.map(Array.init)) }
  }

  private func recoveryCodeHash() throws -> Data? {
    guard let code = try recoveryCode() else { return nil }
    let hash = code.key.hash(in: try spaceKeys().space)
    return Data(code.ownerSecret.map { ContentHash(of: hash.bytes + $0).bytes } ?? hash.bytes)
  }

  /// Records that the recovery code of the newest key is shown; at a hub the code includes a secret of this store.
  ///
  /// - Returns: The code; `nil` in a space without encryption.
  mutating func showRecoveryCode() throws -> String? {
    if syncPlace.isHub, recoverySecret == nil { renewRecoverySecret() }
    return try recordShownRecoveryCode()?.text
  }

  /// Records that the user has the recovery code of the newest key on paper.
  @discardableResult
  mutating func recordShownRecoveryCode() throws -> RecoveryCode? {
    guard let code = try recoveryCode() else { return nil }
    shownKeyHash = try recoveryCodeHash()
    return code
  }

  /// Changes the recovery code to one that no device has known before.
  mutating func renewRecoverySecret() { recoverySecret = Data(RecoveryCode.newOwnerSecret()) }

  /// The replicas that this store was before.
  var formerIDs: Set<ReplicaID> { Set((formerReplicas ?? []).map { ReplicaID($0.replica) }) }

  /// Makes this store a new replica with new keys.
  mutating func becomeNewReplica() {
    let former = FormerReplica(replica: replica, keys: replicaKeys)
    formerReplicas = ((formerReplicas ?? []) + [former]).suffix(Self.storedIdentityCount)
    (replica, replicaKeys) = (UUID(), Data(ReplicaKeys().bytes))
  }

  private static let storedIdentityCount = 16

  /// Records when a segment was sealed; only the last 32 times are stored.
  mutating func recordSeal(of number: UInt64, at time: Int64) {
    var times = sealTimes ?? [:]
    times[number] = time
    sealTimes = times.filter { $0.key + 32 > number && $0.key <= number }
  }

  func secretKeys() throws -> ReplicaKeys {
    guard let keys = ReplicaKeys(bytes: replicaKeys) else { throw SyncFault.damagedSettings }
    return keys
  }
}

/// How far the stream of another replica has been read.
struct StreamProgress: Codable {
  var head = StreamPosition.start
  /// When its author sealed the last segment, in microseconds since 1970.
  var lastSeen: Int64?
  /// The last segment of its author that a segment of this replica has named.
  var announced: UInt64?
  /// The last segment of this replica that its author had seen.
  var hasSeen: UInt64 = 0
  /// The last segment that the place had when this store read it.
  var atPlace: UInt64?
  /// The last segment that a snapshot of this store covers.
  var covered: UInt64?
  /// The times that prove that the clock of its author differs; `nil` if none do.
  var clock: ClockComparison?
  /// The reason why the next segment cannot be merged, as a sentence; versions before the fields below know only this.
  var block: String?
  /// The kind of that reason, and since when the stream has been blocked.
  var blockKind: String?
  var blockedSince: Int64?
  /// The first and the last of each run of segments that are missing.
  var missing: [UInt64]?
  /// The last segment that is known to exist although the place may not have it: a segment of another replica or a
  /// snapshot names it, and both are signed.
  var named: UInt64?

  /// How many segments are at the place and were not merged.
  var behind: Int {
    Int(clamping: (atPlace ?? 0).subtractingReportingOverflow(min(head.number, atPlace ?? 0)).partialValue)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The settings; `nil` if the store belongs to no space.
  func syncSettings() throws -> SyncSettings? {
    try syncValue(forKey: SyncKey.settings).map { try JSONDecoder().decode(SyncSettings.self, from: Data($0)) }
  }

  /// The settings of a store that belongs to a space.
  func requireSyncSettings() throws -> SyncSettings {
    guard let settings = try syncSettings() else { throw TallyError.notSynchronising }
    return settings
  }

  /// How far the stream of a replica has been read.
  func streamProgress(of replica: ReplicaID) throws -> StreamProgress {
    let bytes = try syncValue(forKey: SyncKey.streams + replica.bytes)
    return try bytes.map { try JSONDecoder().decode(StreamProgress.self, from: Data($0)) } ?? StreamProgress()
  }

  /// How far the streams of others have been read.
  func streamProgress() throws -> [ReplicaID: StreamProgress] {
    var positions: [ReplicaID: StreamProgress] = [:]
    for (key, value) in try syncValues(under: SyncKey.streams) {
      guard let id = UUID(bytes: key) else { throw SyncFault.damagedSettings }
      positions[ReplicaID(id)] = try JSONDecoder().decode(StreamProgress.self, from: Data(value))
    }
    return positions
  }
}

extension StoreWriteTransaction {
  /// Changes the settings of a store that belongs to a space, and returns what the change returns.
  @discardableResult
  mutating func changeSyncSettings<Result>(_ change: (inout SyncSettings) throws -> Result) throws -> Result {
    let known = try requireSyncSettings()
    var settings = known
    let result = try change(&settings)
    if settings != known { try setSyncSettings(settings) }
    return result
  }

  mutating func setSyncSettings(_ settings: SyncSettings?) throws {
    try setSyncValue(settings.map { [UInt8](try JSONEncoder().encode($0)) }, forKey: SyncKey.settings)
  }

  /// Changes how far the stream of a replica has been read.
  mutating func changeProgress(of replica: ReplicaID, _ change: (inout StreamProgress) -> Void) throws {
    var progress = try streamProgress(of: replica)
    change(&progress)
    try setProgress(progress, of: replica)
  }

  mutating func setProgress(_ position: StreamProgress, of replica: ReplicaID) throws {
    try setSyncValue([UInt8](try JSONEncoder().encode(position)), forKey: SyncKey.streams + replica.bytes)
  }
}

extension TaskStore {
  /// The settings of a store that belongs to a space.
  func requireSyncSettings() throws -> SyncSettings { try readSynchronization { try $0.requireSyncSettings() } }

  /// Changes the settings in a write of its own, and returns what the change returns.
  @discardableResult
  func changeSyncSettings<Result: Sendable>(
    _ change: @escaping @Sendable (inout SyncSettings) throws -> Result
  ) async throws -> Result {
    try await write { try $0.changeSyncSettings(change) }
  }

  /// Changes one of the settings, unless it already has the value.
  func setSyncSetting<Value: Equatable & Sendable>(
    _ setting: any WritableKeyPath<SyncSettings, Value> & Sendable, to value: Value
  ) async throws {
    guard try requireSyncSettings()[keyPath: setting] != value else { return }
    try await changeSyncSettings { $0[keyPath: setting] = value }
  }
}

/// A fault of a store that Tally alone cannot have written.
enum SyncFault: Error {
  case damagedSettings
}
