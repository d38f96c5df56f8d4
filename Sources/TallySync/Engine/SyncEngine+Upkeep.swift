import Foundation
import Tally

/// Checks that this replica's files at the place are intact, and deletes those that nobody needs any more.
extension SyncEngine {
  /// Checks that the place still returns what others need from this replica: once an hour, and whenever somebody else has
  /// changed its files.
  ///
  /// That is the newest snapshot and the segments behind it. If something is damaged or lost, a snapshot is due, which
  /// covers it.
  ///
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  /// - Complexity: Reads those segments and that snapshot.
  func checkOwnFiles() async throws {
    let settings = try await store.write { try $0.requireSyncSettings() }
    guard !settings.needsSnapshot, settings.acknowledged.number > 0 || settings.snapshot != nil else { return }
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }
    let isChanged = mark.map { Data($0) != settings.mark } ?? false
    guard try await store.write({ try $0.isCheckDue() }) || isChanged else { return }
    if let snapshot = settings.snapshot, try await !isWhole(snapshot.name(of: settings.replicaID)) {
      return try await requireSnapshot()
    }
    var number = settings.snapshot?.coveredNumber ?? 0
    while number < settings.acknowledged.number {
      let segments = try await reach {
        try await transport.segments(of: settings.replicaID, after: number, byteCount: Self.batchByteCount)
      }
      guard !segments.isEmpty else { return try await requireSnapshot() }
      number += UInt64(segments.count)
    }
  }

  /// Records the current mark of this replica's files.
  func noteMark() async throws {
    let settings = try await store.write { try $0.requireSyncSettings() }
    let mark = try await reach { try await transport.mark(of: settings.replicaID) }.map { Data($0) }
    guard mark != settings.mark else { return }
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      settings.mark = mark
      try transaction.setSyncSettings(settings)
    }
  }

  private func requireSnapshot() async throws {
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      settings.needsSnapshot = true
      try transaction.setSyncSettings(settings)
    }
  }

  /// Whether all parts of a snapshot are there and can be opened.
  private func isWhole(_ name: SnapshotName) async throws -> Bool {
    guard try await reach({ try await transport.snapshots() }).contains(name) else { return false }
    for number in 0..<name.partCount {
      // One that cannot be read is not whole, either.
      guard let bytes = try? await transport.part(number, of: name) else { return false }
      guard try await store.write({ try $0.content(of: bytes, number, of: name) }) != nil else { return false }
    }
    return true
  }

  /// Deletes old segments of this replica that everybody has, and old snapshots of it, once a day.
  ///
  /// A segment goes if it is older than 30 days, a snapshot of this replica covers it, and either one of another replica
  /// does, too, or all that were active in the last 400 days have merged it.
  ///
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func retire() async throws {
    guard let old = try await store.write({ try $0.beginUpkeep() }) else { return }
    let settings = try await store.write { try $0.requireSyncSettings() }
    guard let own = settings.snapshot else { return }
    let names = try await reach { try await transport.snapshots() }
    guard names.contains(own.name(of: settings.replicaID)) else { return }
    let number = try await coveredTwice(upTo: min(old, own.coveredNumber), names)
    let snapshots = names.filter { $0.replica == settings.replicaID && $0.number + 1 < own.number }
    try await reach { try await transport.delete(segmentsOf: settings.replicaID, upTo: number, snapshots: snapshots) }
  }

  /// The last own segment that all active replicas have merged, or that another replica's snapshot covers.
  private func coveredTwice(upTo last: UInt64, _ names: [SnapshotName]) async throws -> UInt64 {
    guard last > 0 else { return 0 }
    let (own, acknowledged) = try await store.write { transaction in
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
  /// How long a silent replica counts as one that comes back.
  private static var maximumSilence: Int64 { 400 * 86_400 * 1_000_000 }

  /// Whether the hourly check is due; if it is, notes that it is done now.
  fileprivate mutating func isCheckDue() throws -> Bool {
    var settings = try requireSyncSettings()
    let now = now.microsecondsSince1970
    if let last = settings.lastCheck, last <= now, now - last < 3_600 * 1_000_000 { return false }
    settings.lastCheck = now
    try setSyncSettings(settings)
    return true
  }

  /// Notes how far the place has acknowledged today, and forgets the records of objects that were deleted long ago.
  ///
  /// - Returns: The last segment that is old enough to go; `nil` if that was asked less than a day ago.
  fileprivate mutating func beginUpkeep() throws -> UInt64? {
    var settings = try requireSyncSettings()
    let now = now.microsecondsSince1970
    if let last = settings.lastUpkeep, last <= now, now - last < 86_400 * 1_000_000 { return nil }
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

  /// The last own segment that every replica active in the last 400 days has merged.
  fileprivate func numberThatAllHaveSeen() throws -> UInt64 {
    let (settings, progress) = (try requireSyncSettings(), try streamProgress())
    var least = UInt64.max
    for (key, _) in try syncValues(under: SyncKey.cards) {
      guard let replica = ReplicaID(bytes: key), replica != settings.replicaID, let card = try card(of: replica) else {
        continue
      }
      let known = progress[replica]
      let lastSign = max(known?.lastSeen ?? .min, card.createdAt)
      guard lastSign >= now.microsecondsSince1970 - Self.maximumSilence else { continue }
      least = min(least, known?.hasSeen ?? 0)
    }
    return least
  }

  /// Keeps of objects that this store has deleted long ago, or learned so, only who has written what and when.
  private mutating func forgetDeletedRecords(before time: Int64) throws {
    var (table, forgotten) = (try StateTable(in: self), [(object: ObjectKey, old: ObjectState, new: ObjectState)]())
    for (isList, id) in try deletedKeys() {
      guard try timeOfKeeping(isList: isList, id: id)?.microsecondsSince1970 ?? .min < time,
        try !isPending(isList: isList, id: id)
      else { continue }
      let object = ObjectKey(isList: isList, id: id)
      let state = try table.state(of: object, in: self)
      try forgetDeleted(isList: isList, id: id)
      if state.isDeleted { forgotten.append((object, state, state.withoutValues)) }
    }
    try table.put(forgotten, in: &self)
  }
}
