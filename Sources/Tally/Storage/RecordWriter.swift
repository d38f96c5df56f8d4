import Foundation
import LMDB

/// One change of a task's record: the stored record and the new one.
struct TaskChange {
  let old: TaskRecord?
  let new: TaskRecord?

  /// A change in a commit: of a task's contents, its creation or its deletion.
  ///
  /// Fields that this version does not know are kept.
  init(from old: TaskRecord?, to item: TaskItem?, at sequence: UInt64) {
    self.init(from: old, to: item, unknown: old?.unknown ?? UnknownFields(), at: sequence)
  }

  /// The same with the unknown fields of another record, such as an image that undo restores.
  init(from old: TaskRecord?, to item: TaskItem?, unknown: UnknownFields, at sequence: UInt64) {
    assert(old != nil || item != nil, "a change of nothing")
    assert(old == nil || item == nil || old?.item.id == item?.id, "a change of one task into another")
    self.old = old
    new = item.map {
      TaskRecord(item: $0, stamp: ChangeStamp(replacing: old?.stamp, at: sequence), unknown: unknown)
    }
  }
}

/// One change of a list's record; see `TaskChange`.
struct ListChange {
  let old: ListRecord?
  let new: ListRecord?

  init(from old: ListRecord?, to list: TaskList?, at sequence: UInt64) {
    self.init(from: old, to: list, unknown: old?.unknown ?? UnknownFields(), at: sequence)
  }

  init(from old: ListRecord?, to list: TaskList?, unknown: UnknownFields, at sequence: UInt64) {
    assert(old != nil || list != nil, "a change of nothing")
    assert(old == nil || list == nil || old?.list.id == list?.id, "a change of one list into another")
    self.old = old
    new = list.map {
      ListRecord(list: $0, stamp: ChangeStamp(replacing: old?.stamp, at: sequence), unknown: unknown)
    }
  }
}

/// Writes one change of a task or list: record, index entries, ledger and counters together.
///
/// Entries that the old and the new record share are left alone. `TaskBatch` does the same for many tasks at once.
/// After a failure halfway the transaction cannot commit, which `StoreTransaction.change` ensures.
struct RecordWriter {
  let tables: Tables
  /// The sequence of the commit that the changes belong to.
  let sequence: UInt64

  /// Writes, rewrites or deletes one task, and records the old state in `images`.
  func apply(
    _ change: TaskChange, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try writeRecord(of: change, recording: &images, in: &transaction)
    var deltas = CounterDeltas()
    try CompletionLedger(tables: tables).apply(change, counting: &deltas, recording: &images, in: &transaction)
    try deltas.apply(to: tables, in: &transaction)
  }

  /// Writes, rewrites or deletes one task's record and index entries; the caller handles ledger and counters.
  func writeRecord(
    of change: TaskChange, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    images.add(change)
    if let record = change.new {
      try tables.tasks.put(record, forKey: IDKey(record.item.id), in: &transaction)
      if change.old == nil { try removeTombstone(TombstoneKey(.task, record.item.id), in: &transaction) }
    } else if let record = change.old {
      _ = try tables.tasks.remove(forKey: IDKey(record.item.id), in: &transaction)
      try putTombstone(TombstoneKey(.task, record.item.id), of: record.stamp, in: &transaction)
    }
    for index in tables.taskIndexes { try index.replace(change.old, change.new, &transaction) }
  }

  /// Writes, rewrites or deletes one list.
  func apply(
    _ change: ListChange, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    if let id = change.old?.list.id ?? change.new?.list.id { images.add(list: id, change.old) }
    if let record = change.new {
      try tables.lists.put(record, forKey: IDKey(record.list.id), in: &transaction)
      if change.old == nil { try removeTombstone(TombstoneKey(.list, record.list.id), in: &transaction) }
    } else if let record = change.old {
      _ = try tables.lists.remove(forKey: IDKey(record.list.id), in: &transaction)
      try putTombstone(TombstoneKey(.list, record.list.id), of: record.stamp, in: &transaction)
    }
    for index in tables.listIndexes { try index.replace(change.old, change.new, &transaction) }
  }
}

extension RecordWriter {
  /// Keeps the row of a deleted object in the log of changes.
  func putTombstone(
    _ key: TombstoneKey, of stamp: ChangeStamp, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let tombstone = Tombstone(key: key, record: TombstoneRecord(of: stamp, at: sequence))
    try tables.tombstones.put(tombstone.record, forKey: key, in: &transaction)
    for index in tables.tombstoneIndexes { try index.replace(nil, tombstone, &transaction) }
  }

  /// Removes the tombstone of an object that is created again, if it has one.
  func removeTombstone(_ key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record = try tables.tombstones.value(forKey: key, in: transaction) else { return }
    _ = try tables.tombstones.remove(forKey: key, in: &transaction)
    let tombstone = Tombstone(key: key, record: record)
    for index in tables.tombstoneIndexes { try index.replace(tombstone, nil, &transaction) }
  }
}
