import LMDB

extension Database where Key: IndexKey, Value == NoValue {
  /// Replaces one entry by another, leaving the index alone where both are equal.
  func replace(_ old: Key?, by new: Key?, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard old != new else { return }
    if let old { _ = try remove(forKey: old, in: &transaction) }
    if let new { try put(NoValue(), forKey: new, in: &transaction) }
  }
}

/// What many changes of records do to one index.
struct IndexChanges<Key: IndexKey> {
  private var removed: [Key] = []
  private var inserted: [Key] = []

  /// Notes that one entry takes the place of another.
  mutating func add(_ old: Key?, _ new: Key?) {
    guard old != new else { return }
    if let old { removed.append(old) }
    if let new { inserted.append(new) }
  }

  /// Writes them in the index's own order, which touches each page once.
  func apply(to index: Index<Key>, in transaction: inout WriteTransaction) throws(LMDBError) {
    for key in removed.sorted() { _ = try index.remove(forKey: key, in: &transaction) }
    try index.put(contentsOf: inserted.sorted().lazy.map { ($0, NoValue()) }, in: &transaction)
  }
}

/// What many changes of tasks do to all their indexes.
struct TaskIndexChanges {
  private var place = IndexChanges<PlaceKey>()
  private var day = IndexChanges<DayKey>()
  private var due = IndexChanges<DueKey>()
  private var reminder = IndexChanges<InstantKey>()
  private var created = IndexChanges<InstantKey>()
  private var active = IndexChanges<OrderKey>()
  private var tail = IndexChanges<TailKey>()

  /// Notes what one task's change does.
  mutating func add(_ old: IndexEntries?, _ new: IndexEntries?) {
    place.add(old?.place, new?.place)
    day.add(old?.day, new?.day)
    due.add(old?.due, new?.due)
    reminder.add(old?.reminder, new?.reminder)
    created.add(old?.created, new?.created)
    active.add(old?.active, new?.active)
    tail.add(old?.tail, new?.tail)
  }

  /// Writes them, one index after the other.
  func apply(to tables: Tables, in transaction: inout WriteTransaction) throws(LMDBError) {
    try place.apply(to: tables.byPlace, in: &transaction)
    try day.apply(to: tables.byDay, in: &transaction)
    try due.apply(to: tables.byDue, in: &transaction)
    try reminder.apply(to: tables.byReminder, in: &transaction)
    try created.apply(to: tables.byCreated, in: &transaction)
    try active.apply(to: tables.byActive, in: &transaction)
    try tail.apply(to: tables.byTail, in: &transaction)
  }
}

extension Database {
  /// The last key of the table; `nil` in an empty one.
  func lastKey<T: Transaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Key? {
    var cursor = try cursor(in: transaction)
    return try cursor.moveToLast() ? try cursor.key() : nil
  }
}
