import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The tasks that are due today and not planned for it, in the order of Today.
  ///
  /// They are sorted at each reading, as those of ``TaskView/due(on:)`` are: the cost is the tasks due today.
  func tasksDueTodayOnly() throws -> [(key: ViewKey, id: UUID)] {
    let today = today
    var found: [(key: ViewKey, id: UUID)] = []
    try forEachTask(dueOn: today, plannedFor: today) { state, order, isPlanned in
      if !isPlanned { found.append((ViewKey(in: state, order, inToday: today), order.id)) }
    }
    return found.sorted { $0.key < $1.key }
  }

  /// Walks the tasks planned for today, and puts those that are only due today between them.
  func scanToday(
    _ ranges: [KeyRange], of index: RawIndex, and due: [(key: ViewKey, id: UUID)], after position: ViewKey?,
    _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = TodayWalk(due: due, after: position)
    var cursor = try index.cursor(in: base)
    for (number, range) in ranges.enumerated() {
      let prefix = KeyBytes(UInt8(number))
      let start = position.flatMap { $0.prefix == prefix ? $0.indexKey(isReversed: false) : nil } ?? range.lower
      var isAtEntry = try cursor.move(toFirstAtOrAfter: max(start, range.lower))
      while isAtEntry, cursor.keyBytes.precedes(range.upper.bytes) {
        let key = ViewKey(prefix: prefix, try cursor.key(), isReversed: false)
        guard try walk.offerDue(before: key, body), try walk.offer(key, cursor.keyBytes.idAtEnd, body) else {
          return walk.last
        }
        isAtEntry = try cursor.next()
      }
    }
    return try walk.offerDue(before: nil, body) ? nil : walk.last
  }
}

/// Merges the planned tasks and the tasks that are only due, after a position.
private struct TodayWalk {
  private var due: ArraySlice<(key: ViewKey, id: UUID)>
  /// The position of the last accepted task.
  private(set) var last: ViewKey?

  init(due: [(key: ViewKey, id: UUID)], after position: ViewKey?) {
    (self.due, last) = (due[...], position)
  }

  /// Offers the tasks that are only due and come before a key, or all that are left; false if the body refused one.
  mutating func offerDue(
    before key: ViewKey?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> Bool {
    while let next = due.first, key.map({ next.key < $0 }) ?? true {
      guard try offer(next.key, next.id, body) else { return false }
      due.removeFirst()
    }
    return true
  }

  /// Offers a task unless it stands at or before the position; false if the body refused it.
  mutating func offer(
    _ key: ViewKey, _ id: UUID, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> Bool {
    if let last, key <= last { return true }
    guard try body(id, nil) else { return false }
    last = key
    return true
  }
}
