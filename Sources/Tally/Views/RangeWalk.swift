import Foundation
import LMDB

/// A walk over ranges of an index, one after the other, that can stop and go on later.
struct RangeWalk {
  private let isReversed: Bool
  private let start: ViewKey?
  /// The position of the last accepted task.
  private var last: ViewKey?
  private(set) var isStopped = false
  /// The last range in which any task was accepted, up to its end.
  private var finished: (range: KeyRange, prefix: KeyBytes)?

  /// Goes on after a position, whose task need not exist any more.
  init(isReversed: Bool, after position: ViewKey?) {
    self.isReversed = isReversed
    (start, last) = (position, position)
  }

  /// Where the walk was stopped; `nil` if it was not.
  var stop: ViewKey? { isStopped ? last : nil }

  /// Walks one range of an index until `body` returns false; the ranges of a view come with ascending prefixes.
  ///
  /// A cursor that is at the first entry of the range already need not look for it.
  mutating func run(
    _ range: KeyRange, prefix: KeyBytes, by cursor: inout RawCursor, startsAtCursor: Bool = false,
    _ body: (UUID) throws -> Bool
  ) throws {
    var isAtEntry: Bool
    if let start, prefix <= start.prefix {
      let resumed = start.indexKey(isReversed: isReversed)
      guard prefix == start.prefix, isReversed || resumed < range.upper else { return }
      isAtEntry = try begin(&cursor, range, after: resumed)
    } else {
      isAtEntry = startsAtCursor ? true : try begin(&cursor, range, after: nil)
    }
    var hasAccepted = false
    let bound = isReversed ? range.lower : range.upper
    while isAtEntry, cursor.keyBytes.precedes(bound.bytes) != isReversed {
      isStopped = try !body(cursor.keyBytes.idAtEnd)
      if isStopped { break }
      hasAccepted = true
      isAtEntry = try isReversed ? cursor.previous() : cursor.next()
    }
    if isStopped { return try findLast(&cursor, prefix: hasAccepted ? prefix : nil) }
    if hasAccepted { finished = (range, prefix) }
  }

  /// Finds the last accepted entry: the one before the entry that was refused, or the last one of an earlier range.
  ///
  /// Keeping each on the way would copy every key.
  private mutating func findLast(_ cursor: inout RawCursor, prefix: KeyBytes?) throws(LMDBError) {
    var isAtEntry = false
    if prefix != nil {
      isAtEntry = try isReversed ? cursor.next() : cursor.previous()
    } else if let range = finished?.range {
      isAtEntry =
        try isReversed ? cursor.move(toFirstAtOrAfter: range.lower) : cursor.move(toLastBefore: range.upper)
    }
    guard isAtEntry, let prefix = prefix ?? finished?.prefix else { return }
    last = ViewKey(prefix: prefix, try cursor.key(), isReversed: isReversed)
  }

  private func begin(
    _ cursor: inout RawCursor, _ range: KeyRange, after resumed: KeyBytes?
  ) throws(LMDBError) -> Bool {
    // A position from outside may lie anywhere.
    if isReversed { return try cursor.move(toLastBefore: resumed.map { min($0, range.upper) } ?? range.upper) }
    // A range further on than the position: of one day the completed tasks, where the open ones are done.
    guard let resumed, resumed >= range.lower else {
      return try cursor.move(toFirstAtOrAfter: range.lower)
    }
    guard try cursor.move(toFirstAtOrAfter: resumed) else { return false }
    return try cursor.key() == resumed ? try cursor.next() : true
  }
}

extension RawSpan {
  /// The id at the end of an index's key; the lowest for bytes that are too short to be a key.
  var idAtEnd: UUID {
    byteCount >= IDKey.width ? load(idAt: byteCount - IDKey.width) : .lowest
  }
}
