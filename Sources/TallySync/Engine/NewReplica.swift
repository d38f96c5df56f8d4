import Foundation
import Tally

extension TaskStore {
  /// Becomes a replica of its own, in the store and in its directory.
  ///
  /// - Parameter placeHasLost: Whether the place has lost what the old one wrote.
  /// - Throws: What the store and its directory throw.
  func becomeNewReplica(placeHasLost: Bool) async throws {
    let replica = try await write { transaction in
      try transaction.becomeNewReplica(placeHasLost: placeHasLost)
      return try transaction.requireSyncSettings().replicaID
    }
    try ReplicaFile(of: self).write(replica)
  }
}

extension StoreWriteTransaction {
  /// The numbers of segments that others have seen were those of the replica that this one was.
  private mutating func forgetWhatOthersHaveSeen() throws {
    for (replica, progress) in try streamProgress() {
      var progress = progress
      (progress.hasSeen, progress.announced) = (0, nil)
      try setProgress(progress, of: replica)
    }
    for (key, _) in try syncValues(under: SyncKey.ages) { try setSyncValue(nil, forKey: SyncKey.ages + key) }
  }

  /// Becomes a replica of its own: another store writes as the old one, or the place has lost what that one wrote.
  ///
  /// Segments that were not acknowledged are sealed again, with the times and authors of their changes. The stream of the old
  /// one is read like that of any other.
  mutating func becomeNewReplica(placeHasLost: Bool) throws {
    var settings = try requireSyncSettings()
    let (old, space) = (settings.replicaID, try settings.spaceKeys())
    var changes: [ObjectChange] = []
    for (key, bytes) in try syncValues(under: SyncKey.outbox) {
      let body = try SegmentBody(decoding: Envelope(parsing: bytes).content(in: space), by: old)
      changes += body.changes
      try Outbox.remove(UInt64(bigEndianBytes: key), in: &self)
    }
    // The stream of the old replica may have segments that this store does not know: merging all of it again is safe. One
    // that was lost is covered by the snapshot.
    try setProgress(placeHasLost ? StreamProgress(head: settings.acknowledged) : StreamProgress(), of: old)
    settings.becomeNewReplica()
    settings.sealedChangeCount = 0
    (settings.sealed, settings.acknowledged) = (.start, .start)
    (settings.cardNumber, settings.snapshot) = (0, nil)
    (settings.sealTimes, settings.beginsStream) = (nil, nil)
    try forgetWhatOthersHaveSeen()
    settings.needsSnapshot = settings.needsSnapshot || placeHasLost
    try Outbox.put(changes, &settings, in: &self)
    let successor = settings.replicaID.bytes
    try write([DeviceWrite(object: ObjectKey(ofDevice: old), field: .successor, value: successor)], &settings)
    try setSyncSettings(settings)
  }
}
