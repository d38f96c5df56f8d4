package import Foundation
import LMDB
package import TallyEngine

/// The local changes of one object that have not been handed over for other replicas.
package struct PendingObject: Hashable, Sendable {
  /// The kind of the object.
  package let kind: Kind
  package let id: UUID
  /// The parts that have changed, each with the time of its last change in microseconds since 1970.
  package let times: [SyncFields: Int64]
  /// The instants of the completions that were added to the ledger or removed from it while the task was deleted.
  package let detached: [Timestamp]

  package init(kind: Kind, id: UUID, times: [SyncFields: Int64], detached: [Timestamp] = []) {
    (self.kind, self.id, self.times, self.detached) = (kind, id, times, detached)
  }

  /// The kinds of objects with parts.
  package enum Kind: Sendable {
    case task, list, series
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether any object or saved filter has changes that have not been handed over.
  package func hasPending() throws -> Bool {
    guard let syncTables else { return false }
    return try syncTables.pending.count(in: base) > 0 || hasSyncValues(withPrefix: SyncNotes.filterPrefix)
  }

  /// How many objects have changes that have not been handed over, and when the first of them changed.
  ///
  /// - Complexity: Linear in the number of changed saved filters; linear in the number of all changes if the row with
  ///   the first change cannot be used, for example because an older version has written to the store.
  package func pendingSummary() throws -> (count: Int, oldest: Timestamp?) {
    guard let pending = syncTables?.pending else { return (0, nil) }
    let filters = try pendingFilters()
    let objects = try timeOfFirstChange() ?? earliestPendingTime()
    let oldest = ([objects].compactMap(\.self) + filters.map(\.microseconds)).min()
    return (try pending.count(in: base) + filters.count, oldest.map(Timestamp.init(clamping:)))
  }

  /// The time in the row with the first change, if that change still waits unaltered.
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

  /// When a part of an object last changed, in microseconds since 1970; `nil` if that has been handed over.
  package func pendingTime(of part: SyncFields, isList: Bool, id: UUID) throws -> Int64? {
    let key = TombstoneKey(isList ? .list : .task, id)
    return try syncTables?.pending.value(forKey: key, in: base)?.entries.first { $0.fields.contains(part) }?
      .microseconds
  }

  /// Whether an object has changes that have not been handed over.
  package func isPending(isList: Bool, id: UUID) throws -> Bool {
    try syncTables?.pending.value(forKey: TombstoneKey(isList ? .list : .task, id), in: base) != nil
  }
}

extension StoreWriteTransaction {
  /// Starts recording the changes of this and every later write for other replicas.
  ///
  /// Versions that cannot do so open the store for reading only.
  package mutating func beginSynchronizing() throws {
    var header = try header()
    guard !header.synchronizes else { return }
    header.writerFeatures.insert(.synchronizes)
    try changeIfNeeded { [header] (tables, _, base) throws(LMDBError) in
      try tables.meta.put(header, forKey: .header, in: &base)
      return false
    }
    syncTables = try SyncTables(creating: true, in: &base)
  }

  /// Records everything for other replicas.
  ///
  /// Each task and list is recorded as if it had been created at the time of its last change. The completions of
  /// deleted tasks and the saved filters are recorded, too.
  ///
  /// - Parameter refusesLargeTexts: Whether to refuse texts that other replicas could not receive.
  /// - Throws: `valueOutOfRange` for such a text, if they are refused; what the storage throws.
  package mutating func noteEverything(refusingLargeTexts refusesLargeTexts: Bool = false) throws {
    guard let syncTables else { return }
    var found: [(key: TombstoneKey, fields: SyncFields, time: Timestamp)] = []
    try TaskRecord.forEach(of: tables, in: base) { record in
      if refusesLargeTexts { try checkSendable(record.item, replacing: nil) }
      let fields = TaskItem.changes(from: nil, to: record.item)
      found.append((TombstoneKey(.task, record.item.id), fields, record.item.updatedAt))
    }
    try ListRecord.forEach(of: tables, in: base) { record in
      if refusesLargeTexts { try checkSendable(record.item, replacing: nil) }
      let fields = TaskList.changes(from: nil, to: record.item)
      found.append((TombstoneKey(.list, record.item.id), fields, record.item.updatedAt))
    }
    for series in try storedSeries() {
      found.append((TombstoneKey(ofSeries: series.id), TaskSeries.changes(from: nil, to: series), series.updatedAt))
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
    try recordDetachedCompletions()
    try recordSavedFilters()
    try recordHandover()
  }

  private mutating func recordDetachedCompletions() throws {
    guard let syncNotes else { return }
    var found: [InstantKey] = []
    let start = CompletionKey(isTaskDeleted: true, completed: .start(at: .min))
    try tables.completions.forEach(from: start, in: base) { key, _ in
      found.append(try CompletionKey(decoding: key).completed)
      return true
    }
    for completed in found { try syncNotes.note(detached: completed, in: &base) }
  }

  /// Records parts of an object as changed at the time of the object's last change.
  package mutating func noteAsChanged(_ parts: SyncFields, isList: Bool, id: UUID) throws {
    guard let syncTables, let time = try isList ? list(id)?.updatedAt : task(id)?.updatedAt else { return }
    let key = TombstoneKey(isList ? .list : .task, id)
    var record = try syncTables.pending.value(forKey: key, in: base) ?? PendingRecord()
    record.add(parts, at: time.microsecondsSince1970)
    try syncTables.pending.put(record, forKey: key, in: &base)
    try recordHandover()
  }

  /// Ends synchronisation: the store no longer records changes, and removes everything that it has stored for other
  /// replicas.
  ///
  /// Afterwards, deleted objects cannot be restored.
  package mutating func endSynchronizing() throws {
    guard let tables = syncTables else { return }
    var header = try header()
    header.writerFeatures.remove(.synchronizes)
    try changeIfNeeded { [header] (all, _, base) throws(LMDBError) in
      try all.meta.put(header, forKey: .header, in: &base)
      try tables.pending.removeAll(in: &base)
      try tables.trash.removeAll(in: &base)
      try tables.values.removeAll(in: &base)
      return false
    }
    syncTables = nil
  }

  /// Returns the changes recorded so far and removes them, as handed over.
  ///
  /// - Parameter limit: The most objects whose changes are returned.
  /// - Returns: The changes of each object.
  /// - Throws: What the storage throws.
  package mutating func takePending(limit: Int) throws -> [PendingObject] {
    guard let table = syncTables?.pending else { return [] }
    var taken: [(key: TombstoneKey, record: PendingRecord)] = []
    let lists = TombstoneKey(.list, .lowest)
    // Lists come first: tasks that arrive before their list would be shown elsewhere first and then moved.
    for (lower, upper) in [(lists, nil), (nil, lists)] where taken.count < limit {
      try table.forEach(from: lower, upTo: upper, in: base) { key, value in
        taken.append((try TombstoneKey(decoding: key), try PendingRecord(decoding: value)))
        return taken.count < limit
      }
    }
    if taken.isEmpty { return [] }
    for (key, _) in taken { _ = try table.remove(forKey: key, in: &base) }
    try recordHandover()
    try setSyncValue(nil, forKey: SyncNotes.firstChangeKey)
    if try hasSyncValues(withPrefix: SyncNotes.returnPrefix) {
      for (key, _) in taken { try setSyncValue(nil, forKey: SyncNotes.returnKey(key)) }
    }
    return try taken.map { PendingObject(of: $0.key, $0.record, detached: try removeDetached(of: $0.key)) }
  }

  private mutating func removeDetached(of key: TombstoneKey) throws -> [Timestamp] {
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

/// The objects that an undo or a redo has changed.
struct ReversedObjects {
  var tasks: Set<UUID>
  var lists: Set<UUID>
  /// The saved filters and the series.
  var values: Set<ValueKey>

  /// Whether an image belongs to one of them.
  func contains(_ key: ImageKey) -> Bool {
    switch key.kind {
    case .task: tasks.contains(key.id)
    case .list: lists.contains(key.id)
    case .value: (try? key.value).map(values.contains) ?? false
    default: false
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Records that every write so far has been handed over, except for the changes that are still recorded.
  mutating func recordHandover() throws {
    guard let values = syncTables?.values else { return }
    try recordHistory()
    // Synchronisation's own writes have no entry in the history, so the last entry is used.
    let last = try tables.history.lastKey(in: base)?.change ?? ChangeID(sequence: commitSequence - 1, position: 0)
    let bytes = last.sequence.encodedBytes + UInt16(clamping: last.position).encodedBytes
    try values.put(bytes, forKey: SyncNotes.handedOverKey, in: &base)
  }

  /// The last write that has been handed over; `nil` if an earlier version, which does not record it, wrote the store.
  private var lastHandedOver: ChangeID? {
    get throws {
      guard let bytes = try syncTables?.values.value(forKey: SyncNotes.handedOverKey, in: base), bytes.count == 10
      else {
        return nil
      }
      let number = { (bytes: ArraySlice<UInt8>) in bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
      return ChangeID(sequence: number(bytes[..<8]), position: Int(clamping: number(bytes[8...])))
    }
  }

  /// Removes the recorded changes of a write that an undo or a redo has reversed before they were handed over.
  ///
  /// Afterwards, the record is as if neither had happened: each part has the time of the last write of it that counts.
  mutating func takeBackNotes(of objects: ReversedObjects, reversedWith target: ChangeID) throws {
    guard syncTables != nil, let last = try lastHandedOver, target > last else { return }
    let entries = try historyEntries(since: last)
    let counting = Set(UndoLog(entries: entries).effective(since: last).map(\.id))
    var writes = UnsentWrites(of: objects)
    for entry in entries {
      // Without images, the changes of the write are unknown.
      guard entry.hasImages else { return }
      try writes.pass(entry, counts: counting.contains(entry.id) && entry.origin == .local, in: self)
    }
    // The history may have been cut since then.
    guard try isHistoryWhole(after: last) else { return }
    for id in objects.tasks { try withdraw(writes.tasks[id], TombstoneKey(.task, id), isThere: task(id) != nil) }
    for id in objects.lists { try withdraw(writes.lists[id], TombstoneKey(.list, id), isThere: list(id) != nil) }
    for key in objects.values {
      if let id = TaskSeries.id(of: key) {
        try withdraw(writes.series[key], TombstoneKey(ofSeries: id), isThere: storedSeries(id) != nil)
      }
      guard key.namespace == SavedFilter.namespace else { continue }
      let time = writes.filters[key].flatMap(\.self).map { FieldValue.instant($0).storedBytes }
      try setSyncValue(time, forKey: SyncNotes.filterPrefix + key.bytes)
    }
  }

  /// The parts that were written when an object was restored; `nil` if it was not restored since the last handover.
  fileprivate func returned(_ key: TombstoneKey) throws -> SyncFields? {
    try syncValue(forKey: SyncNotes.returnKey(key)).map(SyncFields.init(stored:))
  }

  /// Whether the history still has every write after a change.
  private func isHistoryWhole(after change: ChangeID) throws -> Bool {
    var cursor = try tables.history.cursor(in: base)
    guard try cursor.moveToFirst() else { return false }
    return try cursor.key().change <= change
      || HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes == 0
  }

  private mutating func withdraw(
    _ parts: UnsentWrites.Parts?, _ key: TombstoneKey, isThere: Bool
  ) throws {
    guard let table = syncTables?.pending, let parts, var record = try table.value(forKey: key, in: base) else {
      return
    }
    let recorded = record.fields
    record.remove(parts.reversed, wereGenerated: false)
    let left = parts.times.filter { parts.reversed.contains($0.key) && recorded.contains($0.key) }
    for (part, time) in left where !(parts.created.contains(part) && record.hasGenerated(part, at: time)) {
      record.add(part, at: time)
    }
    // Parts that the program set are removed together with the write that set them.
    let generated = parts.reversed.subtracting(parts.times.keys.reduce(into: []) { $0.formUnion($1) })
    record.remove(generated, wereGenerated: true)
    if isThere {
      record.add(.updated, at: now.microsecondsSince1970)
    } else {
      // A deleted object has no time of change, but an earlier redo may have recorded one.
      record.remove(.updated, wereGenerated: false)
    }
    if record.entries.isEmpty {
      _ = try table.remove(forKey: key, in: &base)
    } else {
      try table.put(record, forKey: key, in: &base)
    }
  }
}

/// The changes that writes not yet handed over have made to some objects, gathered from the newest write to the oldest.
private struct UnsentWrites {
  /// The changed parts of one object.
  struct Parts {
    /// The parts that the newest write has changed: the undo or the redo.
    var reversed: SyncFields = []
    /// When each part was changed by the last write that counts, in microseconds since 1970.
    var times: [SyncFields: Int64] = [:]
    /// The parts for which that write created or restored the object: the program may have set them.
    var created: SyncFields = []
  }

  private let objects: ReversedObjects
  private(set) var tasks: [UUID: Parts] = [:]
  private(set) var lists: [UUID: Parts] = [:]
  private(set) var series: [ValueKey: Parts] = [:]
  /// When each filter was last written; `nil` if the undo or redo was the only write.
  private(set) var filters: [ValueKey: Timestamp?] = [:]
  /// The states before the writes that were visited.
  private var tasksBefore: [UUID: TaskItem?] = [:]
  private var listsBefore: [UUID: TaskList?] = [:]
  private var seriesBefore: [ValueKey: TaskSeries?] = [:]

  init(of objects: ReversedObjects) { self.objects = objects }

  /// Visits the next older write.
  mutating func pass(_ entry: HistoryEntry, counts: Bool, in transaction: borrowing StoreWriteTransaction) throws {
    var seen: Set<ImageKey> = []
    try transaction.forEachImage(of: entry.id) { key, presence, bytes in
      guard presence != .deleted, objects.contains(key), seen.insert(key).inserted else { return }
      let isThere = presence == .present
      switch key.kind {
      case .task:
        let after = try tasksBefore[key.id] ?? transaction.storedTask(key.id)
        let before = isThere ? try TaskRecord(id: key.id, decoding: bytes).item : nil
        tasksBefore[key.id] = .some(before)
        let returned = try transaction.returned(TombstoneKey(.task, key.id))
        Self.add(before, after, entry, counts, returned, to: &tasks[key.id])
      case .list:
        let after = try listsBefore[key.id] ?? transaction.list(key.id)
        let before = isThere ? try ListRecord(id: key.id, decoding: bytes).item : nil
        listsBefore[key.id] = .some(before)
        let returned = try transaction.returned(TombstoneKey(.list, key.id))
        Self.add(before, after, entry, counts, returned, to: &lists[key.id])
      case .value:
        let filter = try key.value
        if let id = TaskSeries.id(of: filter) {
          let after = try seriesBefore[filter] ?? transaction.storedSeries(id)
          let before = isThere ? TaskSeries(stored: bytes.bytes(from: 0), under: filter) : nil
          seriesBefore[filter] = .some(before)
          let changed = TaskSeries.changes(from: before, to: after)
          let reversed = changed.union(TaskSeries.changes(from: after, to: before))
          return Self.add(
            changed, reversing: reversed, isNew: before == nil, entry.date, counts, to: &series[filter])
        }
        if counts, filters[filter]?.flatMap(\.self) == nil { filters[filter] = .some(entry.date) }
        if filters[filter] == nil { filters[filter] = .some(nil) }
      default: break
      }
    }
  }

  private static func add<Item: StoredObject>(
    _ before: Item?, _ after: Item?, _ entry: HistoryEntry, _ counts: Bool, _ returned: SyncFields?,
    to known: inout Parts?
  ) {
    var changed = Item.changes(from: before, to: after)
    let reversed = changed.union(Item.changes(from: after, to: before)).union(.renumbering)
    // For a restored object, only what differs from its kept record was written.
    if counts, before == nil, after != nil, let returned { changed = returned }
    // A move in the same microsecond as the previous change looks like a renumbering.
    if changed.contains(.order) { changed.formUnion(.renumbering) }
    // The record of a new object contains the time of its last change.
    let date = before == nil && returned == nil ? min(entry.date, after?.updatedAt ?? entry.date) : entry.date
    add(changed, reversing: reversed, isNew: before == nil, date, counts, to: &known)
  }

  private static func add(
    _ changed: SyncFields, reversing reversed: SyncFields, isNew: Bool, _ date: Timestamp, _ counts: Bool,
    to known: inout Parts?
  ) {
    var parts = known ?? Parts()
    defer { known = parts }
    if known == nil { parts.reversed = reversed }
    guard counts else { return }
    for bit in 0..<UInt32(32) {
      let part = SyncFields(rawValue: 1 << bit)
      guard changed.contains(part), parts.times[part] == nil else { continue }
      parts.times[part] = date.microsecondsSince1970
      if isNew { parts.created.formUnion(part) }
    }
  }
}

extension PendingRecord {
  /// Whether the program set a part in the write at a time.
  fileprivate func hasGenerated(_ part: SyncFields, at microseconds: Int64) -> Bool {
    let time = GeneratedTime.time(at: microseconds)
    return entries.contains { $0.microseconds == time && $0.fields.contains(part) }
  }
}

extension PendingObject {
  fileprivate init(of key: TombstoneKey, _ record: PendingRecord, detached: [Timestamp]) {
    let parts = record.entries.flatMap { entry in
      (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(entry.fields.contains).map { ($0, entry.microseconds) }
    }
    self.init(
      kind: key.isOfSeries ? .series : key.kindRawValue == ObjectKind.list.rawValue ? .list : .task, id: key.id,
      times: Dictionary(parts) { first, second in max(first, second) }, detached: detached)
  }
}

/// A saved filter that was saved or deleted here, which has not been handed over yet.
package struct PendingFilter: Hashable, Sendable {
  /// The stored form of its folded name.
  package let key: [UInt8]
  /// The stored bytes; `nil` if it was deleted.
  package let value: [UInt8]?
  /// When it was saved or deleted, in microseconds since 1970.
  package let microseconds: Int64
}

extension StoreTransaction where Base: ~Copyable {
  /// The saved filters that have changed since the last handover.
  func pendingFilters() throws -> [PendingFilter] {
    var found: [PendingFilter] = []
    try forEachSyncValue(withPrefix: SyncNotes.filterPrefix) { key, time in
      let key = Array(key.dropFirst(SyncNotes.filterPrefix.count))
      let value = try storedFilter(forKey: key)
      let time = try FieldValue(.instant, storedBytes: time).instant ?? .earliest
      found.append(PendingFilter(key: key, value: value, microseconds: time.microsecondsSince1970))
      return true
    }
    return found
  }

  /// The stored bytes of a saved filter; `nil` if there is none.
  package func storedFilter(forKey key: [UInt8]) throws -> [UInt8]? {
    try tables.values.value(forKey: Self.valueKey(ofFilter: key), in: base)
  }

  private static func valueKey(ofFilter key: [UInt8]) throws -> ValueKey {
    try ValueKey(String(decoding: key, as: UTF8.self), in: SavedFilter.namespace)
  }
}

extension StoreWriteTransaction {
  /// Returns the saved filters that have changed and marks them as handed over.
  package mutating func takePendingFilters() throws -> [PendingFilter] {
    let found = try pendingFilters()
    for filter in found { try setSyncValue(nil, forKey: SyncNotes.filterPrefix + filter.key) }
    if !found.isEmpty { try recordHandover() }
    return found
  }

  /// Stores a saved filter from its stored form, or deletes it.
  ///
  /// - Throws: `damagedStore` if the bytes are not a filter.
  package mutating func setFilter(_ value: [UInt8]?, forKey key: [UInt8]) throws {
    let key = try Self.valueKey(ofFilter: key)
    guard let value else {
      try removeValues([key])
      return
    }
    guard SavedFilter(stored: value, under: key) != nil else {
      throw LMDBError.undecodable("the bytes are not a saved filter")
    }
    try write(value, forKey: key)
  }

  /// Records each saved filter as saved at the time when it was last saved.
  mutating func recordSavedFilters() throws {
    for filter in try savedFilters() {
      try setSyncValue(
        FieldValue.instant(filter.updatedAt).storedBytes,
        forKey: SyncNotes.filterPrefix + Array(SavedFilter.key(of: filter.name).utf8))
    }
  }
}

/// A merge of a list into another one that was made here and has not been handed over yet.
package struct PendingListMerge: Hashable, Sendable {
  package let list: UUID
  /// The list that received its tasks; `nil` if the list is not merged into any other.
  package let target: UUID?
  /// When it was merged, in microseconds since 1970.
  package let microseconds: Int64
}

extension StoreWriteTransaction {
  /// Records that a list was merged into another one, which itself is not merged into any list.
  mutating func noteMerge(ofList id: UUID, into target: UUID) throws {
    let time = FieldValue.instant(now).storedBytes
    try setSyncValue(
      time + FieldValue.id(target).storedBytes, forKey: SyncNotes.listMergePrefix + FieldValue.id(id).storedBytes)
    try setSyncValue(time, forKey: SyncNotes.listMergePrefix + FieldValue.id(target).storedBytes)
  }

  /// Records that a list is not merged into any other, because it was deleted together with its tasks.
  ///
  /// If the list was never merged, nothing is sent.
  mutating func noteDeletion(ofList id: UUID) throws {
    let time = FieldValue.instant(now).storedBytes
    try setSyncValue(time, forKey: SyncNotes.listMergePrefix + FieldValue.id(id).storedBytes)
  }

  /// Returns the merges of lists and marks them as handed over.
  ///
  /// A merge that was undone in the meantime does not count, because its list exists again.
  package mutating func takePendingListMerges() throws -> [PendingListMerge] {
    var found: [PendingListMerge] = []
    let prefix = SyncNotes.listMergePrefix
    try forEachSyncValue(withPrefix: prefix) { key, value in
      guard let list = try FieldValue(.id, storedBytes: Array(key.dropFirst(prefix.count))).id,
        let time = try FieldValue(.instant, storedBytes: Array(value.prefix(8))).instant
      else { return true }
      let isMerged = try value.count > 8 && self.list(list) == nil
      let target = isMerged ? try FieldValue(.id, storedBytes: Array(value.dropFirst(8))).id : nil
      found.append(PendingListMerge(list: list, target: target, microseconds: time.microsecondsSince1970))
      return true
    }
    for merge in found { try setSyncValue(nil, forKey: prefix + FieldValue.id(merge.list).storedBytes) }
    return found
  }
}

extension SavedFilter {
  /// Decodes the stored form of a filter, whatever its key; `nil` if the bytes are not one.
  package init?(storedBytes: [UInt8]) {
    guard let key = try? ValueKey("name", in: Self.namespace) else { return nil }
    self.init(stored: storedBytes, under: key)
  }

  /// Whether bytes are the stored form of a filter with this key.
  package static func isStored(_ bytes: [UInt8], under key: [UInt8]) -> Bool {
    SavedFilter(storedBytes: bytes).map { Array(Self.key(of: $0.name).utf8) == key } ?? false
  }
}
