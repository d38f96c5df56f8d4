import LMDB

/// Many changes of different tasks, gathered so that each table is written once, in its own order.
///
/// Of a new task only the bytes to be stored are kept: its texts are read once.
struct TaskBatch {
  private let writer: RecordWriter
  private var records = EntryBatch<IDKey, TaskRecord>()
  private var removed: [TaskRecord] = []
  private let indexes: [IndexBatch<TaskRecord>]
  private var ledger: LedgerBatch
  private var images = BeforeImages()
  /// New tasks that may have been deleted before; not looked up in a store without tombstones.
  private var created: [IDKey] = []
  private let hasTombstones: Bool
  /// What changes, if the store synchronises.
  private var changedFields: [(key: TombstoneKey, fields: SyncFields)] = []

  /// Creates a batch of changes to the tasks of a transaction.
  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    self.writer = writer
    indexes = writer.tables.taskIndexes.map { $0.makeBatch() }
    ledger = try LedgerBatch(with: writer, in: transaction)
    hasTombstones = try writer.tables.tombstones.count(in: transaction) > 0
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { records.count == 0 && removed.isEmpty }

  /// Adds one change; changes of the counters go into `deltas`.
  mutating func add(_ change: RecordChange<TaskRecord>, counting deltas: inout CounterDeltas) throws(LMDBError) {
    guard let old = change.old else {
      return try insert(change.new.map { [$0] } ?? [], counting: &deltas)
    }
    images.add(old, ofKey: old.key)
    if let record = change.new {
      try records.add(record, forKey: record.key)
    } else {
      removed.append(old)
    }
    for index in indexes { try index.replace(change) }
    ledger.add(change)
    if writer.syncTables != nil {
      let fields = TaskItem.changes(from: old.item, to: change.new?.item)
      changedFields.append((TombstoneKey(.task, old.item.id), fields))
    }
  }

  /// Adds new tasks.
  ///
  /// Faster with some hundred at once: going from index to index costs as much as the work for one task.
  mutating func insert(_ new: [TaskRecord], counting deltas: inout CounterDeltas) throws(LMDBError) {
    for record in new {
      images.add(nil as TaskRecord?, ofKey: record.key)
      try records.add(record, forKey: record.key)
      if hasTombstones { created.append(record.key) }
      try ledger.insert(record, counting: &deltas, recording: &images)
    }
    for index in indexes { try index.insert(new) }
    guard writer.syncTables != nil else { return }
    changedFields += new.map { (TombstoneKey(.task, $0.item.id), TaskItem.changes(from: nil, to: $0.item)) }
  }

  /// The id of a task that appears twice among the changes or is stored already; `nil` if there is none.
  mutating func firstTakenID(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try writer.tables.tasks.firstTakenKey(of: &records, in: transaction)
  }

  /// Writes the changes, one table after the other, and records the old state in `images`.
  mutating func apply(
    counting deltas: inout CounterDeltas, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let tables = writer.tables
    images.append(self.images)
    for record in removed {
      _ = try tables.tasks.remove(forKey: record.key, in: &transaction)
      try writer.putTombstone(of: record, in: &transaction)
    }
    for key in created { try writer.removeTombstone(TombstoneKey(.task, key.id), in: &transaction) }
    try tables.tasks.put(&records, in: &transaction)
    for index in indexes { try index.apply(&transaction) }
    for (key, fields) in changedFields { try writer.syncTables?.note(fields, of: key, in: &transaction) }
    for record in removed { try writer.syncTables?.keep(record, in: &transaction) }
    for key in created { try writer.syncTables?.forget(TombstoneKey(.task, key.id), in: &transaction) }
    try ledger.apply(to: tables, counting: &deltas, recording: &images, in: &transaction)
  }
}
