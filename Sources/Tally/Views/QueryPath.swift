import Foundation
import LMDB

/// A way to the tasks that a query may find: some ranges of an index, or the whole table of tasks.
struct QueryPath {
  let name: TableName
  let table: RawIndex
  let ranges: [KeyRange]
  /// The tests that every task of the ranges passes, and that need not be asked.
  var covered: [RecordTest] = []
  /// How the keys give the query's order; `nil` if they do not.
  var keyOrder: KeyOrder?
  /// Counters that know about how many tasks there are.
  var scope: CounterScope?

  /// How a task's position in an order becomes its key in an index.
  struct KeyOrder {
    /// The bytes of the key before those of the order: they are the same within a range.
    let prefixByteCount: Int
    /// The bytes of the order that the key lacks.
    var skippedByteCount = 0
    /// Whether the order is that of the keys from the last to the first, with every bit flipped.
    var isReversed = false
  }

  /// Whether the records are the values of the table.
  var isWholeTable: Bool { name == .tasks }
}

extension QueryPath.KeyOrder {
  /// The key, in a range, of a position in the order.
  func key(_ position: ViewKey, in range: KeyRange) -> KeyBytes {
    var bytes = position.indexKey(isReversed: false)
    bytes = bytes[min(skippedByteCount, bytes.encodedByteCount)..<bytes.encodedByteCount]
    if isReversed { bytes = bytes.flipped }
    var key = range.lower[0..<prefixByteCount]
    let room = min(bytes.encodedByteCount, KeyBytes.capacity - prefixByteCount)
    key.append(bytes[0..<room])
    return key
  }
}
