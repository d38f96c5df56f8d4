import LMDB
import TallyEngine

/// Writes one change of a task or list: its record, index entries, ledger entry and counters together.
///
/// Index entries that the old and the new record share are not touched. `TaskBatch` does the same for many tasks at
/// once. If a write fails halfway, the transaction cannot commit; `StoreTransaction.change` ensures this.
struct RecordWriter {
  let tables: Tables
  /// The sequence number of the commit that the changes belong to.
  let sequence: UInt64
  /// Records changes and stores deleted objects for synchronisation; `nil` if the store does not synchronise.
  var syncNotes: SyncNotes?

  /// The ledger in which the completions of the tasks are written.
  var ledger: CompletionLedger { CompletionLedger(tables: tables, syncNotes: syncNotes) }

  /// Inserts, updates or deletes one task with its completion and counters, and records the old state in `images`.
  func apply(
    _ change: RecordChange<TaskRecord>, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try write(change, recording: &images, in: &transaction)
    var deltas = CounterDeltas()
    try ledger.apply(change, counting: &deltas, recording: &images, in: &transaction)
    try deltas.apply(to: tables, in: &transaction)
  }

  /// Inserts, updates or deletes the record of one task or list and its index entries, but not its ledger or counters.
  func write<Record: ObjectRecord>(
    _ change: RecordChange<Record>, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let table = Record.table(in: tables)
    if let record = change.new {
      images.add(change.old, ofKey: record.key)
      try table.put(record, forKey: record.key, in: &transaction)
      try require(record.requiredFeatures, in: &transaction)
      if change.old == nil { try removeTombstone(TombstoneKey(Record.kind, record.item.id), in: &transaction) }
    } else if let record = change.old {
      images.add(record, ofKey: record.key)
      _ = try table.remove(forKey: record.key, in: &transaction)
      try putTombstone(of: record, in: &transaction)
    }
    for index in Record.indexes(in: tables) { try index.replace(change, &transaction) }
    try syncNotes?.note(change, in: &transaction)
  }

  /// Sets features in the store's header, so that programs without them refuse the store.
  func require(_ features: StoreFeatures, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard !features.isEmpty, var header = try tables.meta.value(forKey: .header, in: transaction),
      !header.requiredFeatures.isSuperset(of: features)
    else { return }
    header.requiredFeatures.formUnion(features)
    try tables.meta.put(header, forKey: .header, in: &transaction)
  }

  /// Writes the tombstone of a deleted object, so that the log of changes lists the deletion.
  func putTombstone(of record: some ObjectRecord, in transaction: inout WriteTransaction) throws(LMDBError) {
    let tombstone = Tombstone(of: record, at: sequence)
    try tables.tombstones.put(tombstone.record, forKey: tombstone.key, in: &transaction)
    for index in tables.tombstoneIndexes { try index.replace(RecordChange(old: nil, new: tombstone), &transaction) }
  }

  /// Removes the tombstone, if any, of an object that is created again.
  func removeTombstone(_ key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record = try tables.tombstones.value(forKey: key, in: transaction) else { return }
    _ = try tables.tombstones.remove(forKey: key, in: &transaction)
    let change = RecordChange(old: Tombstone(key: key, record: record), new: nil)
    for index in tables.tombstoneIndexes { try index.replace(change, &transaction) }
  }
}
