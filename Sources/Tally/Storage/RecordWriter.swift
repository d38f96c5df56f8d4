import Foundation
import LMDB

/// One change of a task's record: what was stored before and what is to be stored.
struct TaskChange {
  let old: TaskRecord?
  let new: TaskRecord?

  init(old: TaskRecord?, new: TaskRecord?) {
    self.old = old
    self.new = new
  }
}

/// The one way in which tasks and lists reach the tables: record, index entries, ledger and counters together.
///
/// Entries that the old and the new record share are left alone. A failure half-way leaves the transaction unfit
/// to commit; the caller sees to that.
struct RecordWriter {
  let tables: Tables

  /// Writes, rewrites or deletes one task, and notes in `images` what was there.
  func apply(
    _ change: TaskChange, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try writeRecord(of: change, recording: &images, in: &transaction)
    var deltas = CounterDeltas()
    try CompletionLedger(tables: tables).apply(change, counting: &deltas, recording: &images, in: &transaction)
    try deltas.apply(to: tables, in: &transaction)
  }

  /// Writes, rewrites or deletes one task's record and index entries, but for the ledger and the counters.
  func writeRecord(
    of change: TaskChange, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    images.add(change)
    let old = change.old.map { IndexEntries(of: $0.item) }
    let new = change.new.map { IndexEntries(of: $0.item) }
    if let record = change.new {
      try tables.tasks.put(record, forKey: IDKey(record.item.id), in: &transaction)
    } else if let record = change.old {
      _ = try tables.tasks.remove(forKey: IDKey(record.item.id), in: &transaction)
    }
    try tables.byPlace.replace(old?.place, by: new?.place, in: &transaction)
    try tables.byDay.replace(old?.day, by: new?.day, in: &transaction)
    try tables.byDue.replace(old?.due, by: new?.due, in: &transaction)
    try tables.byReminder.replace(old?.reminder, by: new?.reminder, in: &transaction)
    try tables.byCreated.replace(old?.created, by: new?.created, in: &transaction)
    try tables.byActive.replace(old?.active, by: new?.active, in: &transaction)
    try tables.byTail.replace(old?.tail, by: new?.tail, in: &transaction)
  }

  /// Writes, rewrites or deletes one list.
  func apply(
    old: ListRecord?, new: ListRecord?, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    if let id = old?.list.id ?? new?.list.id { images.add(list: id, old) }
    if let new {
      try tables.lists.put(new, forKey: IDKey(new.list.id), in: &transaction)
    } else if let old {
      _ = try tables.lists.remove(forKey: IDKey(old.list.id), in: &transaction)
    }
    try tables.listsByOrder.replace(
      old.map { OrderKey(of: $0.list) }, by: new.map { OrderKey(of: $0.list) }, in: &transaction)
  }
}
