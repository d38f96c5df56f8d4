import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Walks a table's keys from `lowerBound` up to but not including `upperBound`, until `body` returns false.
  ///
  /// From a `position` the walk continues after that key, which need not exist any more. Returns the last key that
  /// `body` accepted before it refused one; `nil` if the walk reached the end.
  func scan<Key: IndexKey, Value>(
    _ table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, after position: Key? = nil,
    _ body: (Key) throws -> Bool
  ) throws -> Key? {
    let end = upperBound?.encodedBytes
    var cursor = try table.cursor(in: base)
    var accepted = position
    var isAtEntry = try cursor.move(toFirstAtOrAfter: position ?? lowerBound)
    if isAtEntry, let position, try cursor.key() == position { isAtEntry = try cursor.next() }
    while isAtEntry {
      if let end, !cursor.keyBytes.precedes(end) { break }
      let key = try cursor.key()
      guard try body(key) else { return accepted }
      accepted = key
      isAtEntry = try cursor.next()
    }
    return nil
  }

  /// Walks a table's keys backwards, from before `upperBound` down to `lowerBound`, until `body` returns false.
  ///
  /// From a `position` the walk continues before that key, which need not exist any more. Returns the last key that
  /// `body` accepted before it refused one; `nil` if the walk reached the end.
  func scanReversed<Key: IndexKey, Value>(
    _ table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key, after position: Key? = nil,
    _ body: (Key) throws -> Bool
  ) throws -> Key? {
    let start = lowerBound.encodedBytes
    var cursor = try table.cursor(in: base)
    var accepted = position
    var isAtEntry = try cursor.move(toLastBefore: position ?? upperBound)
    while isAtEntry {
      if cursor.keyBytes.precedes(start) { break }
      let key = try cursor.key()
      guard try body(key) else { return accepted }
      accepted = key
      isAtEntry = try cursor.previous()
    }
    return nil
  }
}
