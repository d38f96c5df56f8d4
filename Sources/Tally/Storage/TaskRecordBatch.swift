import LMDB
import TallyEngine

/// Changes of the records of many different tasks, gathered so that each table is written once, in key order.
///
/// The ledger is not part of it. For a new task only the bytes to be stored are held, so its texts are read once.
struct TaskRecordBatch {
  /// The best number of new tasks to insert at once: small enough for the processor's cache.
  static let bulkCount = 256

  private let writer: RecordWriter
  private var records = EntryBatch<IDKey, TaskRecord>()
  private var removed: [TaskRecord] = []
  private let indexes: [IndexBatch<TaskRecord>]
  private var images = BeforeImages()
  /// The keys of new tasks, whose tombstones must be removed; empty in a store without deleted objects.
  private var created: [IDKey] = []
  private let hasDeleted: Bool
  private var requiredFeatures: StoreFeatures = []
  /// The changes to record for synchronisation, if the store synchronises.
  private var noted: [SyncNotes.Change] = []
  /// New tasks, each of which may be a deleted one that exists again; empty in a store without deleted objects.
  private var returning: [TaskRecord] = []

  /// Creates a batch of changes to the tasks of a transaction.
  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    self.writer = writer
    indexes = writer.tables.taskIndexes.map { $0.makeBatch() }
    let trashCount = try writer.syncNotes?.tables.trash.count(in: transaction) ?? 0
    hasDeleted = try trashCount + writer.tables.tombstones.count(in: transaction) > 0
  }

  /// Whether the batch is empty.
  var isEmpty: Bool { records.count == 0 && removed.isEmpty }

  /// Adds one change.
  mutating func add(_ change: RecordChange<TaskRecord>) throws(LMDBError) {
    guard let old = change.old else { return try insert(change.new.map { [$0] } ?? []) }
    images.add(old, ofKey: old.key)
    if let record = change.new {
      try records.add(record, forKey: record.key)
      requiredFeatures.formUnion(record.requiredFeatures)
    } else {
      removed.append(old)
    }
    for index in indexes { try index.replace(change) }
    if let notes = writer.syncNotes { noted.append(notes.change(of: change)) }
  }

  /// Adds new tasks.
  ///
  /// A few hundred at once are faster: switching between indexes costs as much as the work for one task.
  mutating func insert(_ new: [TaskRecord]) throws(LMDBError) {
    for record in new {
      images.add(nil as TaskRecord?, ofKey: record.key)
      try records.add(record, forKey: record.key)
      requiredFeatures.formUnion(record.requiredFeatures)
      if hasDeleted { created.append(record.key) }
    }
    for index in indexes { try index.insert(new) }
    guard let notes = writer.syncNotes else { return }
    if hasDeleted { returning += new } else { noted += new.map { notes.change(of: RecordChange(old: nil, new: $0)) } }
  }

  /// Reserves memory for `factor` times as many new tasks as the batch holds.
  mutating func reserve(times factor: Double) {
    records.reserve(times: factor)
    for index in indexes { index.reserve(factor) }
  }

  /// The id of a task that is stored already or appears twice among the changes; `nil` if there is none.
  mutating func firstTakenID(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try writer.tables.tasks.firstTakenKey(of: &records, in: transaction)
  }

  /// Writes the changes, table by table, and records the old state in `images`.
  mutating func apply(
    recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let tables = writer.tables
    images.append(self.images)
    for record in removed {
      _ = try tables.tasks.remove(forKey: record.key, in: &transaction)
      try writer.putTombstone(of: record, in: &transaction)
    }
    for key in created { try writer.removeTombstone(TombstoneKey(.task, key.id), in: &transaction) }
    try tables.tasks.put(&records, in: &transaction)
    try writer.require(requiredFeatures, in: &transaction)
    for index in indexes { try index.apply(&transaction) }
    if let notes = writer.syncNotes {
      var changes = noted
      for record in returning { changes.append(try notes.change(of: record, in: transaction)) }
      try notes.note(changes, in: &transaction)
    }
    for record in removed { try writer.syncNotes?.keep(record, in: &transaction) }
    for key in created { try writer.syncNotes?.forget(TombstoneKey(.task, key.id), in: &transaction) }
  }
}
