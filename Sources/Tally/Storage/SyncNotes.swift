import Foundation
import LMDB
import TallyEngine
import TallySystem

/// Records for other replicas which parts of which objects a local write changes, and stores the objects it deletes.
struct SyncNotes {
  let tables: SyncTables
  /// The time of the write.
  let microseconds: Int64
  /// Whether the write's changes were made on this replica, and not received from another one.
  let notesChanges: Bool

  /// Records what one write changes in an object.
  func note<Record: ObjectRecord>(
    _ change: RecordChange<Record>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let id = (change.new ?? change.old)?.item.id else { return }
    let key = TombstoneKey(Record.kind, id)
    if notesChanges {
      let noted =
        if change.old == nil, let new = change.new {
          try self.change(of: new, generatedFields: change.generatedFields, in: transaction)
        } else {
          self.change(of: change)
        }
      try note([noted], in: &transaction)
    }
    if change.new == nil { try keep(change.old, in: &transaction) }
    if change.old == nil { try forget(key, in: &transaction) }
  }

  /// The change of one object by a write, and its time.
  struct Change {
    let key: TombstoneKey
    let fields: SyncFields
    var generatedFields: SyncFields = []
    let microseconds: Int64
    /// Whether the object was deleted before and exists again.
    var isReturn = false
  }

  /// The change that a write makes to an object, unless the write restores a deleted one.
  ///
  /// A new object gets the time of change from its record, so an import does not make it newer.
  func change<Record: ObjectRecord>(of change: RecordChange<Record>) -> Change {
    let (old, new) = (change.old?.item, change.new?.item)
    let key = TombstoneKey(Record.kind, (new ?? old)?.id ?? .lowest)
    let fields = change.isRenumbering ? .renumbering : Record.Item.changes(from: old, to: new)
    let creation = old == nil ? new?.updatedAt.microsecondsSince1970 : nil
    return Change(
      key: key, fields: fields, generatedFields: change.generatedFields,
      microseconds: min(microseconds, creation ?? microseconds))
  }

  /// The change that the creation of an object makes.
  ///
  /// A deleted object that is restored is compared with its kept record, into which the changes from other replicas
  /// were merged: only the parts that differ have been written.
  func change<Record: ObjectRecord>(
    of new: Record, generatedFields: SyncFields = [], in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Change {
    guard let kept = try tables.keptRecord(Record.self, new.item.id, in: transaction)?.item else {
      var change = RecordChange(old: nil, new: new)
      change.generatedFields = generatedFields
      return self.change(of: change)
    }
    let fields = Record.Item.differences(kept, new.item).subtracting(Record.Item.places(kept, shownAs: new.item))
    return Change(
      key: TombstoneKey(Record.kind, new.item.id), fields: fields.union(.life), generatedFields: generatedFields,
      microseconds: microseconds, isReturn: true)
  }

  /// Removes the kept record of a deleted object that exists again.
  func forget(_ key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    _ = try tables.trash.remove(forKey: key, in: &transaction)
    _ = try tables.values.remove(forKey: Self.keepingKey(key), in: &transaction)
  }

  /// Stores the record of an object that is deleted.
  func keep(_ record: (some ObjectRecord)?, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record else { return }
    let key = TombstoneKey(type(of: record).kind, record.item.id)
    try tables.trash.put(record.encodedBytes, forKey: key, in: &transaction)
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try tables.values.put(time.storedBytes, forKey: Self.keepingKey(key), in: &transaction)
  }

  /// The key of the row with the time at which the record of a deleted object was stored.
  static func keepingKey(_ key: TombstoneKey) -> [UInt8] { [15] + key.encodedBytes }

  /// Records that a completion of a deleted task was added to the ledger or removed from it.
  func note(detached completed: InstantKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note(.completion, of: TombstoneKey(.task, completed.id), in: &transaction)
    guard notesChanges else { return }
    try tables.values.put([], forKey: Self.detachedKey(completed), in: &transaction)
  }

  /// The key of the row that records a change of a completion of a deleted task.
  static func detachedKey(_ completed: InstantKey) -> [UInt8] {
    detachedPrefix(of: completed.id) + FieldValue.instant(Timestamp(clamping: completed.microseconds)).storedBytes
  }

  static func detachedPrefix(of task: UUID) -> [UInt8] { [detachedKind] + FieldValue.id(task).storedBytes }

  /// The first byte of these keys; `TallySync` defines the others.
  private static let detachedKind: UInt8 = 12

  /// Records that a saved filter or a series was changed or deleted.
  ///
  /// - Parameters:
  ///   - value: The key.
  ///   - old: The bytes before.
  ///   - new: The bytes now; `nil` for a deleted value.
  ///   - isGenerated: Whether a program changed a series, and not a person.
  ///   - transaction: The write.
  /// - Throws: What the storage throws.
  func note(
    _ value: ValueKey, from old: [UInt8]?, to new: [UInt8]?, isGenerated: Bool, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    if let id = TaskSeries.id(of: value) {
      let read = { (bytes: [UInt8]) in TaskSeries(stored: bytes, under: value) }
      var fields = TaskSeries.changes(from: old.flatMap(read), to: new.flatMap(read))
      // Of two devices that describe one series, the first wins: the task may have been changed alone since then.
      if isGenerated { fields.formUnion(TaskSeries.describedParts) }
      let change = Change(
        key: TombstoneKey(ofSeries: id), fields: fields, generatedFields: isGenerated ? fields : [],
        microseconds: isGenerated ? -microseconds : microseconds)
      return try note([change], in: &transaction)
    }
    guard value.namespace == SavedFilter.namespace else { return }
    _ = try tables.values.remove(forKey: Self.deletedFilterPrefix + value.bytes, in: &transaction)
    guard notesChanges else { return }
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try tables.values.put(time.storedBytes, forKey: Self.filterPrefix + value.bytes, in: &transaction)
  }

  /// The first byte of the keys that record changes of saved filters; the key of the filter follows.
  static let filterPrefix: [UInt8] = [14]

  /// The first byte of the keys that record merged lists; the id of the list follows.
  static let listMergePrefix: [UInt8] = [40]

  /// The first byte of the keys of filters that were deleted here but that others have saved; the filter's key follows.
  static let deletedFilterPrefix: [UInt8] = [19]

  /// The key of the row with the last write in the history whose changes were handed over; later writes were not.
  static let handedOverKey: [UInt8] = [18]

  /// The key of the row that says which change was the first to be added to the empty table of changes, and when.
  ///
  /// It saves a status from reading all changes. Earlier versions neither write nor remove the row, so it counts only
  /// while that change still waits unaltered.
  static let firstChangeKey: [UInt8] = [21]

  /// The contents of the row with the first change.
  struct FirstChange {
    let key: TombstoneKey
    let microseconds: Int64

    /// The stored row: the time, then the key of the object.
    var stored: [UInt8] {
      FieldValue.instant(Timestamp(clamping: microseconds)).storedBytes + key.encodedBytes
    }
  }

  /// The key of the row with the parts that were written when an object was restored, until they are handed over.
  static func returnKey(_ key: TombstoneKey) -> [UInt8] { returnPrefix + key.encodedBytes }

  static let returnPrefix: [UInt8] = [20]

  private func noteReturn(
    of key: TombstoneKey, _ fields: SyncFields, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let known =
      try tables.values.value(forKey: Self.returnKey(key), in: transaction).map(SyncFields.init(stored:)) ?? []
    try tables.values.put(known.union(fields).rawValue.encodedBytes, forKey: Self.returnKey(key), in: &transaction)
  }

  /// Records that parts of an object have changed.
  func note(_ fields: SyncFields, of key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note([Change(key: key, fields: fields, microseconds: microseconds)], in: &transaction)
  }

  /// Records changes of different objects.
  func note(_ changes: [Change], in transaction: inout WriteTransaction) throws(LMDBError) {
    guard notesChanges else { return }
    assert(Set(changes.map(\.key)).count == changes.count, "an object twice")
    let isEmpty = try tables.pending.count(in: transaction) == 0
    var batch = EntryBatch<TombstoneKey, PendingRecord>()
    for change in changes where !change.fields.isEmpty {
      var record =
        try isEmpty ? PendingRecord() : tables.pending.value(forKey: change.key, in: transaction) ?? PendingRecord()
      let generated = change.fields.intersection(change.generatedFields)
      if !generated.isEmpty { record.add(generated, at: GeneratedTime.time(at: change.microseconds)) }
      let written = change.fields.subtracting(generated)
      if !written.isEmpty { record.add(written, at: change.microseconds) }
      try batch.add(record, forKey: change.key)
      if change.isReturn { try noteReturn(of: change.key, change.fields, in: &transaction) }
    }
    try tables.pending.put(&batch, in: &transaction)
    guard isEmpty else { return }
    let written = changes.lazy.filter { !$0.fields.subtracting($0.generatedFields).isEmpty }
    if let first = written.min(by: { $0.microseconds < $1.microseconds }) {
      let row = FirstChange(key: first.key, microseconds: first.microseconds)
      try tables.values.put(row.stored, forKey: Self.firstChangeKey, in: &transaction)
    }
  }
}

extension SyncNotes.FirstChange {
  /// Decodes the row; `nil` if the bytes are not one.
  init?(stored bytes: [UInt8]) {
    // The array outlives the decoding of both parts.
    guard bytes.count > 8, let time = try? unsafe bytes.span.bytes.extracting(0..<8).storedInstant(),
      let key = try? unsafe TombstoneKey(decoding: bytes.span.bytes.extracting(8..<bytes.count))
    else { return nil }
    self.init(key: key, microseconds: time.microsecondsSince1970)
  }
}

extension SyncFields {
  /// Decodes four bytes, most significant first.
  init(stored bytes: [UInt8]) { self.init(rawValue: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }) }
}

/// The tables of a store that synchronises.
///
/// Other stores do not have them. It is a class so that a transaction, which every read creates, stays small.
final class SyncTables: Sendable {
  static let names = ["pending", "trash", "sync"]

  /// The changes of each object that have not been handed over yet, by the object's kind and id.
  let pending: Database<TombstoneKey, PendingRecord>
  /// The kept records of deleted objects.
  let trash: Database<TombstoneKey, [UInt8]>
  /// The data of synchronisation itself.
  let values: Database<[UInt8], [UInt8]>

  /// Opens the tables; the handles stay valid once the transaction is committed.
  init(creating: Bool = false, in transaction: inout WriteTransaction) throws(LMDBError) {
    pending = try Database(opening: Self.names[0], creating: creating, in: &transaction)
    trash = try Database(opening: Self.names[1], creating: creating, in: &transaction)
    values = try Database(opening: Self.names[2], creating: creating, in: &transaction)
  }

  /// The kept record of a deleted object; `nil` if there is none.
  func keptRecord<Record: ObjectRecord>(
    _ type: Record.Type, _ id: UUID, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Record? {
    guard let bytes = try trash.value(forKey: TombstoneKey(Record.kind, id), in: transaction) else { return nil }
    // The array outlives the decoding.
    return try unsafe Record(id: id, decoding: bytes.span.bytes)
  }

  /// Opens the tables of a store that has them.
  init(in environment: LMDBEnvironment) throws(LMDBError) {
    pending = try Database(opening: Self.names[0], in: environment)
    trash = try Database(opening: Self.names[1], in: environment)
    values = try Database(opening: Self.names[2], in: environment)
  }

  /// Whether a store whose header is lost was synchronising.
  static func areUsed(in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    guard let tables = try? SyncTables(in: &transaction) else { return false }
    return try tables.values.count(in: transaction) > 0
  }

  /// The tables of synchronisation of one open store.
  ///
  /// If the store has them, they are opened with the others. If synchronisation begins later, in this process or
  /// another one, the first transaction that needs them opens them and stores the handles here for later ones.
  final class Handles: Sendable {
    private let opened = Monitor<SyncTables?>(nil)

    /// The tables, if they are open.
    var current: SyncTables? { opened.withLock(\.self) }

    /// Stores the handles of tables that a committed transaction has opened.
    func keep(_ tables: SyncTables) { opened.withLock { $0 = tables } }

    /// Opens the tables unless they are open already.
    ///
    /// - Returns: the tables; `nil` if the store has none.
    func open(in environment: LMDBEnvironment) throws(LMDBError) -> SyncTables? {
      if let current { return current }
      do throws(LMDBError) {
        let tables = try SyncTables(in: environment)
        keep(tables)
        return tables
      } catch {
        guard error.code == .databaseNotFound else { throw error }
        return nil
      }
    }
  }
}

/// The times of values that a program has set, such as those of the next task of a series.
///
/// They are earlier than any time of a clock, so a value that a person wrote wins over them on every device. They keep
/// the order in which they were set. Those of series that are described by a task have the reverse order: the first wins.
package enum GeneratedTime {
  /// How far they are shifted into the past, in microseconds: 73,000 years.
  private static let shift: Int64 = 1 << 61

  /// The time of a value that a program sets when the clock shows `microseconds`.
  package static func time(at microseconds: Int64) -> Int64 { microseconds &- shift }

  /// Whether a time belongs to a value that a program has set.
  package static func contains(_ microseconds: Int64) -> Bool { microseconds < -(shift / 2) }
}

/// When local writes changed the parts of an object, for changes that have not been handed over yet.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1   12  for each time: the parts last changed at that time, and the time in microseconds since 1970
/// ```
///
/// A part may be in two entries, one of a program (see ``GeneratedTime``) and one of a person, which wins.
struct PendingRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  private static let entryByteCount = 12

  /// The entries in the order of their addition; each part is in at most one entry of a person and one of a program.
  private(set) var entries: [Entry] = []

  struct Entry: Hashable {
    var fields: SyncFields
    var microseconds: Int64
  }

  /// Records that parts have changed at a time.
  mutating func add(_ fields: SyncFields, at microseconds: Int64) {
    remove(fields, wereGenerated: GeneratedTime.contains(microseconds))
    if let index = entries.firstIndex(where: { $0.microseconds == microseconds }) {
      entries[index].fields.formUnion(fields)
    } else {
      entries.append(Entry(fields: fields, microseconds: microseconds))
    }
  }

  /// Removes parts from the entries of programs, or from those of people.
  mutating func remove(_ fields: SyncFields, wereGenerated: Bool) {
    for index in entries.indices where GeneratedTime.contains(entries[index].microseconds) == wereGenerated {
      entries[index].fields.subtract(fields)
    }
    entries.removeAll { $0.fields.isEmpty }
  }

  /// All parts in the record.
  var fields: SyncFields { entries.reduce(into: []) { $0.formUnion($1.fields) } }

  /// The earliest time of a part that a person has written.
  var earliestTime: Int64? { entries.map(\.microseconds).filter { !GeneratedTime.contains($0) }.min() }

  var encodedByteCount: Int { 1 + entries.count * Self.entryByteCount }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    for entry in entries {
      output.append(bigEndian: entry.fields.rawValue)
      output.append(ordered: entry.microseconds)
    }
  }
}

extension PendingRecord {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= 1, (bytes.byteCount - 1).isMultiple(of: Self.entryByteCount),
      bytes.load(bigEndianAt: 0) == Self.format
    else { throw .undecodable("a record of pending changes has the wrong size or an unknown format") }
    for offset in stride(from: 1, to: bytes.byteCount, by: Self.entryByteCount) {
      entries.append(
        Entry(
          fields: SyncFields(rawValue: bytes.load(bigEndianAt: offset)),
          microseconds: bytes.load(orderedInt64At: offset + 4)))
    }
  }
}
