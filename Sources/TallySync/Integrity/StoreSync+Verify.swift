import Foundation
public import Tally
import TallySystem

extension StoreSync {
  /// Compares what synchronisation keeps in the store with the tasks and lists.
  ///
  /// `TaskStore.verify(progress:)` compares everything else.
  ///
  /// - Returns: The disagreements, in the table `sync`; empty in a sound store.
  /// - Throws: `TallyError` with `notSynchronising`.
  /// - Complexity: Everything is read once, from a snapshot.
  public func verify() async throws -> [StoreFault] {
    try store.readSynchronization { try StateVerification(of: $0).faults }
  }

  /// Repairs what ``verify()`` finds.
  ///
  /// The tasks and lists are trusted: where they differ, that counts as a change of this device. What cannot be read is forgotten,
  /// and comes again from the place; a task whose record was lost comes back with it, too. The store goes on as a new
  /// replica, with a snapshot of all that it has.
  ///
  /// - Returns: The disagreements that were repaired.
  /// - Throws: `TallyError` with `notSynchronising` or `syncBusy`.
  @discardableResult
  public func repair() async throws -> [StoreFault] {
    let lock = try await takeTurn()
    defer { lock.release() }
    let (faults, replica) = try await store.write { transaction in
      let verification = try StateVerification(of: transaction)
      let faults = verification.faults
      if !faults.isEmpty { try transaction.repair(verification) }
      return (faults, try transaction.requireSyncSettings().replicaID)
    }
    if !faults.isEmpty { try ReplicaFile(of: store).write(replica) }
    return faults
  }
}

extension StoreWriteTransaction {
  fileprivate mutating func repair(_ verification: StateVerification) throws {
    for key in verification.unreadableKeys { try setSyncValue(nil, forKey: key) }
    // Numbers of replicas that cannot be read make all states unreadable.
    let hasReplicas = !verification.unreadableKeys.contains { $0.starts(with: SyncKey.replicas) }
    if !hasReplicas {
      for (key, _) in try syncValues(under: SyncKey.states) { try setSyncValue(nil, forKey: SyncKey.states + key) }
    }
    for difference in verification.differences where difference.kind == .danglingEntry {
      try setSyncValue(nil, forKey: SyncKey.states + difference.object.bytes)
    }
    try becomeNewReplica(placeHasLost: true)
    for replica in try streamProgress().keys { try setProgress(StreamProgress(), of: replica) }
    for (key, _) in try syncValues(under: SyncKey.snapshots) { try setSyncValue(nil, forKey: SyncKey.snapshots + key) }
    if hasReplicas {
      for difference in verification.differences where !difference.parts.isEmpty {
        // A repair takes a task out of a lost list or parent; the task returns if the list or the parent comes back.
        let parts = try difference.parts.subtracting(lostPlaces(of: difference.object)).union(.updated)
        try noteAsChanged(parts, isList: difference.object.isList, id: difference.object.id)
      }
    } else {
      try noteEverything()
    }
    try StateTable.rebuildHash(in: &self)
    try mergeOutbox()
  }

  /// Whether the list and the parent that a task's state names are lost and no longer named by its record.
  private func lostPlaces(of object: ObjectKey) throws -> SyncFields {
    guard object.isTask, let task = try task(object.id) else { return [] }
    let state = try StateTable(in: self).state(of: object, in: self)
    var places: SyncFields = []
    if let list = state.reference(.list), task.listID == nil, try self.list(list) == nil { places.insert(.list) }
    if let parent = state.reference(.parent), task.parentID == nil, try self.task(parent) == nil {
      places.insert(.parent)
    }
    return places
  }

  /// Merges what waits in the outbox: it may have changes of objects whose states were forgotten.
  private mutating func mergeOutbox() throws {
    _ = try merging { merge, settings, transaction in
      for (_, bytes) in try transaction.syncValues(under: SyncKey.outbox) {
        let content = try Envelope(parsing: bytes).content(in: settings.spaceKeys())
        for change in try SegmentBody(decoding: content, by: settings.replicaID).changes {
          try merge.join(change.state, to: change.object, in: transaction)
        }
      }
    }
  }
}
