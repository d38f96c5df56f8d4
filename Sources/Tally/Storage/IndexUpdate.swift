import LMDB

extension Database where Key: IndexKey, Value == NoValue {
  /// Replaces one entry by another, leaving the index alone where both are equal.
  func replace(_ old: Key?, by new: Key?, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard old != new else { return }
    if let old { _ = try remove(forKey: old, in: &transaction) }
    if let new { try put(NoValue(), forKey: new, in: &transaction) }
  }

  /// Replaces many entries at once, in the index's own order.
  ///
  /// Sorted insertion touches each page once; entries beyond the index's end are appended, which packs the pages.
  func replaceAll(
    _ changes: some Sequence<(old: Key?, new: Key?)>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var removed: [Key] = []
    var inserted: [Key] = []
    for change in changes where change.old != change.new {
      if let old = change.old { removed.append(old) }
      if let new = change.new { inserted.append(new) }
    }
    removed.sort()
    inserted.sort()
    for key in removed { _ = try remove(forKey: key, in: &transaction) }
    let end = try lastKey(in: transaction)
    for key in inserted {
      if end.map({ $0 < key }) ?? true {
        try append(NoValue(), forKey: key, in: &transaction)
      } else {
        try put(NoValue(), forKey: key, in: &transaction)
      }
    }
  }
}

extension Database {
  /// The last key of the table; `nil` in an empty one.
  func lastKey<T: Transaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Key? {
    var cursor = try cursor(in: transaction)
    return try cursor.moveToLast() ? try cursor.key() : nil
  }
}
