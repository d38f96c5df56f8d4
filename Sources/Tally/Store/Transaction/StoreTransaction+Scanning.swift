import Foundation
import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// Scans a table's keys from `lowerBound` up to but not including `upperBound`, until `body` returns false.
  func scan<Key: IndexKey, Value>(
    _ table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, _ body: (Key) throws -> Bool
  ) throws {
    let end = upperBound.map { KeyBytes($0) }
    var cursor = try table.cursor(in: base)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: lowerBound)
    while isAtEntry {
      if let end, !cursor.keyBytes.precedes(end.bytes) { return }
      guard try body(cursor.key()) else { return }
      isAtEntry = try cursor.next()
    }
  }

  /// Scans all of a table's keys from `lowerBound` up to but not including `upperBound`.
  func forEachKey<Key: IndexKey, Value>(
    of table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, _ body: (Key) throws -> Void
  ) throws {
    try scan(table, from: lowerBound, to: upperBound) { key in
      try body(key)
      return true
    }
  }

  /// The open tasks that wait for their start on a day.
  func waitingTasks(on day: CalendarDay) throws -> Set<UUID> {
    var ids: Set<UUID> = []
    try forEachKey(of: tables.byDue, from: .starts(after: day), to: .endOfStarts) { ids.insert($0.id) }
    return ids
  }
}
