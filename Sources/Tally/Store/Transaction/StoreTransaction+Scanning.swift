import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Walks a table's keys from `lowerBound` up to but not including `upperBound`, until `body` returns false.
  func scan<Key: IndexKey, Value>(
    _ table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, reversed: Bool = false,
    _ body: (Key) throws -> Bool
  ) throws {
    try table.forEach(from: lowerBound, upTo: upperBound, reversed: reversed, in: base) { key, _ in
      try body(Key(decoding: key))
    }
  }

  /// Walks all of a table's keys from `lowerBound` up to but not including `upperBound`.
  func forEachKey<Key: IndexKey, Value>(
    of table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, _ body: (Key) throws -> Void
  ) throws {
    try scan(table, from: lowerBound, to: upperBound) { key in
      try body(key)
      return true
    }
  }
}
