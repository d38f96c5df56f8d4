import Foundation
import LMDB
public import TallyEngine

// Calls from other modules reach generic code, which looks up types at run time for each row: a quarter of a view's
// time. Reads of snapshots are therefore specialized. Inlinable code would be no slower, but would expose the storage.

extension StoreTransaction where Base: ~Copyable {
  /// Returns all tasks of a view.
  ///
  /// ```swift
  /// let today = try store.read { try $0.view(.today) }
  /// ```
  ///
  /// - Throws: `listNotFound` for a list that does not exist.
  /// - Complexity: The number of tasks shown, regardless of the size of the store.
  @_specialize(where Base == ReadTransaction)
  public func view(_ view: TaskView) throws -> ViewResult {
    var places = SectionPlaces(of: view)
    _ = try scan(view, after: nil) { id, day in
      places.append(id, on: day)
      return true
    }
    var completedCount = 0
    let sections = try places.sections { id in
      let task = try indexedTask(id)
      if task.isCompleted { completedCount += 1 }
      return task
    }
    return ViewResult(
      view: view, asOf: now, timeZone: calendar.timeZone, completedCount: completedCount, sections: sections)
  }

  /// Returns the next `limit` tasks of a view.
  ///
  /// ```swift
  /// var position: ViewPosition?
  /// repeat {
  ///   let page = try store.read { try $0.page(of: .all, after: position, limit: 50) }
  ///   show(page.tasks)
  ///   position = page.next
  /// } while position != nil
  /// ```
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - position: The `next` of the previous page; `nil` for the first page.
  ///   - limit: The maximum number of tasks, at least one.
  /// - Returns: The tasks, and the position to continue from.
  /// - Throws: `listNotFound` for a list that does not exist; `valueOutOfRange` for a limit below one or for
  ///   the position of another view.
  /// - Complexity: The number of tasks on the page, however far into the view it is.
  @_specialize(where Base == ReadTransaction)
  public func page(of view: TaskView, after position: ViewPosition? = nil, limit: Int) throws -> ViewPage {
    try checkPage(of: view, after: position, limit: limit)
    var places = SectionPlaces(of: view)
    var count = 0
    let next = try scan(view, after: position?.key, limit: limit) { id, day in
      guard count < limit else { return false }
      count += 1
      places.append(id, on: day)
      return true
    }
    let sections = try places.sections { try indexedTask($0) }
    return ViewPage(sections: sections, next: next.map { ViewPosition(view: view, key: $0) })
  }

  /// Checks that the limit is at least one, and that the position belongs to the view.
  func checkPage(of view: TaskView, after position: ViewPosition?, limit: Int) throws(TallyError) {
    guard limit > 0 else {
      throw TallyError(.valueOutOfRange, "A page of \(limit) tasks", remedy: "Ask for at least one task")
    }
    guard position.map({ $0.view == view }) ?? true else {
      throw TallyError(
        .valueOutOfRange, "The position belongs to another view",
        remedy: "Go on with the position of a page of the same view, or begin without one")
    }
  }

  /// Calls `body` with each task of a view and its section's day, one at a time and without collecting them.
  ///
  /// ```swift
  /// var firstLong: TaskItem?
  /// try store.read { snapshot in
  ///   try snapshot.forEachTask(in: .all) { task, _ in
  ///     if task.title.count > 80 { firstLong = task }
  ///     return firstLong == nil
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - body: Returns whether to continue.
  /// - Throws: The closure's errors, which end the walk; `listNotFound` for a list that does not exist.
  public func forEachTask(in view: TaskView, _ body: (TaskItem, CalendarDay?) throws -> Bool) throws {
    _ = try scan(view, after: nil) { id, day in try body(try indexedTask(id), day) }
  }
}

/// Collects the ids of the tasks in each section, as the index lists them.
///
/// The tasks are read once their number is known, because a growing array of tasks would move them repeatedly.
private struct SectionPlaces {
  private let hasDays: Bool
  private var finished: [(day: CalendarDay?, ids: [UUID])] = []
  private var day: CalendarDay?
  private var ids: [UUID] = []

  init(of view: TaskView) {
    hasDays = view.hasDaySections
  }

  mutating func append(_ id: UUID, on taskDay: CalendarDay?) {
    if hasDays, taskDay != day {
      if !ids.isEmpty { finished.append((day, ids)) }
      (day, ids) = (taskDay, [])
    }
    // With this capacity, a small view's array is allocated once.
    if ids.isEmpty { ids.reserveCapacity(32) }
    ids.append(id)
  }

  /// Reads the tasks and returns the sections; a view without days has one section even if it is empty.
  consuming func sections(reading task: (UUID) throws -> TaskItem) rethrows -> [ViewSection] {
    if !hasDays || !ids.isEmpty { finished.append((day, ids)) }
    return try finished.map { ViewSection(day: $0.day, tasks: try $0.ids.map(task)) }
  }
}

// Each view walks one index in the view's own order, so that nothing is sorted, with one exception. The tasks
// due on a day are sorted into the common order, because days begin at different instants in different time
// zones; Today needs those as well.

extension StoreTransaction where Base: ~Copyable {
  typealias ViewBody = (UUID, CalendarDay?) throws -> Bool

  /// Walks a view from a position on, until `body` returns false.
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - position: The position to continue from; `nil` for the beginning.
  ///   - limit: The maximum number of tasks that `body` accepts, if known; a query that has to sort then keeps no more.
  ///   - body: Receives a task and its section's day; returns whether to continue.
  /// - Returns: The position of the last accepted task if `body` refused one; `nil` if the walk reached the view's end.
  /// - Throws: `listNotFound`, or the errors of `body`.
  func scan(_ view: TaskView, after position: ViewKey?, limit: Int? = nil, _ body: ViewBody) throws -> ViewKey? {
    try requireList(of: view)
    let definition = try definition(of: view)
    if case .query(let query) = definition.walk {
      var work = QueryWork()
      return try scan(query, after: position, limit: limit, &work) { try body($0, nil) }
    }
    let hidden = try hiddenTasks(in: view)
    if hidden.isEmpty { return try scan(definition, after: position, body) }
    return try scan(definition, after: position) { id, day in
      if hidden.contains(id) { return true }
      return try body(id, day)
    }
  }

  /// Walks a view that is not a query, those tasks included that it hides.
  func scan(_ definition: ViewDefinition, after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    switch definition.walk {
    case .ranges(let ranges, let isReversed):
      return try scan(ranges, of: definition.index, isReversed: isReversed, after: position, body)
    case .today(let ranges):
      let today = today
      let due = try tasksDue(on: today, plannedFor: today) { ViewKey(in: $0, $1, inToday: today) }
      // On most days, no task is due today without being planned for it. Walking the ranges alone is faster.
      if due.isEmpty { return try scan(ranges, of: definition.index, isReversed: false, after: position, body) }
      return try scanToday(ranges, of: definition.index, and: due, after: position, body)
    case .days(let days) where days.isPast: return try scanPast(days, in: definition.index, after: position, body)
    case .days(let days): return try scanUpcoming(days, in: definition.index, after: position, body)
    case .overdue: return try scanOverdue(after: position, body)
    case .due(let day): return try scanDue(on: day, after: position, body)
    case .query(let query):
      var work = QueryWork()
      return try scan(query, after: position, limit: nil, &work) { try body($0, nil) }
    }
  }

  /// The open tasks of which a view shows none: those that wait for their start.
  ///
  /// - Complexity: One lookup in a store where no task waits; otherwise the number of those that do.
  func hiddenTasks(in view: TaskView) throws -> Set<UUID> {
    showsWaiting || !view.hidesWaiting ? [] : try waitingTasks(on: today)
  }

  /// Whether a view leaves out a task because that waits for its start.
  package func hides(_ task: TaskItem, in view: TaskView) -> Bool {
    !showsWaiting && view.hidesWaiting && task.isWaiting(on: today)
  }

  /// Walks consecutive ranges of an index.
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

  /// Throws `listNotFound` if the view is that of a list that does not exist.
  func requireList(of view: TaskView) throws {
    if case .list(let id) = view, try !tables.lists.contains(IDKey(id), in: base) { throw TallyError.listNotFound(id) }
  }

  /// Walks the open tasks of past days, newest day first.
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

  /// Walks the coming days: for each day the open tasks, then the completed ones, which a second cursor visits.
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

  /// Moves a cursor to the first task of the next day with tasks; returns that day, or `nil` after the last one.
  private static func day(
    after dayNumber: Int32, isCompleted: Bool, by cursor: inout RawCursor
  ) throws -> Int32? {
    guard cursor.isAtEntry else { return nil }
    var key = try DayKey(decoding: cursor.keyBytes)
    // After a position, or at an invalid key, the cursor is still in the last day.
    if key.isCompleted == isCompleted, key.dayNumber <= dayNumber, dayNumber < .max {
      let start = KeyBytes(DayKey.start(of: dayNumber + 1, isCompleted: isCompleted))
      guard try cursor.move(toFirstAtOrAfter: start) else { return nil }
      key = try DayKey(decoding: cursor.keyBytes)
    }
    return key.isCompleted == isCompleted && key.dayNumber > dayNumber ? key.dayNumber : nil
  }

  private func scanDue(on day: CalendarDay, after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    var accepted = position
    for (key, id) in try tasksDue(on: day, key: { ViewKey(in: $0, $1, dueOn: day) })
    where accepted.map({ $0 < key }) ?? true {
      guard try body(id, nil) else { return accepted }
      accepted = key
    }
    return nil
  }

  /// The tasks due on a day, without those planned for a day if one is given, in the order of their keys.
  ///
  /// They are sorted on each read; the cost is the number of that day's tasks.
  private func tasksDue(
    on day: CalendarDay, plannedFor planned: CalendarDay? = nil, key: (TaskState, OrderKey) -> ViewKey
  ) throws -> [(key: ViewKey, id: UUID)] {
    var found: [(key: ViewKey, id: UUID)] = []
    try forEachTask(dueOn: day, plannedFor: planned) { state, order, isPlanned in
      guard !isPlanned else { return }
      if found.isEmpty { found.reserveCapacity(32) }
      found.append((key(state, order), order.id))
    }
    return found.sorted { $0.key < $1.key }
  }

  /// Calls `body` with each task due on a day and the values that determine its position; nothing else is read.
  ///
  /// - Parameters:
  ///   - day: The day.
  ///   - planned: A day; the closure is told whether the task is planned for it.
  ///   - body: Receives the state, the position, and whether the task is planned for `planned`.
  /// - Throws: The errors of the closure and the storage.
  func forEachTask(
    dueOn day: CalendarDay, plannedFor planned: CalendarDay? = nil,
    _ body: (TaskState, OrderKey, _ isPlanned: Bool) throws -> Void
  ) throws {
    try forEachKey(dueOn: day) { id in
      guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
        throw TallyError.missingRecord(of: "a task index")
      }
      let fields = try TaskFields(bytes)
      // The index also contains tasks that have only a reminder.
      guard try fields.isDue else { return }
      let order = OrderKey(
        sortOrder: fields.sortOrder, createdAtMicroseconds: try fields.createdAt.microsecondsSince1970, id: id)
      let isPlanned = if let planned { try fields.isPlanned(for: planned) } else { false }
      try body(try fields.state, order, isPlanned)
    }
  }

  /// Visits the keys of a day: those of instants in it, then those of the day itself.
  private func forEachKey(dueOn day: CalendarDay, _ body: (UUID) throws -> Void) throws {
    let start = day.start(in: calendar).microsecondsSince1970
    let end = (try? day.adding(days: 1))?.start(in: calendar).microsecondsSince1970 ?? .max
    let latestEnd = end == .max ? end : end + longestRepeatInMicroseconds
    for kind in [DueKey.Kind.open, .completed] {
      try forEachKey(
        of: tables.byDue, from: DueKey(kind, .start(at: start)), to: DueKey(kind, .start(at: latestEnd))
      ) { key in
        let due = key.due.microseconds
        // Looking up the time zone takes a microsecond, so it is done only where the day is in doubt.
        let isDoubtful = due - start < longestRepeatInMicroseconds || due >= end
        if isDoubtful, CalendarDay(containing: Timestamp(clamping: due), in: calendar) != day { return }
        try body(key.id)
      }
    }
    let days = DueKey.microseconds(of: day.dayNumber)..<DueKey.microseconds(of: day.dayNumber + 1)
    try forEachFloating(from: days.lowerBound - QuarterHour.microsecondsPerDay, to: days.upperBound) { id, _, due in
      if CalendarDay(containing: due, in: calendar) == day { try body(id) }
    }
    for isCompleted in [false, true] where day.dayNumber < .max {
      try forEachKey(
        of: tables.byDue, from: .start(of: day.dayNumber, isCompleted: isCompleted),
        to: .start(of: day.dayNumber + 1, isCompleted: isCompleted)
      ) { try body($0.id) }
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The zone of wall-clock times; `nil` if the store has none.
  var zoneOfFloatingTimes: TimeZone? { get throws { try mayHaveDependencies ? calendar.timeZone : nil } }

  /// Calls a closure with each open task that is due at a wall-clock time within a span: its id, that time as in UTC,
  /// and the instant.
  ///
  /// A time that the clocks skip is after the gap, up to a day later.
  func forEachFloating(from start: Int64, to end: Int64, _ body: (UUID, Int64, Timestamp) throws -> Void) throws {
    guard let zone = try zoneOfFloatingTimes else { return }
    let (first, last) = (DueKey(.openFloating, .start(at: start)), DueKey(.openFloating, .start(at: end)))
    try forEachKey(of: tables.byDue, from: first, to: last) { key in
      let time = key.due.microseconds
      try body(key.id, time, Timestamp(wallClock: Timestamp(clamping: time), in: zone))
    }
  }
}

/// The longest time for which the previous day can come again after a day has begun.
///
/// If clocks go back over midnight, a day begins twice; in Newfoundland until 2011, an hour lay in between.
private let longestRepeatInMicroseconds: Int64 = 3 * 3_600_000_000

extension CalendarDay {
  /// An instant after the end of the day in microseconds since 1970, even if the day repeats because clocks go
  /// back over midnight; `nil` for the last day.
  func endWithRepeats(in calendar: Calendar) -> Int64? {
    (try? adding(days: 1)).map { $0.start(in: calendar).microsecondsSince1970 + longestRepeatInMicroseconds }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Walks the tasks planned for today, and merges in those that are only due today.
  func scanToday(
    _ ranges: [KeyRange], of index: RawIndex, and due: [(key: ViewKey, id: UUID)], after position: ViewKey?,
    _ body: ViewBody
  ) throws -> ViewKey? {
    var walk = TodayWalk(due: due[...], last: position)
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
  /// The due tasks that have not been offered yet.
  var due: ArraySlice<(key: ViewKey, id: UUID)>
  /// The position of the last accepted task.
  private(set) var last: ViewKey?

  /// Passes the tasks that are only due and come before a key, or all remaining ones, to `body`; false if it
  /// refused one.
  mutating func offerDue(
    before key: ViewKey?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> Bool {
    while let next = due.first, key.map({ next.key < $0 }) ?? true {
      guard try offer(next.key, next.id, body) else { return false }
      due.removeFirst()
    }
    return true
  }

  /// Passes a task after the position to `body`, and skips any other; false if it refused the task.
  mutating func offer(
    _ key: ViewKey, _ id: UUID, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> Bool {
    if let last, key <= last { return true }
    guard try body(id, nil) else { return false }
    last = key
    return true
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Walks the overdue tasks, oldest first, by merging two parts of the index, instants and days, with two cursors, and
  /// the tasks with wall-clock times.
  ///
  /// When a day ends depends on the time zone, so a single stored order for all zones is impossible. Wall-clock times are
  /// sorted: a series has one open task, and the clocks may change their order.
  func scanOverdue(after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    let start = position.map { position in
      let key = position.indexKey(isReversed: false)
      // An untrusted position may be too short.
      return key.encodedByteCount == InstantKey.width ? InstantKey(fields: key.bytes) : .start(at: .min)
    }
    var instants = try tables.byDue.cursor(in: base)
    var days = try tables.byDue.cursor(in: base)
    var isAtInstant = try instants.move(toFirstAtOrAfter: DueKey(.open, start ?? .start(at: .min)))
    let firstDay = start.map { CalendarDay(containing: Timestamp(clamping: $0.microseconds), in: calendar) }
    var isAtDay = try days.move(
      toFirstAtOrAfter: firstDay.map { .start(of: $0.dayNumber, isCompleted: false) }
        ?? DueKey(.openDay, .start(at: .min)))
    let (lastInstant, lastDay) = (
      DueKey(.open, .start(at: now.microsecondsSince1970)), DueKey.start(of: today.dayNumber, isCompleted: false)
    )
    var floating = try overdueFloating(after: position)[...]
    var accepted = position
    while true {
      let instant = isAtInstant ? try Self.overdueInstant(instants.key(), before: lastInstant) : nil
      let day = isAtDay ? try overdueDay(days.key(), before: lastDay) : nil
      let candidates = [instant, day, floating.first].compactMap { $0 }
      guard let next = candidates.min(by: { $0.key < $1.key }) else { return nil }
      if accepted.map({ $0 < next.key }) ?? true {
        guard try body(next.id, nil) else { return accepted }
        accepted = next.key
      }
      if next.key == instant?.key {
        isAtInstant = try instants.next()
      } else if next.key == day?.key {
        isAtDay = try days.next()
      } else {
        floating.removeFirst()
      }
    }
  }

  /// The overdue tasks with wall-clock times after a position, oldest first.
  private func overdueFloating(after position: ViewKey?) throws -> [(key: ViewKey, id: UUID)] {
    var found: [(key: ViewKey, id: UUID)] = []
    let last = now.wallClock(in: calendar.timeZone).microsecondsSince1970 + QuarterHour.microsecondsPerDay
    try forEachFloating(from: .min, to: last) { id, _, due in
      let key = ViewKey(overdue: due.microsecondsSince1970, id)
      if due < now, position.map({ $0 < key }) ?? true { found.append((key, id)) }
    }
    return found.sorted { $0.key < $1.key }
  }

  private static func overdueInstant(_ key: DueKey, before end: DueKey) -> (key: ViewKey, id: UUID)? {
    guard key.encodedBytes.lexicographicallyPrecedes(end.encodedBytes) else { return nil }
    return (ViewKey(overdue: key.due.microseconds, key.id), key.id)
  }

  private func overdueDay(_ key: DueKey, before end: DueKey) -> (key: ViewKey, id: UUID)? {
    guard key.encodedBytes.lexicographicallyPrecedes(end.encodedBytes) else { return nil }
    return (ViewKey(overdue: CalendarDay(clamping: Int64(key.dayNumber)), key.id, in: calendar), key.id)
  }
}

extension ViewKey {
  /// The position of a task that becomes overdue after an instant.
  init(overdue microseconds: Int64, _ id: UUID) {
    self.init(prefix: KeyBytes(), InstantKey(microseconds: microseconds, id: id))
  }

  /// The position of a task that becomes overdue at the end of a day.
  init(overdue day: CalendarDay, _ id: UUID, in calendar: Calendar) {
    self.init(overdue: day.end(in: calendar.timeZone).microsecondsSince1970, id)
  }
}

/// A walk over consecutive ranges of an index that can stop and be resumed later.
struct RangeWalk {
  private let isReversed: Bool
  private let start: ViewKey?
  /// The position of the last accepted task.
  private var last: ViewKey?
  private(set) var isStopped = false
  /// The last fully walked range in which a task was accepted.
  private var finished: (range: KeyRange, prefix: KeyBytes)?

  /// Resumes after a position, whose task need not exist any more.
  init(isReversed: Bool, after position: ViewKey?) {
    self.isReversed = isReversed
    (start, last) = (position, position)
  }

  /// The position at which the walk stopped; `nil` if it did not stop.
  var stop: ViewKey? { isStopped ? last : nil }

  /// Walks a range of an index until `body` returns false; the ranges of a view have ascending prefixes.
  ///
  /// With `startsAtCursor`, the cursor is already at the first entry of the range.
  mutating func run(
    _ range: KeyRange, prefix: KeyBytes, by cursor: inout RawCursor, startsAtCursor: Bool = false,
    _ body: (UUID) throws -> Bool
  ) throws {
    var isAtEntry: Bool
    if let start, prefix <= start.prefix {
      let resumed = start.indexKey(isReversed: isReversed)
      guard prefix == start.prefix, isReversed || resumed < range.upper else { return }
      isAtEntry = try range.begin(&cursor, after: resumed, isReversed: isReversed)
    } else {
      isAtEntry = startsAtCursor ? true : try range.begin(&cursor, after: nil, isReversed: isReversed)
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

  /// Finds the last accepted entry: the one before the refused entry, or the last one of an earlier range.
  ///
  /// Remembering each entry on the way would copy every key.
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
}

extension KeyRange {
  /// Moves a cursor to the first entry of the range, or to the last one if the walk is reversed.
  ///
  /// After a position, it is the entry after that; an untrusted position may lie anywhere, and so may one in another range.
  func begin(_ cursor: inout RawCursor, after start: KeyBytes?, isReversed: Bool) throws(LMDBError) -> Bool {
    if isReversed { return try cursor.move(toLastBefore: start.map { min($0, upper) } ?? upper) }
    guard let start, start >= lower else { return try cursor.move(toFirstAtOrAfter: lower) }
    guard try cursor.move(toFirstAtOrAfter: start) else { return false }
    return try cursor.key() == start ? try cursor.next() : true
  }
}

extension RawSpan {
  /// The id at the end of an index key; the lowest id if there are too few bytes for a key.
  var idAtEnd: UUID {
    byteCount >= IDKey.width ? load(idAt: byteCount - IDKey.width) : .lowest
  }
}

/// The days of Upcoming, from tomorrow forward, or of Past, from yesterday backward.
struct DayWalk {
  let isPast: Bool
  /// The number of the current day.
  let today: Int32

  /// The position of a task with a day; `nil` if the view does not show it.
  func key(_ key: DayKey) -> ViewKey? {
    guard isPast ? key.dayNumber < today && !key.isCompleted : key.dayNumber > today else { return nil }
    return ViewKey(prefix: prefix(of: key.dayNumber), key)
  }

  /// Bytes whose order is that of the view's days.
  func prefix(of dayNumber: Int32) -> KeyBytes {
    isPast ? KeyBytes(dayNumber).flipped : KeyBytes(dayNumber)
  }

  /// The day of a position; `nil` if the view no longer shows that day, as after midnight.
  func dayNumber(of position: ViewKey) -> Int32? {
    let bytes = isPast ? position.prefix.flipped : position.prefix
    guard let number = try? Int32(decoding: bytes.bytes) else { return nil }
    return (isPast ? number < today : number > today) ? number : nil
  }
}
