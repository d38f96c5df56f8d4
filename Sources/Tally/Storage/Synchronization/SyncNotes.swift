import Foundation
import LMDB
import TallyEngine

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
