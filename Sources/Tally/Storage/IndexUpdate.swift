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
  private var inserted = EntryBatch<Key, NoValue>()

  /// Notes that one entry takes the place of another.
  mutating func add(_ old: Key?, _ new: Key?) throws(LMDBError) {
    guard old != new else { return }
    if let old { removed.append(old) }
    if let new { try inserted.add(NoValue(), forKey: new) }
  }

  /// Writes them in the index's own order, which touches each page once.
  mutating func apply(to index: Index<Key>, in transaction: inout WriteTransaction) throws(LMDBError) {
    for key in removed.sorted() { _ = try index.remove(forKey: key, in: &transaction) }
    try index.put(&inserted, in: &transaction)
  }
}

extension Database {
  /// The last key of the table; `nil` in an empty one.
  func lastKey<T: Transaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Key? {
    var cursor = try cursor(in: transaction)
    return try cursor.moveToLast() ? try cursor.key() : nil
  }
}
