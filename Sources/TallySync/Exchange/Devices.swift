import Foundation
import Tally

// Devices tell one another about themselves by objects of kinds that have no record. A version that does not know these
// kinds keeps the objects and passes them on.

/// A device whose clock differs from the clock of this device.
public struct ClockDifference: Hashable, Sendable {
  /// The replica of the device.
  public let replica: ReplicaID
  /// Its name; `nil` if its card has not arrived.
  public let name: String?
  /// The least number of seconds by which its clock is ahead of the clock of this device; negative if it is behind.
  public let secondsAhead: Int64

  /// The smallest difference that is reported, in microseconds.
  static let leastMicroseconds: Int64 = 60_000_000
}

/// The names that users have chosen for devices, and the replica that each of them has become.
struct DeviceRecords {
  private var states: [ReplicaID: ObjectState] = [:]

  init<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    let rows = try transaction.syncValues(under: SyncKey.states + [ObjectKey.deviceKind])
    guard !rows.isEmpty else { return }
    let table = try StateTable(in: transaction)
    for (key, _) in rows {
      guard let replica = ReplicaID(bytes: key) else { continue }
      states[replica] = try table.state(of: ObjectKey(ofDevice: replica), in: transaction)
    }
  }

  /// The name that somebody chose for a device; `nil` if nobody has.
  func name(of replica: ReplicaID) -> String? {
    guard let value = states[replica]?.registers[.title]?.value, !value.isEmpty else { return nil }
    return String(validating: value, as: UTF8.self)
  }

  /// The replica that the store of this replica became when it was copied or restored; `nil` if it did not.
  func successor(of replica: ReplicaID) -> ReplicaID? {
    states[replica]?.registers[.successor].flatMap { ReplicaID(bytes: $0.value) }
  }

  /// When the successor of a replica declared itself to be that; `nil` if no replica did, or if only another one says
  /// so.
  func timeOfSuccession(of replica: ReplicaID) -> Int64? {
    guard let register = states[replica]?.registers[.successor], let successor = successor(of: replica),
      register.replica == successor
    else { return nil }
    return register.time
  }

  /// The replicas that are said to have become this one, directly or through others.
  func formerIdentities(of replica: ReplicaID) -> [ReplicaID] {
    var (found, open): ([ReplicaID], [ReplicaID]) = ([], [replica])
    while let next = open.popLast() {
      for former in states.keys where successor(of: former) == next && former != replica && !found.contains(former) {
        found.append(former)
        open.append(former)
      }
    }
    return found.sorted()
  }
}

extension StoreSync {
  /// Renames a device, on all devices.
  ///
  /// If two devices rename the same device at the same time, the later name counts. Devices with an older version keep
  /// showing the name with which the device joined, unless the renamed device runs a version that publishes the new
  /// name.
  ///
  /// - Parameters:
  ///   - replica: The device; it may be this one, or a revoked one.
  ///   - name: The name: not blank, at most 256 bytes of UTF-8.
  /// - Throws: `TallyError` with `notSynchronising`, `replicaNotFound` or `invalidDeviceName`; what the store throws.
  public func renameMember(_ replica: ReplicaID, to name: String) async throws {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty, name.utf8.count <= Card.maximumNameByteCount, !name.contains(where: \.isNewline) else {
      throw TallyError.invalidDeviceName
    }
    try await store.write { transaction in
      guard try transaction.isKnown(replica) else { throw TallyError.replicaNotFound(replica) }
      try transaction.write([DeviceWrite(object: ObjectKey(ofDevice: replica), field: .title, value: Array(name.utf8))])
      try transaction.adoptOwnName()
    }
  }

  /// The recovery code: the key of the space, to be kept on paper.
  ///
  /// - Returns: The code.
  /// - Throws: `TallyError` with `notSynchronising`, `deviceRevoked`, or `spaceNotEncrypted` if the space has no key; with
  ///   `notAnOwner` at a hub, which accepts the codes of owners only.
  public func recoveryCode() async throws -> String {
    try await store.write { transaction in
      let settings = try transaction.requireSyncSettings()
      if settings.isRevoked == true { throw TallyError.deviceRevoked }
      if settings.isEncrypted, settings.syncPlace.isHub, !(settings.isOwner ?? (settings.recoverySecret != nil)) {
        throw TallyError.notAnOwner
      }
      // The code that the hub has, which may be that of the folder where the space was before.
      guard let code = try transaction.changeSyncSettings({ try $0.recordShownRecoveryCode() }) else {
        throw TallyError.noRecoveryCode
      }
      return code.text
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a replica belongs or belonged to the space, as far as this replica knows.
  func isKnown(_ replica: ReplicaID) throws -> Bool {
    try requireSyncSettings().replicaID == replica || syncValue(forKey: SyncKey.cards + replica.bytes) != nil
      || syncValue(forKey: SyncKey.streams + replica.bytes) != nil
      || syncValue(forKey: SyncKey.revocations + replica.bytes) != nil
  }

  /// The name of a device: the last one that somebody chose for it, or else the name in its card.
  func deviceName(of replica: ReplicaID) throws -> String? {
    try DeviceRecords(in: self).name(of: replica) ?? card(of: replica)?.name
  }

  /// The devices whose clocks differ from this one, judged by the last segment of each.
  func clockDifferences() throws -> [ClockDifference] {
    let (former, revoked, records) = (
      try requireSyncSettings().formerIDs, try revocations(), try DeviceRecords(in: self)
    )
    return try streamProgress().compactMap { replica, progress in
      guard !former.contains(replica), revoked[replica] == nil, records.successor(of: replica) == nil,
        let difference = progress.clockDifference(at: now.microsecondsSince1970)
      else { return nil }
      return ClockDifference(
        replica: replica, name: try records.name(of: replica) ?? card(of: replica)?.name,
        secondsAhead: difference / 1_000_000)
    }.sorted { $0.replica < $1.replica }
  }

  /// The card of a replica; `nil` if it has not arrived.
  func card(of replica: ReplicaID) throws -> Card? { try card(of: replica, in: requireSyncSettings().spaceKeys()) }

  /// The card of a replica, opened with keys that the caller already has.
  func card(of replica: ReplicaID, in space: SpaceKeys) throws -> Card? {
    try syncValue(forKey: SyncKey.cards + replica.bytes).map { bytes in
      try Card(opening: Envelope(parsing: bytes), of: replica, in: space)
    }
  }

  /// Whether merging cards may change something: at least one is new here and can be stored, or has a record.
  func hasNewCards(_ cards: [ReplicaID: [UInt8]]) throws -> Bool {
    for (replica, bytes) in cards where try syncValue(forKey: SyncKey.cards + replica.bytes) != bytes {
      guard let envelope = try? Envelope(parsing: bytes), let verified = try verify(envelope) else { continue }
      if try verified.record != nil || isStorable(verified) { return true }
    }
    return false
  }

  /// The key that verifies what a replica signs, if it is known without its new card.
  fileprivate func knownKey(of replica: ReplicaID) throws -> VerifyingKey? {
    let settings = try requireSyncSettings()
    if replica == settings.replicaID { return try settings.secretKeys().verifyingKey }
    return try card(of: replica)?.verifyingKey ?? membership().listed[replica]
  }

  /// Verifies a card; `nil` if its author is unknown or did not sign it.
  fileprivate func verify(_ envelope: Envelope) throws -> VerifiedCard? {
    let (space, membership) = (try requireSyncSettings().spaceKeys(), try membership())
    let replica = envelope.header.label.replica
    let card = try? Card(opening: envelope, of: replica, in: space)
    let opened = card.flatMap {
      membership.admits(replica, $0.verifyingKey, sealedInEpoch: envelope.header.epoch) ? $0 : nil
    }
    guard let key = try knownKey(of: replica) ?? opened?.verifyingKey ?? membership.provenKey(in: envelope, space)
    else { return nil }
    do throws(EnvelopeFault) {
      try envelope.check(.card, replica, space)
      try envelope.verify(by: key)
    } catch {
      return nil
    }
    let isTrusted = membership.revocations[replica] == nil
    return VerifiedCard(
      replica: replica, card: opened?.verifyingKey == key ? opened : nil,
      record: isTrusted ? try? envelope.epochRecord : nil)
  }

  /// Whether a verified card replaces the stored one.
  ///
  /// A revoked replica keeps the last card from before its revocation, which verifies the segments that count.
  fileprivate func isStorable(_ verified: VerifiedCard) throws -> Bool {
    guard verified.card != nil, try verified.replica != requireSyncSettings().replicaID else { return false }
    guard try membership().revocations[verified.replica] != nil else { return true }
    return try syncValue(forKey: SyncKey.cards + verified.replica.bytes) == nil
  }
}

extension StoreWriteTransaction {
  /// Writes registers of objects that have no record; the change waits to be sent.
  ///
  /// - Parameters:
  ///   - writes: The registers, each of a different object.
  ///   - settings: Counts the segments; the caller stores them.
  /// - Throws: What the store throws.
  mutating func write(_ writes: [DeviceWrite], _ settings: inout SyncSettings) throws {
    var merge = try StateMerge(in: self)
    let time = now.microsecondsSince1970
    let changes = try writes.compactMap { try merge.write($0, at: time, as: settings.replicaID, in: self) }
    guard !changes.isEmpty else { return }
    try merge.finish(in: &self)
    try Outbox.seal(changes, &settings, in: &self)
  }

  /// Writes registers of objects that have no record, and stores the settings.
  mutating func write(_ writes: [DeviceWrite]) throws {
    var settings = try requireSyncSettings()
    try write(writes, &settings)
    try setSyncSettings(settings)
  }

  /// Adopts the name that others chose for this device, and tells them that it is still in use.
  ///
  /// The latter is needed if a copy of this store became a replica of its own and named this one as its former identity.
  mutating func applyDeviceRecords() throws {
    let own = try requireSyncSettings().replicaID
    if try DeviceRecords(in: self).successor(of: own) != nil {
      try write([DeviceWrite(object: ObjectKey(ofDevice: own), field: .successor, value: [])])
    }
    try adoptOwnName()
  }

  /// Adopts the name that others chose for this device, so that its card is published again with it.
  fileprivate mutating func adoptOwnName() throws {
    var settings = try requireSyncSettings()
    guard let name = try DeviceRecords(in: self).name(of: settings.replicaID), name != settings.deviceName else {
      return
    }
    settings.deviceName = name
    try setSyncSettings(settings)
    try setSyncValue(nil, forKey: SyncKey.cards + settings.replicaID.bytes)
  }

  /// Merges the cards of others, and the records of epochs in them.
  ///
  /// A card that does not open blocks the stream that it would verify. One record may have the key that opens another
  /// card, so they are read until nothing new is found.
  ///
  /// - Parameter cards: The cards at the place.
  /// - Returns: Whether this replica still belongs to the space and has its key.
  /// - Throws: What the store throws.
  mutating func mergeCards(_ cards: [ReplicaID: [UInt8]]) throws -> CardOutcome {
    let new = try cards.filter { try syncValue(forKey: SyncKey.cards + $0.key.bytes) != $0.value }
    var open = try inOrder(new.values.compactMap { try? Envelope(parsing: $0) })
    let start = try requireSyncSettings().spaceKeys()
    var (outcome, isChanged) = (CardOutcome.merged, false)
    var isProgress = true
    while isProgress {
      (outcome, isProgress) = (.merged, false)
      for (index, envelope) in open.enumerated().reversed() {
        let result = try mergeCard(envelope)
        if result.outcome == .revoked { return .revoked }
        if result.outcome == .lacksKey { outcome = .lacksKey }
        isChanged = isChanged || result.isNewRecord
        isProgress = isProgress || result.isNewRecord || result.isStored
        if result.isStored { open.remove(at: index) }
      }
    }
    if try isChanged || requireSyncSettings().spaceKeys() != start {
      try applyRecords(hasAllKeys: outcome == .merged)
    }
    return outcome
  }

  /// Applies new records: removes cards with old keys, has the card of this replica written again, and makes an epoch if the
  /// record is incomplete.
  ///
  /// - Parameter hasAllKeys: Whether this replica has the key of every record. Without one it does not make an epoch:
  ///   the members of that record would not accept it, because it could not prove that it has their key.
  /// - Throws: What the store throws.
  private mutating func applyRecords(hasAllKeys: Bool) throws {
    try removeCardsWithOldKeys()
    try setSyncValue(nil, forKey: SyncKey.cards + requireSyncSettings().replicaID.bytes)
    guard hasAllKeys, let record = try currentRecord(), try !membership().isComplete(record),
      try hasCardsOfAllListed()
    else { return }
    do {
      try makeEpoch(revoking: [:])
    } catch let error as TallyError where error.code == .tooManyReplicas {
      // The key of the record stays in use: synchronisation continues, and the next revocation reports it.
    }
  }

  /// Cards in the order in which they are read, the first one last: those of a record that many known replicas carry come
  /// first, so that a revoked replica alone does not decide.
  private func inOrder(_ envelopes: [Envelope]) throws -> [Envelope] {
    var carriers: [EpochRecord: Int] = [:]
    for envelope in envelopes {
      guard let record = try? envelope.epochRecord, let key = try knownKey(of: envelope.header.label.replica),
        (try? envelope.verify(by: key)) != nil
      else { continue }
      carriers[record, default: 0] += 1
    }
    let ranked = envelopes.map { envelope -> (rank: (Int, UInt32, ReplicaID), envelope: Envelope) in
      let record = try? envelope.epochRecord
      let count = record.flatMap { carriers[$0] } ?? 0
      return ((-count, record?.number ?? .max, envelope.header.label.replica), envelope)
    }
    return ranked.sorted { $0.rank > $1.rank }.map(\.envelope)
  }

  /// Merges one card: first the record in it, if its author was not revoked, then the card itself.
  private mutating func mergeCard(_ envelope: Envelope) throws -> CardResult {
    guard let verified = try verify(envelope) else { return CardResult() }
    var result = CardResult()
    if let record = verified.record {
      result = try mergeRecord(record)
      guard result.outcome == .merged else { return result }
    }
    guard let card = verified.card, try isStorable(verified) else { return result }
    try setSyncValue(envelope.bytes, forKey: SyncKey.cards + verified.replica.bytes)
    // A revoked replica could hand over a key of its own, with which somebody who joined later would seal.
    if try revocations()[verified.replica] == nil { try add(card.olderKeys) }
    result.isStored = true
    return result
  }

  /// How far the number of an epoch may be above the newest one that is known here.
  private static let mostEpochsAtOnce: Int64 = 65_536

  /// Merges the record of an epoch.
  private mutating func mergeRecord(_ record: EpochRecord) throws -> CardResult {
    var settings = try requireSyncSettings()
    let space = try settings.spaceKeys()
    // Without encryption anybody could write a card; numbers must not run out.
    guard space.isEncrypted, Int64(record.number) - Int64(space.epoch) <= Self.mostEpochsAtOnce, record.number < .max
    else { return CardResult() }
    if record.revocations[settings.replicaID] != nil {
      try changeSyncSettings { $0.isRevoked = true }
      return CardResult(outcome: .revoked)
    }
    var isNew = try add(record.revocations)
    let identities = try settings.identities()
    let key =
      space.key(ofEpoch: record.number, hash: record.keyHash)
      ?? identities.lazy.compactMap { record.key(for: $0.replica, $0.keys, in: space.space) }.first
    guard let key else { return CardResult(outcome: .lacksKey, isNewRecord: isNew) }
    settings = try requireSyncSettings()
    settings.setKeys(of: space.adding(EpochKey(epoch: record.number, key: key)))
    try setSyncSettings(settings)
    if record.number >= space.epoch, try !membership().records.contains(where: { $0.keyHash == record.keyHash }) {
      try insert(record)
      isNew = true
    }
    return CardResult(isNewRecord: isNew)
  }

  /// Adds keys of past epochs from a card.
  private mutating func add(_ older: [EpochKey]) throws {
    try changeSyncSettings { settings in
      let space = try settings.spaceKeys()
      guard space.isEncrypted else { return }
      settings.setKeys(of: older.filter { $0.epoch <= space.epoch }.reduce(space) { $0.adding($1) })
    }
  }
}

extension StreamProgress {
  /// Compares the clock of the stream's author with this one.
  ///
  /// A segment cannot be sealed after it arrives, nor before a segment that its author had already seen. Both are true
  /// however long a segment travels. The only device that goes undetected is one that is behind and has seen nothing
  /// from this one.
  ///
  /// - Parameters:
  ///   - sealedAt: When the author sealed a segment, by the author's clock.
  ///   - seenAt: When this replica sealed the last of its segments that the author had seen, by this clock; `nil` if unknown.
  ///   - now: The time now.
  mutating func compareClocks(sealedAt: Int64, seenAt: Int64?, now: Int64) {
    if sealedAt > now {
      clock = ClockComparison(theirs: sealedAt, ours: now)
    } else if let seenAt, seenAt > sealedAt {
      clock = ClockComparison(theirs: sealedAt, ours: seenAt)
    } else {
      clock = nil
    }
  }

  /// How far the author's clock is ahead, in microseconds; `nil` if the difference is too small to be reported.
  ///
  /// If the time recorded from this clock is still in the future, this clock was the wrong one.
  fileprivate func clockDifference(at now: Int64) -> Int64? {
    guard let clock, clock.ours <= now + ClockDifference.leastMicroseconds else { return nil }
    let (difference, isOverflow) = clock.theirs.subtractingReportingOverflow(clock.ours)
    guard !isOverflow, difference.magnitude > UInt64(ClockDifference.leastMicroseconds) else { return nil }
    return difference
  }
}

/// A time of another device's clock and a time of this clock whose order proves that one of the clocks is wrong.
struct ClockComparison: Codable {
  let theirs: Int64
  let ours: Int64
}

/// The effect of the cards of others on this replica.
enum CardOutcome {
  /// Every card was merged that can be.
  case merged
  /// Another replica has revoked this one.
  case revoked
  /// A member's record, not always the newest, has a key that was not sealed for this replica.
  case lacksKey

  /// - Throws: `TallyError` with `deviceRevoked` or `spaceKeyMissing`.
  func requireMerged() throws {
    switch self {
    case .merged: return
    case .revoked: throw TallyError.deviceRevoked
    case .lacksKey: throw TallyError.spaceKeyMissing
    }
  }
}

/// A card that its author has signed.
private struct VerifiedCard {
  let replica: ReplicaID
  /// The card; `nil` if it does not open, or its author does not belong to the space.
  let card: Card?
  /// The record in it; `nil` if there is none, or its author was revoked.
  let record: EpochRecord?
}

extension Membership {
  /// The key in the card of a replica that has joined since the last exchange, if the card proves that the replica has the
  /// newest key known here.
  fileprivate func provenKey(in envelope: Envelope, _ space: SpaceKeys) -> VerifyingKey? {
    let replica = envelope.header.label.replica
    guard let clear = try? envelope.cardClearPart,
      space.keys(ofEpoch: space.epoch).contains(where: { clear.proves(that: replica, has: $0) }),
      admits(replica, clear.verifyingKey, sealedInEpoch: space.epoch)
    else { return nil }
    return clear.verifyingKey
  }
}

/// The result of merging one card.
private struct CardResult {
  var outcome = CardOutcome.merged
  var isNewRecord = false
  var isStored = false
}
