package import Foundation
import LMDB

/// Local changes of one object that other replicas do not have yet.
package struct PendingObject: Hashable, Sendable {
  /// Whether it is a list, and not a task.
  package let isList: Bool
  package let id: UUID
  /// The parts that have changed, each with the time of its last change in microseconds since 1970.
  package let times: [SyncFields: Int64]
  /// The instants of its completions that the ledger has got or lost as those of a deleted task.
  package let detached: [Timestamp]
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether any object or saved filter has changes that were not taken.
  package func hasPending() throws -> Bool {
    guard let syncTables else { return false }
    return try syncTables.pending.count(in: base) > 0 || hasSyncValues(withPrefix: SyncNotes.filterPrefix)
  }

  /// How many objects have changes that were not taken, and when the first of them changed.
  ///
  /// - Complexity: The saved filters that have changed. If the row of the first change says nothing, as in a store to which
  ///   an older version has written, all changes.
  package func pendingSummary() throws -> (count: Int, oldest: Timestamp?) {
    guard let pending = syncTables?.pending else { return (0, nil) }
    let filters = try pendingFilters()
    let objects = try timeOfFirstChange() ?? earliestPendingTime()
    let oldest = ([objects].compactMap(\.self) + filters.map(\.microseconds)).min()
    return (try pending.count(in: base) + filters.count, oldest.map(Timestamp.init(clamping:)))
  }

  /// The time in the row of the first change, if that change still waits as it was noted.
  private func timeOfFirstChange() throws -> Int64? {
    guard let row = try syncValue(forKey: SyncNotes.firstChangeKey).flatMap(SyncNotes.FirstChange.init(stored:)),
      try syncTables?.pending.value(forKey: row.key, in: base)?.earliestTime == row.microseconds
    else { return nil }
    return row.microseconds
  }

  private func earliestPendingTime() throws -> Int64? {
    var earliest: Int64?
    try syncTables?.pending.forEach(in: base) { _, value in
      if let time = try PendingRecord(decoding: value).earliestTime { earliest = min(earliest ?? time, time) }
      return true
    }
    return earliest
  }

  /// When a part of an object changed last, in microseconds since 1970, if that was not taken yet.
  package func pendingTime(of part: SyncFields, isList: Bool, id: UUID) throws -> Int64? {
    let key = TombstoneKey(isList ? .list : .task, id)
    return try syncTables?.pending.value(forKey: key, in: base)?.entries.first { $0.fields.contains(part) }?
      .microseconds
  }

  /// Whether an object has changes that were not taken.
  package func isPending(isList: Bool, id: UUID) throws -> Bool {
    try syncTables?.pending.value(forKey: TombstoneKey(isList ? .list : .task, id), in: base) != nil
  }
}

extension StoreWriteTransaction {
  /// From this write on, notes the changes of every write for other replicas.
  ///
  /// Versions that cannot do that open the store for reading only.
  package mutating func beginSynchronising() throws {
    var header = try header()
    guard !header.synchronises else { return }
    header.writerFeatures.insert(.synchronises)
    try changeIfNeeded { [header] (tables, _, base) throws(LMDBError) in
      try tables.meta.put(header, forKey: .header, in: &base)
      return false
    }
    syncTables = try SyncTables(creating: true, in: &base)
  }

  /// Notes every task and list as if it had been created at the time of its last change, the completions of deleted
  /// tasks, and the saved filters.
  ///
  /// - Throws: What the storage throws.
  package mutating func noteEverything() throws {
    guard let syncTables else { return }
    var found: [(key: TombstoneKey, fields: SyncFields, time: Timestamp)] = []
    try TaskRecord.forEach(of: tables, in: base) { record in
      let fields = TaskItem.changes(from: nil, to: record.item)
      found.append((TombstoneKey(.task, record.item.id), fields, record.item.updatedAt))
    }
    try ListRecord.forEach(of: tables, in: base) { record in
      let fields = TaskList.changes(from: nil, to: record.item)
      found.append((TombstoneKey(.list, record.item.id), fields, record.item.updatedAt))
    }
    for (key, fields, time) in found {
      var record = PendingRecord()
      record.add(fields, at: time.microsecondsSince1970)
      try syncTables.pending.put(record, forKey: key, in: &base)
    }
    if let first = found.min(by: { $0.time < $1.time }) {
      let row = SyncNotes.FirstChange(key: first.key, microseconds: first.time.microsecondsSince1970)
      try setSyncValue(row.stored, forKey: SyncNotes.firstChangeKey)
    }
    try noteDetachedCompletions()
    try noteSavedFilters()
  }

  private mutating func noteDetachedCompletions() throws {
    guard let syncNotes else { return }
    var found: [InstantKey] = []
    let start = CompletionKey(isTaskDeleted: true, completed: .start(at: .min))
    try tables.completions.forEach(from: start, in: base) { key, _ in
      found.append(try CompletionKey(decoding: key).completed)
      return true
    }
    for completed in found { try syncNotes.note(detached: completed, in: &base) }
  }

  /// Notes parts of an object as changed at the time of its last change.
  package mutating func noteAsChanged(_ parts: SyncFields, isList: Bool, id: UUID) throws {
    guard let syncTables, let time = try isList ? list(id)?.updatedAt : task(id)?.updatedAt else { return }
    let key = TombstoneKey(isList ? .list : .task, id)
    var record = try syncTables.pending.value(forKey: key, in: base) ?? PendingRecord()
    record.add(parts, at: time.microsecondsSince1970)
    try syncTables.pending.put(record, forKey: key, in: &base)
  }

  /// Ends synchronisation: the store notes nothing any more, and forgets what it has kept for it.
  ///
  /// Deleted objects cannot be restored afterwards.
  package mutating func endSynchronising() throws {
    guard let tables = syncTables else { return }
    var header = try header()
    header.writerFeatures.remove(.synchronises)
    try changeIfNeeded { [header] (all, _, base) throws(LMDBError) in
      try all.meta.put(header, forKey: .header, in: &base)
      try tables.pending.removeAll(in: &base)
      try tables.trash.removeAll(in: &base)
      try tables.values.removeAll(in: &base)
      return false
    }
    syncTables = nil
  }

  /// Takes the changes that have been noted so far: they count as handed over.
  ///
  /// - Parameter limit: Of how many objects at most.
  /// - Returns: The changes of each object.
  /// - Throws: What the storage throws.
  package mutating func takePending(limit: Int) throws -> [PendingObject] {
    guard let table = syncTables?.pending else { return [] }
    var taken: [(key: TombstoneKey, record: PendingRecord)] = []
    let lists = TombstoneKey(.list, .lowest)
    // Lists first: where tasks arrive before their list, each of them is shown elsewhere and then moved.
    for (lower, upper) in [(lists, nil), (nil, lists)] where taken.count < limit {
      try table.forEach(from: lower, upTo: upper, in: base) { key, value in
        taken.append((try TombstoneKey(decoding: key), try PendingRecord(decoding: value)))
        return taken.count < limit
      }
    }
    if taken.isEmpty { return [] }
    for (key, _) in taken { _ = try table.remove(forKey: key, in: &base) }
    try setSyncValue(nil, forKey: SyncNotes.firstChangeKey)
    return try taken.map { PendingObject(of: $0.key, $0.record, detached: try takeDetached(of: $0.key)) }
  }

  private mutating func takeDetached(of key: TombstoneKey) throws -> [Timestamp] {
    guard key.kindRawValue == ObjectKind.task.rawValue else { return [] }
    let prefix = SyncNotes.detachedPrefix(of: key.id)
    var found: [[UInt8]] = []
    try forEachSyncValue(withPrefix: prefix) { key, _ in
      found.append(key)
      return true
    }
    for key in found { try setSyncValue(nil, forKey: key) }
    return try found.compactMap { try FieldValue(.instant, storedBytes: Array($0.dropFirst(prefix.count))).instant }
  }
}

extension PendingObject {
  fileprivate init(of key: TombstoneKey, _ record: PendingRecord, detached: [Timestamp]) {
    let parts = record.entries.flatMap { entry in
      (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(entry.fields.contains).map { ($0, entry.microseconds) }
    }
    self.init(
      isList: key.kindRawValue == ObjectKind.list.rawValue, id: key.id,
      times: Dictionary(parts) { first, second in max(first, second) }, detached: detached)
  }
}
