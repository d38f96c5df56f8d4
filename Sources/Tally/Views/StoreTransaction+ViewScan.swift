import Foundation
import LMDB

// Each view walks one index whose order is the view's own: nothing is sorted, with one exception. "Due on a day" puts
// the tasks of one day into the common order, since days begin at other instants in other time zones.

extension StoreTransaction where Base: ~Copyable {
  typealias ViewBody = (UUID, CalendarDay?) throws -> Bool

  /// Walks a view from a position of that view on, until `body` returns false.
  ///
  /// - Returns: the position of the last accepted task if `body` refused one; `nil` if the walk came to the view's end.
  func scan(_ view: TaskView, after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    if case .list(let id) = view, try !tables.lists.contains(IDKey(id), in: base) { throw TallyError.listNotFound(id) }
    let definition = definition(of: view)
    var cursor = try definition.index.cursor(in: base)
    switch definition.walk {
    case .ranges(let ranges, let isReversed):
      var walk = RangeWalk(isReversed: isReversed, after: position)
      for (number, range) in ranges.enumerated() where !walk.isStopped {
        try walk.run(range, prefix: [UInt8(number)], by: &cursor) { try body($0, nil) }
      }
      return walk.stop
    case .days(let days): return try scan(days, by: &cursor, after: position, body)
    case .due(let day): return try scanDue(on: day, after: position, body)
    }
  }

  /// Walks the days of a view: of each day the open tasks, then the completed ones.
  private func scan(
    _ days: DayWalk, by cursor: inout RawCursor, after position: ViewKey?, _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = RangeWalk(isReversed: false, after: position)
    var next = try position.flatMap { days.dayNumber(of: $0) } ?? dayNumber(of: days, beyond: days.today, by: &cursor)
    while let number = next {
      let day = CalendarDay(clamping: Int64(number))
      for isCompleted in days.isPast ? [false] : [false, true] where !walk.isStopped {
        let range = KeyRange(of: number, isCompleted: isCompleted)
        try walk.run(range, prefix: days.prefix(of: number), by: &cursor) { try body($0, day) }
      }
      if walk.isStopped { return walk.stop }
      next = try dayNumber(of: days, beyond: number, by: &cursor)
    }
    return nil
  }

  /// The next day of a view that has any task.
  private func dayNumber(of days: DayWalk, beyond dayNumber: Int32, by cursor: inout RawCursor) throws -> Int32? {
    if days.isPast {
      let end = DayKey.start(of: dayNumber, isCompleted: false).encodedBytes
      return try cursor.move(toLastBefore: end) ? try DayKey(decoding: cursor.keyBytes).dayNumber : nil
    }
    var found: [Int32] = []
    guard dayNumber < .max else { return nil }
    for isCompleted in [false, true] {
      let start = DayKey.start(of: dayNumber + 1, isCompleted: isCompleted).encodedBytes
      guard try cursor.move(toFirstAtOrAfter: start) else { continue }
      let key = try DayKey(decoding: cursor.keyBytes)
      // The walk advances whatever stands in the index: a key that cannot be may come before the place looked for.
      if key.isCompleted == isCompleted, key.dayNumber > dayNumber { found.append(key.dayNumber) }
    }
    return found.min()
  }

  /// Sorts the tasks due on a day into the common order; the cost is that day's tasks.
  private func scanDue(on day: CalendarDay, after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    var accepted = position
    for (key, id) in try tasksDue(on: day) where accepted.map({ $0 < key }) ?? true {
      guard try body(id, nil) else { return accepted }
      accepted = key
    }
    return nil
  }

  private func tasksDue(on day: CalendarDay) throws -> [(key: ViewKey, id: UUID)] {
    let start = day.start(in: calendar).microsecondsSince1970
    let end = (try? day.adding(days: 1))?.start(in: calendar).microsecondsSince1970 ?? .max
    let latestEnd = end == .max ? end : end + longestRepeatInMicroseconds
    var keys: [(key: ViewKey, id: UUID)] = []
    for isCompleted in [false, true] {
      try forEachKey(
        of: tables.byDue, from: DueKey(isCompleted: isCompleted, due: .start(at: start)),
        to: DueKey(isCompleted: isCompleted, due: .start(at: latestEnd))
      ) { key in
        let due = key.due.microseconds
        // The zone is asked only where it matters: that costs a microsecond.
        let isDoubtful = due - start < longestRepeatInMicroseconds || due >= end
        if isDoubtful, CalendarDay(containing: Timestamp(clamping: due), in: calendar) != day { return }
        keys.append((ViewKey(of: try indexedTask(key.id), dueOn: day), key.id))
      }
    }
    return keys.sorted { $0.key < $1.key }
  }
}

/// The longest time of the day before that comes again after a day has begun.
///
/// Where clocks go back over midnight a day begins twice; an hour lay between in Newfoundland until 2011.
private let longestRepeatInMicroseconds: Int64 = 3 * 3_600_000_000
