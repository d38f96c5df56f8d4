import Foundation
import LMDB

/// Notes which parts of which objects a write of this store changes, for other replicas, and keeps what it deletes.
struct SyncNotes {
  let tables: SyncTables
  /// The time of the write.
  let microseconds: Int64
  /// Whether the changes of this write are this replica's own, and not those of another one.
  let notesChanges: Bool

  /// Notes what one write of an object changes.
  func note<Record: ObjectRecord>(
    _ change: RecordChange<Record>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let id = (change.new ?? change.old)?.item.id else { return }
    let key = TombstoneKey(Record.kind, id)
    try note(change.changedFields, of: key, in: &transaction)
    if change.new == nil { try keep(change.old, in: &transaction) }
    if change.old == nil { try forget(key, in: &transaction) }
  }

  /// Forgets the record of a deleted object, which exists again.
  func forget(_ key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    _ = try tables.trash.remove(forKey: key, in: &transaction)
    _ = try tables.values.remove(forKey: Self.keepingKey(key), in: &transaction)
  }

  /// Keeps the record of an object that is deleted.
  func keep(_ record: (some ObjectRecord)?, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record else { return }
    let key = TombstoneKey(type(of: record).kind, record.item.id)
    try tables.trash.put(record.encodedBytes, forKey: key, in: &transaction)
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try tables.values.put(time.storedBytes, forKey: Self.keepingKey(key), in: &transaction)
  }

  /// The key of the row that says when the record of a deleted object was kept.
  static func keepingKey(_ key: TombstoneKey) -> [UInt8] { [15] + key.encodedBytes }

  /// Notes that the ledger has got or lost a completion of a deleted task.
  func note(detached completed: InstantKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note(.completion, of: TombstoneKey(.task, completed.id), in: &transaction)
    guard notesChanges else { return }
    try tables.values.put([], forKey: Self.detachedKey(completed), in: &transaction)
  }

  /// The key of the row that notes a change of a completion of a deleted task.
  static func detachedKey(_ completed: InstantKey) -> [UInt8] {
    detachedPrefix(of: completed.id) + FieldValue.instant(Timestamp(clamping: completed.microseconds)).storedBytes
  }

  static func detachedPrefix(of task: UUID) -> [UInt8] { [detachedKind] + FieldValue.id(task).storedBytes }

  /// The first byte of these keys; TallySync gives the others.
  private static let detachedKind: UInt8 = 12

  /// Notes that a saved filter was saved or deleted.
  func note(_ value: ValueKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard notesChanges, value.namespace == SavedFilter.namespace else { return }
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try tables.values.put(time.storedBytes, forKey: Self.filterPrefix + value.bytes, in: &transaction)
  }

  /// The first byte of the keys that note saved filters; the key of the filter follows.
  static let filterPrefix: [UInt8] = [14]

  /// The key of the row that says which change came first into an empty table of changes, and when.
  ///
  /// With it a status need not read all changes. Versions before it neither write nor remove it, so it counts only while that
  /// change waits as it was noted.
  static let firstChangeKey: [UInt8] = [18]

  /// The row of the first change.
  struct FirstChange {
    let key: TombstoneKey
    let microseconds: Int64

    /// The time, then the key of the object.
    var stored: [UInt8] {
      FieldValue.instant(Timestamp(clamping: microseconds)).storedBytes + key.encodedBytes
    }
  }

  /// Notes that parts of an object have changed.
  func note(_ fields: SyncFields, of key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note([(key, fields)], in: &transaction)
  }

  /// Notes that parts of different objects have changed.
  func note(_ changes: [(TombstoneKey, SyncFields)], in transaction: inout WriteTransaction) throws(LMDBError) {
    guard notesChanges else { return }
    assert(Set(changes.map(\.0)).count == changes.count, "an object twice")
    let isEmpty = try tables.pending.count(in: transaction) == 0
    var batch = EntryBatch<TombstoneKey, PendingRecord>()
    for (key, fields) in changes where !fields.isEmpty {
      var record = try isEmpty ? PendingRecord() : tables.pending.value(forKey: key, in: transaction) ?? PendingRecord()
      record.add(fields, at: microseconds)
      try batch.add(record, forKey: key)
    }
    try tables.pending.put(&batch, in: &transaction)
    if isEmpty, let first = changes.first(where: { !$0.1.isEmpty }) {
      let row = FirstChange(key: first.0, microseconds: microseconds)
      try tables.values.put(row.stored, forKey: Self.firstChangeKey, in: &transaction)
    }
  }
}

extension SyncNotes.FirstChange {
  /// Reads a row; `nil` for other bytes.
  init?(stored bytes: [UInt8]) {
    // The array lives until both parts are read.
    guard bytes.count > 8, let time = try? unsafe bytes.span.bytes.extracting(0..<8).storedInstant(),
      let key = try? unsafe TombstoneKey(decoding: bytes.span.bytes.extracting(8..<bytes.count))
    else { return nil }
    self.init(key: key, microseconds: time.microsecondsSince1970)
  }
}

extension RecordChange where Record: ObjectRecord {
  /// The parts that other replicas have to know of.
  var changedFields: SyncFields {
    isRenumbering ? .renumbering : Record.Item.changes(from: old?.item, to: new?.item)
  }
}
