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

/// One change of a record: the stored record and the new one.
struct RecordChange<Record: IndexedRecord>: Sendable {
  let old: Record?
  let new: Record?
  /// Whether the change only makes room between neighbours: the user has not moved the object.
  var isRenumbering = false
  /// The parts whose new values were set by a program: on a merge they lose to those that a person wrote on another
  /// device.
  var generatedFields: SyncFields = []

  init(old: Record?, new: Record?) {
    assert(old != nil || new != nil, "a change of nothing")
    self.old = old
    self.new = new
  }
}

extension RecordChange where Record: ObjectRecord {
  /// Creates the change of a task or list in a commit: an edit, a creation or a deletion.
  ///
  /// Fields that this version does not know are preserved.
  init(from old: Record?, to item: Record.Item?, at sequence: UInt64) {
    self.init(from: old, to: item, unknown: old?.unknown ?? UnknownFields(), at: sequence)
  }

  /// Creates the same change with the unknown fields of another record, such as an image that undo restores.
  init(from old: Record?, to item: Record.Item?, unknown: UnknownFields, at sequence: UInt64) {
    assert(old == nil || item == nil || old?.item.id == item?.id, "a change of one object into another")
    let stamp = ChangeStamp(replacing: old?.stamp, at: sequence)
    self.init(old: old, new: item.map { Record(item: $0, stamp: stamp, unknown: unknown) })
  }
}

/// Changes of records, together with ledger entries that are given explicitly instead of derived by the ledger's rules.
///
/// Such states were recorded earlier (undo) or come from another replica.
struct RecordPlan {
  /// New tasks, in addition to those in `tasks`.
  var created: [TaskRecord] = []
  var tasks: [RecordChange<TaskRecord>] = []
  var lists: [RecordChange<ListRecord>] = []
  var completions: [(key: CompletionKey, record: CompletionRecord?)] = []

  var isEmpty: Bool { created.isEmpty && tasks.isEmpty && lists.isEmpty && completions.isEmpty }

  /// Writes the plan; the counters are only gathered in `deltas`.
  func apply(
    with writer: RecordWriter, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for change in lists { try writer.write(change, recording: &images, in: &transaction) }
    var (batch, new) = (try TaskRecordBatch(with: writer, in: transaction), created)
    for change in tasks {
      guard let old = change.old else {
        if let record = change.new { new.append(record) }
        continue
      }
      try batch.add(change)
      if !old.item.isCompleted { deltas.count(CountedTask(uncompleted: old.item), sign: -1) }
      if let item = change.new?.item, !item.isCompleted { deltas.count(CountedTask(uncompleted: item), sign: 1) }
    }
    for start in stride(from: 0, to: new.count, by: TaskRecordBatch.bulkCount) {
      let some = Array(new[start..<min(start + TaskRecordBatch.bulkCount, new.count)])
      try batch.insert(some)
      for record in some where !record.item.isCompleted { deltas.count(CountedTask(uncompleted: record.item), sign: 1) }
    }
    try batch.apply(recording: &images, in: &transaction)
    // Deriving these entries from the changes of the tasks would not always give the same result.
    var created = EntryBatch<CompletionKey, CompletionRecord>()
    for (key, record) in completions {
      if let record, try writer.ledger.isNew(key, in: transaction) {
        images.add(key, nil)
        deltas.count(CountedTask(key, record), sign: 1)
        try created.add(record, forKey: key)
      } else {
        try writer.ledger.restore(key, to: record, counting: &deltas, recording: &images, in: &transaction)
      }
    }
    try writer.tables.completions.put(&created, in: &transaction)
  }
}

/// Changes of many different tasks and their completions, gathered so that each table is written once, in key order.
struct TaskBatch {
  private let tables: Tables
  private var records: TaskRecordBatch
  private var ledger: LedgerBatch

  /// Creates a batch of changes to the tasks of a transaction.
  init(with writer: RecordWriter, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    tables = writer.tables
    records = try TaskRecordBatch(with: writer, in: transaction)
    ledger = try LedgerBatch(with: writer, in: transaction)
  }

  /// Whether the batch is empty.
  var isEmpty: Bool { records.isEmpty }

  /// Adds one change; the changes of the counters are added to `deltas`.
  mutating func add(_ change: RecordChange<TaskRecord>, counting deltas: inout CounterDeltas) throws(LMDBError) {
    if change.old == nil, let record = change.new { return try insert([record], counting: &deltas) }
    try records.add(change)
    ledger.add(change)
  }

  /// Adds new tasks; a few hundred at once are faster than one by one.
  mutating func insert(_ new: [TaskRecord], counting deltas: inout CounterDeltas) throws(LMDBError) {
    try records.insert(new)
    for record in new { try ledger.insert(record, counting: &deltas) }
  }

  /// Reserves memory for `factor` times as many new tasks as the batch holds; they should be of similar size.
  mutating func reserve(times factor: Double) {
    records.reserve(times: factor)
  }

  /// The id of a task that is stored already or appears twice among the changes; `nil` if there is none.
  mutating func firstTakenID(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try records.firstTakenID(transaction)
  }

  /// Writes the changes, table by table, and records the old state in `images`.
  mutating func apply(
    counting deltas: inout CounterDeltas, recording images: inout BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try records.apply(recording: &images, in: &transaction)
    try ledger.apply(to: tables, counting: &deltas, recording: &images, in: &transaction)
  }
}

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
