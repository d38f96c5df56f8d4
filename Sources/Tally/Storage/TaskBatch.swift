import LMDB

/// What many changes of different tasks do to the tables, gathered so that each is written once, in its own order.
///
/// Nothing is kept of a new task except the bytes that are to be stored: its texts are looked at once.
struct TaskBatch {
  private let writer: RecordWriter
  private var records = EntryBatch<IDKey, TaskRecord>()
  private var removed: [TaskRecord] = []
  private let indexes: [any IndexBatch<TaskRecord>]
  private var ledger: LedgerBatch
  private var images = BeforeImages()
  /// New tasks that may have been deleted before; none are looked for in a store without tombstones.
  private var created: [IDKey] = []
  private let hasTombstones: Bool

  /// Begins to gather changes of the tasks that a transaction finds.
  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    self.writer = writer
    indexes = writer.tables.taskIndexes.map { $0.makeBatch() }
    ledger = try LedgerBatch(of: writer.tables, in: transaction)
    hasTombstones = try writer.tables.tombstones.count(in: transaction) > 0
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { records.count == 0 && removed.isEmpty }

  /// Notes what one change does; what the counters are to change by goes into `deltas`.
  mutating func add(_ change: TaskChange, counting deltas: inout CounterDeltas) throws(LMDBError) {
    images.add(change)
    if let record = change.new {
      try records.add(record, forKey: IDKey(record.item.id))
      if hasTombstones, change.old == nil { created.append(IDKey(record.item.id)) }
    } else if let record = change.old {
      removed.append(record)
    }
    for index in indexes { try index.add(change.old, change.new) }
    try ledger.add(change, counting: &deltas, recording: &images)
  }

  /// The id of a task that stands among the changes twice or is stored already; `nil` if there is none.
  mutating func firstTakenID(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try writer.tables.tasks.firstTakenKey(of: &records, in: transaction)
  }

  /// Writes them, one table after the other, and notes in `images` what was there.
  mutating func apply(
    counting deltas: inout CounterDeltas, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let tables = writer.tables
    images.append(self.images)
    for record in removed {
      _ = try tables.tasks.remove(forKey: IDKey(record.item.id), in: &transaction)
      try writer.putTombstone(TombstoneKey(.task, record.item.id), of: record.stamp, in: &transaction)
    }
    for key in created { try writer.removeTombstone(TombstoneKey(.task, key.id), in: &transaction) }
    try tables.tasks.put(&records, in: &transaction)
    for index in indexes { try index.apply(in: &transaction) }
    try ledger.apply(to: tables, counting: &deltas, recording: &images, in: &transaction)
  }
}
