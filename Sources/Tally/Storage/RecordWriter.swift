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

  /// Writes many tasks, one table after the other, each in its own order.
  ///
  /// What the counters are to change by goes into `deltas`; the caller applies it, perhaps after many such writes.
  func applyAll(
    _ changes: [TaskChange], counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for change in changes { images.add(change) }
    try writeRecords(of: changes, in: &transaction)
    let entries = changes.map { change in
      (old: change.old.map { IndexEntries(of: $0.item) }, new: change.new.map { IndexEntries(of: $0.item) })
    }
    try tables.byPlace.replaceAll(entries.lazy.map { ($0.old?.place, $0.new?.place) }, in: &transaction)
    try tables.byDay.replaceAll(entries.lazy.map { ($0.old?.day, $0.new?.day) }, in: &transaction)
    try tables.byDue.replaceAll(entries.lazy.map { ($0.old?.due, $0.new?.due) }, in: &transaction)
    try tables.byReminder.replaceAll(entries.lazy.map { ($0.old?.reminder, $0.new?.reminder) }, in: &transaction)
    try tables.byCreated.replaceAll(entries.lazy.map { ($0.old?.created, $0.new?.created) }, in: &transaction)
    try tables.byActive.replaceAll(entries.lazy.map { ($0.old?.active, $0.new?.active) }, in: &transaction)
    try tables.byTail.replaceAll(entries.lazy.map { ($0.old?.tail, $0.new?.tail) }, in: &transaction)
    let ledger = CompletionLedger(tables: tables)
    // Keys are sorted, not changes: those are large to move and hold references to count.
    let order = changes.indices.map { (key: CompletionLedger.position(of: changes[$0]), index: $0) }
    for (_, index) in order.sorted(by: { $0.key < $1.key }) {
      try ledger.apply(changes[index], counting: &deltas, recording: &images, in: &transaction)
    }
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

  private func writeRecords(of changes: [TaskChange], in transaction: inout WriteTransaction) throws(LMDBError) {
    let written = changes.indices.compactMap { index in
      (changes[index].new?.item.id).map { (key: IDKey($0), index: index) }
    }
    for change in changes where change.new == nil {
      guard let old = change.old else { continue }
      _ = try tables.tasks.remove(forKey: IDKey(old.item.id), in: &transaction)
    }
    let end = try tables.tasks.lastKey(in: transaction)
    for (key, index) in written.sorted(by: { $0.key < $1.key }) {
      guard let record = changes[index].new else { continue }
      if end.map({ $0 < key }) ?? true {
        try tables.tasks.append(record, forKey: key, in: &transaction)
      } else {
        try tables.tasks.put(record, forKey: key, in: &transaction)
      }
    }
  }
}

extension BeforeImages {
  /// Notes what a change of a task finds.
  fileprivate mutating func add(_ change: TaskChange) {
    if let id = change.old?.item.id ?? change.new?.item.id { add(task: id, change.old) }
  }
}
