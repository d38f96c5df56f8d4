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
  private var finished: (range: KeyRange, prefix: [UInt8])?

  /// Goes on after a position, whose task need not exist any more.
  init(isReversed: Bool, after position: ViewKey?) {
    self.isReversed = isReversed
    (start, last) = (position, position)
  }

  /// Where the walk was stopped; `nil` if it was not.
  var stop: ViewKey? { isStopped ? last : nil }

  /// Walks one range of an index until `body` returns false; the ranges of a view come with ascending prefixes.
  mutating func run(
    _ range: KeyRange, prefix: [UInt8], by cursor: inout RawCursor, _ body: (UUID) throws -> Bool
  ) throws {
    if let start, prefix.lexicographicallyPrecedes(start.prefix) { return }
    let resumed = start.flatMap { $0.prefix == prefix ? $0.indexKey(isReversed: isReversed) : nil }
    var isAtEntry = try begin(&cursor, range, after: resumed)
    var hasAccepted = false
    while isAtEntry, isInside(range, cursor.keyBytes) {
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
  private mutating func findLast(_ cursor: inout RawCursor, prefix: [UInt8]?) throws(LMDBError) {
    var isAtEntry = false
    if prefix != nil {
      isAtEntry = try isReversed ? cursor.next() : cursor.previous()
    } else if let range = finished?.range {
      if isReversed {
        isAtEntry = try cursor.move(toFirstAtOrAfter: range.lower)
      } else if let end = range.upper {
        isAtEntry = try cursor.move(toLastBefore: end)
      }
    }
    guard isAtEntry, let prefix = prefix ?? finished?.prefix else { return }
    last = ViewKey(prefix: prefix, cursor.keyBytes.bytes(from: 0), isReversed: isReversed)
  }

  private func begin(
    _ cursor: inout RawCursor, _ range: KeyRange, after resumed: [UInt8]?
  ) throws(LMDBError) -> Bool {
    if isReversed {
      guard let end = resumed ?? range.upper else { return try cursor.moveToLast() }
      return try cursor.move(toLastBefore: end)
    }
    // A range further on than the position: of one day the completed tasks, where the open ones are done.
    guard let resumed, !resumed.lexicographicallyPrecedes(range.lower) else {
      return try cursor.move(toFirstAtOrAfter: range.lower)
    }
    let isAtEntry = try cursor.move(toFirstAtOrAfter: resumed)
    let isResumed = isAtEntry && !cursor.keyBytes.precedes(resumed) && cursor.keyBytes.bytes(from: 0) == resumed
    return isResumed ? try cursor.next() : isAtEntry
  }

  private func isInside(_ range: KeyRange, _ key: RawSpan) -> Bool {
    if isReversed { return !key.precedes(range.lower) }
    return range.upper.map { key.precedes($0) } ?? true
  }
}

extension RawSpan {
  /// The id at the end of an index's key; the lowest for bytes that are too short to be a key.
  fileprivate var idAtEnd: UUID {
    byteCount >= IDKey.width ? load(idAt: byteCount - IDKey.width) : .lowest
  }
}
