import Foundation
import Tally

// What devices tell one another about themselves: objects of kinds that have no record. A version that does not know these
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

/// The names given to devices, and the replica that each of them has become.
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

  /// The name that somebody has given a device; `nil` if nobody has.
  func name(of replica: ReplicaID) -> String? {
    guard let value = states[replica]?.registers[.title]?.value, !value.isEmpty else { return nil }
    return String(validating: value, as: UTF8.self)
  }

  /// The replica that the store of this replica became when it was copied or restored; `nil` if it did not.
  func successor(of replica: ReplicaID) -> ReplicaID? {
    states[replica]?.registers[.successor].flatMap { ReplicaID(bytes: $0.value) }
  }
}

extension DeviceRecords {
  /// When the successor of a replica said that it had become it; `nil` if nobody did, or another replica says so.
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
  /// Gives a device another name, on all devices.
  ///
  /// If two devices rename the same device at the same time, the later name counts. Devices with an older version keep showing
  /// the name with which the device joined, unless the renamed device runs a version that publishes the new name.
  ///
  /// - Parameters:
  ///   - replica: Which device; it may be this one, or a revoked one.
  ///   - name: The name: not blank, at most 256 bytes of UTF-8.
  /// - Throws: `TallyError` with `notSynchronising`, `replicaNotFound` or `invalidDeviceName`; what the store throws.
  public func renameMember(_ replica: ReplicaID, to name: String) async throws {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty, name.utf8.count <= Card.maximumNameByteCount, !name.contains(where: \.isNewline) else {
      throw TallyError.invalidDeviceName
    }
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      guard try transaction.isKnown(replica) else { throw TallyError.replicaNotFound(replica) }
      let write = DeviceWrite(object: ObjectKey(ofDevice: replica), field: .title, value: Array(name.utf8))
      try transaction.write([write], &settings)
      try transaction.setSyncSettings(settings)
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
      guard let code = try transaction.changeSyncSettings({ try $0.noteShownRecoveryCode() }) else {
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
      || streamProgress()[replica] != nil || revocations()[replica] != nil
  }

  /// The name of a device: the last one that it was given, or else the name in its card.
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
    try Outbox.put(changes, &settings, in: &self)
  }

  /// Follows what others have written about this device: adopts the name that it was given, and says that it is still in use.
  ///
  /// The latter is needed if a copy of this store became a replica of its own and named this one as its former identity.
  mutating func followDeviceRecords() throws {
    var settings = try requireSyncSettings()
    if try DeviceRecords(in: self).successor(of: settings.replicaID) != nil {
      let write = DeviceWrite(object: ObjectKey(ofDevice: settings.replicaID), field: .successor, value: [])
      try self.write([write], &settings)
      try setSyncSettings(settings)
    }
    try adoptOwnName()
  }

  /// Adopts the name that this device was given, so that its card is published again with it.
  fileprivate mutating func adoptOwnName() throws {
    var settings = try requireSyncSettings()
    guard let name = try DeviceRecords(in: self).name(of: settings.replicaID), name != settings.deviceName else {
      return
    }
    settings.deviceName = name
    try setSyncSettings(settings)
    try setSyncValue(nil, forKey: SyncKey.cards + settings.replicaID.bytes)
  }

}

extension StreamProgress {
  /// Compares the clock of the stream's author with this one.
  ///
  /// A segment cannot be sealed after it arrives, nor before a segment that its author had already seen. Both hold however long
  /// a segment travels. The only device that goes undetected is one that is behind and has seen nothing from this one.
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
  /// If the time noted from this clock still lies in the future, this clock was the wrong one.
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
