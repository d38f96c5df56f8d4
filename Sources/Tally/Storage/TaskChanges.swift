import LMDB

/// What many changes of different tasks do to the tables, gathered so that each is written once, in its own order.
///
/// Nothing is kept of a new task but the bytes that are to be stored: its texts are looked at once.
struct TaskChanges {
  private var records = EntryBatch<IDKey, TaskRecord>()
  private var removedIDs: [IDKey] = []
  private var place = IndexChanges<PlaceKey>()
  private var day = IndexChanges<DayKey>()
  private var due = IndexChanges<DueKey>()
  private var reminder = IndexChanges<InstantKey>()
  private var created = IndexChanges<InstantKey>()
  private var active = IndexChanges<OrderKey>()
  private var tail = IndexChanges<TailKey>()
  private var ledger: LedgerChanges
  private var images = BeforeImages()

  /// Begins to gather changes of the tasks that a transaction finds.
  init(of tables: Tables, in transaction: borrowing WriteTransaction) throws(LMDBError) {
    ledger = try LedgerChanges(of: tables, in: transaction)
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { records.count == 0 && removedIDs.isEmpty }

  /// Notes what one change does; what the counters are to change by goes into `deltas`.
  mutating func add(_ change: TaskChange, counting deltas: inout CounterDeltas) throws(LMDBError) {
    images.add(change)
    let old = change.old.map { IndexEntries(of: $0.item) }
    let new = change.new.map { IndexEntries(of: $0.item) }
    if let record = change.new {
      try records.add(record, forKey: IDKey(record.item.id))
    } else if let record = change.old {
      removedIDs.append(IDKey(record.item.id))
    }
    try place.add(old?.place, new?.place)
    try day.add(old?.day, new?.day)
    try due.add(old?.due, new?.due)
    try reminder.add(old?.reminder, new?.reminder)
    try created.add(old?.created, new?.created)
    try active.add(old?.active, new?.active)
    try tail.add(old?.tail, new?.tail)
    try ledger.add(change, counting: &deltas, recording: &images)
  }

  /// The id of a task that stands among the changes twice or is stored already; `nil` if there is none.
  mutating func firstTakenID(in tables: Tables, _ transaction: borrowing WriteTransaction) throws(LMDBError) -> IDKey? {
    try tables.tasks.firstTakenKey(of: &records, in: transaction)
  }

  /// Writes them, one table after the other, and notes in `images` what was there.
  mutating func apply(
    to tables: Tables, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    images.append(self.images)
    for id in removedIDs { _ = try tables.tasks.remove(forKey: id, in: &transaction) }
    try tables.tasks.put(&records, in: &transaction)
    try place.apply(to: tables.byPlace, in: &transaction)
    try day.apply(to: tables.byDay, in: &transaction)
    try due.apply(to: tables.byDue, in: &transaction)
    try reminder.apply(to: tables.byReminder, in: &transaction)
    try created.apply(to: tables.byCreated, in: &transaction)
    try active.apply(to: tables.byActive, in: &transaction)
    try tail.apply(to: tables.byTail, in: &transaction)
    try ledger.apply(to: tables, counting: &deltas, recording: &images, in: &transaction)
  }
}
