import Foundation
import Tally

/// Deletes this replica's files that nobody needs any more.
extension SyncEngine {
  /// Deletes old segments of this replica that everybody has, and old snapshots of it, once a day.
  ///
  /// A segment goes if it is older than 30 days, a snapshot of this replica covers it, and either one of another replica
  /// does, too, or all that were active in the last 400 days have merged it.
  ///
  /// - Returns: Whether some may have been deleted.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func retire() async throws -> Bool {
    guard try store.readSynchronization({ try $0.isUpkeepDue() }) else { return false }
    let (old, settings) = try await store.write { try ($0.beginUpkeep(), $0.requireSyncSettings()) }
    guard let own = settings.snapshot else { return false }
    let names = try await reach { try await transport.snapshots() }
    guard names.contains(own.name(of: settings.replicaID)) else { return false }
    let number = try await coveredTwice(upTo: min(old, own.coveredNumber), names)
    let snapshots = names.filter { $0.replica == settings.replicaID && $0.number + 1 < own.number }
    try await reach { try await transport.delete(segmentsOf: settings.replicaID, upTo: number, snapshots: snapshots) }
    return true
  }

  /// The last own segment that all active replicas have merged, or that another replica's snapshot covers.
  private func coveredTwice(upTo last: UInt64, _ names: [SnapshotName]) async throws -> UInt64 {
    guard last > 0 else { return 0 }
    let (own, acknowledged) = try store.readSynchronization { transaction in
      (try transaction.requireSyncSettings().replicaID, try transaction.numberThatAllHaveSeen())
    }
    var covered = acknowledged
    for name in names where name.replica != own && covered < last {
      guard let first = try? await openPart(0, of: name), let position = first.summary.coverage[own],
        position.number > covered, try await isWhole(name)
      else { continue }
      covered = position.number
    }
    return min(last, covered)
  }
}

extension StoreWriteTransaction {
  /// How long segments stay at the place, and how long records of deleted objects stay here.
  private static var retention: Int64 { 30 * 86_400 * 1_000_000 }

  /// Notes how far the place has acknowledged today, and forgets the records of objects that were deleted long ago.
  ///
  /// - Returns: The last segment that is old enough to go.
  fileprivate mutating func beginUpkeep() throws -> UInt64 {
    var settings = try requireSyncSettings()
    let now = now.microsecondsSince1970
    settings.lastUpkeep = now
    try setSyncSettings(settings)
    try setSyncValue(
      settings.acknowledged.number.bigEndianBytes, forKey: SyncKey.ages + FieldValue.instant(self.now).storedBytes)
    try forgetDeletedRecords(before: now - Self.retention)
    return try takeAge(before: now - Self.retention)
  }

  /// The last segment that had been acknowledged at a time; earlier rows are not needed any more.
  private mutating func takeAge(before time: Int64) throws -> UInt64 {
    var (number, old): (UInt64, [[UInt8]]) = (0, [])
    for (key, value) in try syncValues(under: SyncKey.ages) {
      guard let noted = try FieldValue(.instant, storedBytes: key).instant?.microsecondsSince1970, noted <= time else {
        break
      }
      number = max(number, UInt64(bigEndianBytes: value))
      old.append(key)
    }
    for key in old.dropLast() { try setSyncValue(nil, forKey: SyncKey.ages + key) }
    return number
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a day has passed since old files were deleted.
  fileprivate func isUpkeepDue() throws -> Bool {
    guard let last = try requireSyncSettings().lastUpkeep else { return true }
    let now = now.microsecondsSince1970
    return last > now || now - last >= 86_400 * 1_000_000
  }

  /// How long a silent replica is expected to come back.
  private static var maximumSilence: Int64 { 400 * 86_400 * 1_000_000 }

  /// The last own segment that every replica active in the last 400 days has merged.
  fileprivate func numberThatAllHaveSeen() throws -> UInt64 {
    let (settings, progress, revoked) = (try requireSyncSettings(), try streamProgress(), try revocations())
    var least = UInt64.max
    for (key, _) in try syncValues(under: SyncKey.cards) {
      guard let replica = ReplicaID(bytes: key), replica != settings.replicaID, revoked[replica] == nil,
        let card = try card(of: replica)
      else { continue }
      let known = progress[replica]
      let lastSign = max(known?.lastSeen ?? .min, card.createdAt)
      guard lastSign >= now.microsecondsSince1970 - Self.maximumSilence else { continue }
      least = min(least, known?.hasSeen ?? 0)
    }
    return least
  }
}
