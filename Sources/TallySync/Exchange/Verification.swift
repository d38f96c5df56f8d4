import Foundation
public import Tally
import TallySystem

extension StoreSync {
  /// Compares the rows of synchronisation with the tasks and lists.
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
  /// The tasks and lists are trusted: where they differ, that counts as a change of this device. States that cannot be
  /// read are forgotten. They come again from the place, as does a task whose record was lost. The store continues as a
  /// new replica, with a snapshot of all that it has.
  ///
  /// - Returns: The disagreements that were repaired.
  /// - Throws: `TallyError` with `notSynchronising` or `syncBusy`.
  @discardableResult
  public func repair() async throws -> [StoreFault] {
    let lock = try await acquireTurn()
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
    // If the numbers of replicas cannot be read, no state can be read.
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
        // A repair moves a task out of a lost list or parent; the task returns there if the list or the parent returns.
        let parts = try difference.parts.subtracting(lostPlaces(of: difference.object)).union(.updated)
        try noteAsChanged(parts, isList: difference.object.isList, id: difference.object.id)
      }
    } else {
      try noteEverything()
    }
    try StateTable.rebuildHash(in: &self)
    try mergeOutbox()
  }

  /// Which of the list and the parent that a task's state names are lost and no longer named by its record.
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

  /// Merges the changes that wait in the outbox, because they may be of objects whose states were forgotten.
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

/// Compares the state of each object with its record, and checks the rows of the exchange.
struct StateVerification {
  /// A disagreement between the state and the record of an object.
  struct Difference {
    let object: ObjectKey
    var kind: StoreFault.Kind
    /// The parts that differ, if there is a record.
    var parts: SyncFields = []
  }

  /// The objects that disagree.
  private(set) var differences: [Difference] = []
  /// Rows that cannot be read.
  private(set) var unreadableKeys: [[UInt8]] = []
  /// Whether the stored sum of the hashes of all states is wrong.
  private(set) var isHashWrong = false
  private var tasks: [UUID: ObjectState] = [:]
  private var lists: [UUID: ObjectState] = [:]

  init<Base: ~Copyable>(of transaction: borrowing StoreTransaction<Base>) throws {
    guard let table = try? StateTable(in: transaction) else {
      unreadableKeys = try transaction.syncValues(under: SyncKey.replicas).map { SyncKey.replicas + $0.key }
      return
    }
    try read(table, transaction)
    try checkTasks(transaction)
    try compare(transaction.lists(), with: lists, in: transaction) { try $1.list($0) }
    try checkRows(transaction)
  }

  /// The faults, as a verification of the store reports them.
  var faults: [StoreFault] {
    differences.map { StoreFault(kind: $0.kind, table: "sync", id: $0.object.id) }
      + unreadableKeys.map { _ in StoreFault(kind: .unreadableRecord, table: "sync", id: nil) }
      + (isHashWrong ? [StoreFault(kind: .wrongCounter, table: "sync", id: nil)] : [])
  }

  private mutating func read<Base: ~Copyable>(
    _ table: StateTable, _ transaction: borrowing StoreTransaction<Base>
  ) throws {
    var sum = StateHash.zero
    for (key, _) in try transaction.syncValues(under: SyncKey.states) {
      guard let object = try? ObjectKey(bytes: key), let stored = try? table.stored(object, in: transaction) else {
        unreadableKeys.append(SyncKey.states + key)
        continue
      }
      sum = sum + stored.hash(of: object)
      let state = try table.state(stored, of: object, in: transaction)
      if object.isTask { tasks[object.id] = state } else if object.isList { lists[object.id] = state }
    }
    isHashWrong = sum != table.hash
  }

  private mutating func checkTasks<Base: ~Copyable>(_ transaction: borrowing StoreTransaction<Base>) throws {
    let outline = Outline(tasks: tasks, lists: lists) { $0.isShown }
    try compare(transaction.view(.all).tasks.map(\.stored), with: tasks, in: transaction) { id, state in
      try state.task(id, at: outline.places[id] ?? Outline.Place())
    }
  }

  /// Compares records with the states of their objects; a closure makes the expected record from a state.
  private mutating func compare<Item: SyncedItem, Base: ~Copyable>(
    _ items: [Item], with states: [UUID: ObjectState], in transaction: borrowing StoreTransaction<Base>,
    expecting item: (UUID, ObjectState) throws -> Item?
  ) throws {
    let records = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) })
    for id in Set(states.keys).union(records.keys) where try !transaction.isPending(isList: Item.isList, id: id) {
      let expected = states[id].flatMap { try? item(id, $0) }
      var difference = Difference(object: ObjectKey(isList: Item.isList, id: id), kind: .wrongEntry)
      switch (expected, records[id]) {
      case (nil, nil): continue
      case (_?, nil): difference.kind = .danglingEntry
      case (nil, _?): (difference.kind, difference.parts) = (.missingEntry, .all)
      case (let expected?, let record?):
        difference.parts = Item.differences(record, expected)
        if difference.parts.isEmpty, record.updatedAt != expected.updatedAt { difference.parts = .updated }
        if difference.parts.isEmpty { continue }
      }
      differences.append(difference)
    }
  }

  /// Checks that waiting segments, cards, records of epochs, revocations, conflicts and positions can be read.
  private mutating func checkRows<Base: ~Copyable>(_ transaction: borrowing StoreTransaction<Base>) throws {
    let settings = try transaction.requireSyncSettings()
    let keys = try settings.spaceKeys()
    func check(_ prefix: [UInt8], _ read: (_ key: [UInt8], _ value: [UInt8]) throws -> Void) throws {
      for (key, value) in try transaction.syncValues(under: prefix) where (try? read(key, value)) == nil {
        unreadableKeys.append(prefix + key)
      }
    }
    try check(SyncKey.outbox) {
      _ = try SegmentBody(decoding: Envelope(parsing: $1).content(in: keys), by: settings.replicaID)
    }
    try check(SyncKey.cards) { key, value in
      guard let replica = ReplicaID(bytes: key) else { throw SyncFault.damagedSettings }
      _ = try Card(opening: Envelope(parsing: value), of: replica, in: keys)
    }
    try check(SyncKey.epochs) { _ = try EpochRecord(decoding: $1) }
    try check(SyncKey.revocations) {
      var reader = ByteReader($1)
      _ = try EpochRecord.Revocation(from: &reader)
    }
    try check(SyncKey.conflicts) { _ = try JSONDecoder().decode(StoredConflict.self, from: Data($1)) }
    try check(SyncKey.streams) { _ = try JSONDecoder().decode(StreamProgress.self, from: Data($1)) }
  }
}
