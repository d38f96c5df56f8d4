import Foundation
import LMDB

// Each view walks one index whose order is the view's own: nothing is sorted, with one exception. "Due on a day" puts
// the tasks of one day into the common order, since days begin at other instants in other time zones; Today needs
// those, too.

extension StoreTransaction where Base: ~Copyable {
  typealias ViewBody = (UUID, CalendarDay?) throws -> Bool

  /// Walks a view from a position of that view on, until `body` returns false.
  ///
  /// - Parameters:
  ///   - view: the view.
  ///   - position: where to go on; `nil` to begin.
  ///   - limit: how many tasks `body` accepts at most, if that is known: a query that must sort then keeps no more.
  ///   - body: takes a task and its section's day; returns whether to go on.
  /// - Returns: the position of the last accepted task if `body` refused one; `nil` if the walk came to the view's end.
  /// - Throws: `listNotFound`, or what `body` throws.
  func scan(_ view: TaskView, after position: ViewKey?, limit: Int? = nil, _ body: ViewBody) throws -> ViewKey? {
    try requireList(of: view)
    let definition = try definition(of: view)
    switch definition.walk {
    case .ranges(let ranges, let isReversed):
      return try scan(ranges, of: definition.index, isReversed: isReversed, after: position, body)
    case .today(let ranges):
      let due = try tasksDueTodayOnly()
      // On most days no task is only due. Walking the ranges alone is faster.
      if due.isEmpty { return try scan(ranges, of: definition.index, isReversed: false, after: position, body) }
      return try scanToday(ranges, of: definition.index, and: due, after: position, body)
    case .days(let days) where days.isPast: return try scanPast(days, in: definition.index, after: position, body)
    case .days(let days): return try scanUpcoming(days, in: definition.index, after: position, body)
    case .overdue: return try scanOverdue(after: position, body)
    case .due(let day): return try scanDue(on: day, after: position, body)
    case .query(let query):
      var work = QueryWork()
      return try scan(query, after: position, limit: limit, &work) { try body($0, nil) }
    }
  }

  /// Walks ranges of an index, one after the other.
  private func scan(
    _ ranges: [KeyRange], of index: RawIndex, isReversed: Bool, after position: ViewKey?, _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = RangeWalk(isReversed: isReversed, after: position)
    var cursor = try index.cursor(in: base)
    for (number, range) in ranges.enumerated() where !walk.isStopped {
      try walk.run(range, prefix: KeyBytes(UInt8(number)), by: &cursor) { try body($0, nil) }
    }
    return walk.stop
  }

  /// Throws `listNotFound` for the view of a list that does not exist.
  func requireList(of view: TaskView) throws {
    if case .list(let id) = view, try !tables.lists.contains(IDKey(id), in: base) { throw TallyError.listNotFound(id) }
  }

  /// Walks the open tasks of the past days, newest day first.
  private func scanPast(
    _ days: DayWalk, in index: RawIndex, after position: ViewKey?, _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = RangeWalk(isReversed: false, after: position)
    var cursor = try index.cursor(in: base)
    var next = try position.flatMap(days.dayNumber) ?? Self.lastDay(before: days.today, by: &cursor)
    while let number = next, !walk.isStopped {
      let day = CalendarDay(clamping: Int64(number))
      let range = KeyRange(of: number, isCompleted: false)
      try walk.run(range, prefix: days.prefix(of: number), by: &cursor) { try body($0, day) }
      next = try walk.isStopped ? nil : Self.lastDay(before: number, by: &cursor)
    }
    return walk.stop
  }

  private static func lastDay(before dayNumber: Int32, by cursor: inout RawCursor) throws -> Int32? {
    let end = KeyBytes(DayKey.start(of: dayNumber, isCompleted: false))
    return try cursor.move(toLastBefore: end) ? try DayKey(decoding: cursor.keyBytes).dayNumber : nil
  }

  /// Walks the days to come: of each day the open tasks, then the completed ones, which a second cursor follows.
  private func scanUpcoming(
    _ days: DayWalk, in index: RawIndex, after position: ViewKey?, _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = RangeWalk(isReversed: false, after: position)
    var open = try index.cursor(in: base)
    var completed = try index.cursor(in: base)
    var last = position.flatMap(days.dayNumber).map { $0 - 1 } ?? days.today
    _ = try open.move(toFirstAtOrAfter: KeyBytes(DayKey.end(of: last, isCompleted: false)))
    _ = try completed.move(toFirstAtOrAfter: KeyBytes(DayKey.end(of: last, isCompleted: true)))
    while !walk.isStopped {
      let openDay = try Self.day(after: last, isCompleted: false, by: &open)
      let completedDay = try Self.day(after: last, isCompleted: true, by: &completed)
      guard let number = openDay.map({ min($0, completedDay ?? $0) }) ?? completedDay else { break }
      let (day, prefix) = (CalendarDay(clamping: Int64(number)), days.prefix(of: number))
      if openDay == number {
        let range = KeyRange(of: number, isCompleted: false)
        try walk.run(range, prefix: prefix, by: &open, startsAtCursor: true) { try body($0, day) }
      }
      if completedDay == number, !walk.isStopped {
        let range = KeyRange(of: number, isCompleted: true)
        try walk.run(range, prefix: prefix, by: &completed, startsAtCursor: true) { try body($0, day) }
      }
      last = number
    }
    return walk.stop
  }

  /// Moves a cursor to the first task of the next day that has any; returns that day, or `nil` after the last one.
  private static func day(
    after dayNumber: Int32, isCompleted: Bool, by cursor: inout RawCursor
  ) throws -> Int32? {
    guard cursor.isAtEntry else { return nil }
    var key = try DayKey(decoding: cursor.keyBytes)
    // After a position, or a key that cannot be, the cursor is still at the last day.
    if key.isCompleted == isCompleted, key.dayNumber <= dayNumber, dayNumber < .max {
      let start = KeyBytes(DayKey.start(of: dayNumber + 1, isCompleted: isCompleted))
      guard try cursor.move(toFirstAtOrAfter: start) else { return nil }
      key = try DayKey(decoding: cursor.keyBytes)
    }
    return key.isCompleted == isCompleted && key.dayNumber > dayNumber ? key.dayNumber : nil
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
    var keys: [(key: ViewKey, id: UUID)] = []
    keys.reserveCapacity(32)
    try forEachTask(dueOn: day) { state, order, _ in keys.append((ViewKey(in: state, order, dueOn: day), order.id)) }
    return keys.sorted { $0.key < $1.key }
  }

  /// The tasks that are due on a day, with what their places follow from; no more of them is read.
  ///
  /// - Parameters:
  ///   - day: the day.
  ///   - planned: a day; the closure gets whether the task is planned for it.
  ///   - body: gets the state, the position and that.
  /// - Throws: what the closure and the storage throw.
  func forEachTask(
    dueOn day: CalendarDay, plannedFor planned: CalendarDay? = nil,
    _ body: (TaskState, OrderKey, _ isPlanned: Bool) throws -> Void
  ) throws {
    try forEachKey(dueOn: day) { id in
      guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
        throw TallyError.missingRecord(of: "a task index")
      }
      let fields = try TaskFields(bytes)
      // The index also has tasks with a reminder alone.
      guard try fields.isDue else { return }
      let order = OrderKey(
        sortOrder: fields.sortOrder, createdAtMicroseconds: try fields.createdAt.microsecondsSince1970, id: id)
      let isPlanned = if let planned { try fields.isPlanned(for: planned) } else { false }
      try body(try fields.state, order, isPlanned)
    }
  }

  /// The keys of a day: those of instants in it, then those of the day itself.
  private func forEachKey(dueOn day: CalendarDay, _ body: (UUID) throws -> Void) throws {
    let start = day.start(in: calendar).microsecondsSince1970
    let end = (try? day.adding(days: 1))?.start(in: calendar).microsecondsSince1970 ?? .max
    let latestEnd = end == .max ? end : end + longestRepeatInMicroseconds
    for kind in [DueKey.Kind.open, .completed] {
      try forEachKey(
        of: tables.byDue, from: DueKey(kind, .start(at: start)), to: DueKey(kind, .start(at: latestEnd))
      ) { key in
        let due = key.due.microseconds
        // Looking up the zone costs a microsecond, so it is done only where it matters.
        let isDoubtful = due - start < longestRepeatInMicroseconds || due >= end
        if isDoubtful, CalendarDay(containing: Timestamp(clamping: due), in: calendar) != day { return }
        try body(key.id)
      }
    }
    for isCompleted in [false, true] where day.dayNumber < .max {
      try forEachKey(
        of: tables.byDue, from: .start(of: day.dayNumber, isCompleted: isCompleted),
        to: .start(of: day.dayNumber + 1, isCompleted: isCompleted)
      ) { try body($0.id) }
    }
  }
}

/// The longest time of the day before that comes again after a day has begun.
///
/// Where clocks go back over midnight a day begins twice; an hour lay between in Newfoundland until 2011.
private let longestRepeatInMicroseconds: Int64 = 3 * 3_600_000_000

extension CalendarDay {
  /// An instant after the end of the day, in microseconds, also where the day repeats as clocks go back over midnight;
  /// `nil` for the last day.
  func endWithRepeats(in calendar: Calendar) -> Int64? {
    (try? adding(days: 1)).map { $0.start(in: calendar).microsecondsSince1970 + longestRepeatInMicroseconds }
  }
}
