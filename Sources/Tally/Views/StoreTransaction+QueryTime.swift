import Foundation
import LMDB

extension TaskView {
  /// Whether changes may concern tasks of the view that they do not name.
  func isUnpredictable(after changes: ChangeSet) -> Bool {
    guard let query else { return false }
    // A list gets another name; a task gets its first sub-task, or loses its last.
    return query.filter.namesLists && !changes.lists.all.isEmpty
      || query.filter.asksForParents && !changes.tasks.all.isEmpty
  }
}

extension TaskFilter {
  fileprivate var asksForParents: Bool { root.contains { $0 == .property(.parent) } }
}

extension StoreTransaction where Base: ~Copyable {
  /// Hands over the tasks that time alone may have moved into a query, or out of it, since an instant.
  ///
  /// - Returns: false if they cannot be listed, as at midnight, when `today` moves, or where no index has a field.
  func forEachTask(
    whosePlaceIn query: (filter: TaskFilter, order: TaskOrder), changedSince former: Timestamp,
    _ body: (UUID) -> Void
  ) throws -> Bool {
    guard day(of: former) == today else { return false }
    var shifts = TimeShifts()
    do {
      let lists = query.filter.namesLists ? try lists() : []
      shifts.compare(
        try predicate(of: query.filter, lists, at: former), try predicate(of: query.filter, lists, at: now))
    } catch let error as TallyError where error.code == .listNotFound {
      return false
    }
    if query.order.key == .next { shifts.addOverdue(from: former, to: now) }
    guard shifts.areKnown else { return false }
    for range in shifts.due { try forEachTask(of: tables.byDue.rawIndex, in: range, body) }
    for range in shifts.created { try forEachTask(of: tables.byCreated.rawIndex, in: range, body) }
    for range in shifts.completed { try forEachTask(of: tables.completions.rawIndex, in: range, body) }
    return true
  }

  /// What a filter means at a moment of today.
  private func predicate(
    of filter: TaskFilter, _ lists: [TaskList], at now: Timestamp
  ) throws -> RecordPredicate {
    let reference = DateReference(now: now, today: today, calendar: calendar)
    return try FilterResolution(reference, lists: lists).predicate(filter)
  }

  /// Hands over the tasks of a range of an index.
  func forEachTask(of index: RawIndex, in range: KeyRange, _ body: (UUID) -> Void) throws {
    var cursor = try index.cursor(in: base)
    var walk = RangeWalk(isReversed: false, after: nil)
    try walk.run(range, prefix: KeyBytes(), by: &cursor) { id in
      body(id)
      return true
    }
  }
}

/// The keys of tasks for which a filter means something else than before, as time has passed.
private struct TimeShifts {
  var due: [KeyRange] = []
  var created: [KeyRange] = []
  var completed: [KeyRange] = []
  /// Whether the keys are all.
  var areKnown = true

  /// Compares two resolutions of one filter, which differ in their instants alone.
  mutating func compare(_ old: RecordPredicate, _ new: RecordPredicate) {
    switch (old, new) {
    case (.test(let old), .test(let new)): if old != new { add(old, new) }
    case (.not(let old), .not(let new)): compare(old, new)
    case (.all(let old), .all(let new)), (.any(let old), .any(let new)):
      for (old, new) in zip(old, new) { compare(old, new) }
    default: if old != new { areKnown = false }
    }
  }

  mutating func addOverdue(from former: Timestamp, to now: Timestamp) {
    due.append(.openDue(min(former, now), max(former, now)))
  }

  private mutating func add(_ old: RecordTest, _ new: RecordTest) {
    switch (old, new) {
    case (.overdue(let former, _), .overdue(let now, _)):
      addOverdue(from: Timestamp(clamping: former), to: Timestamp(clamping: now))
    case (.due(.instant(_, let old), let oldDays), .due(.instant(_, let new), let newDays)) where oldDays == newDays:
      for kind in [DueKey.Kind.open, .completed] {
        due.append(
          KeyRange(DueKey(kind, .start(at: min(old, new))), DueKey(kind, .start(at: max(old, new) + 1))))
      }
    case (.created(.instant(_, let old)), .created(.instant(_, let new))):
      created.append(KeyRange(InstantKey.start(at: min(old, new)), InstantKey.start(at: max(old, new) + 1)))
    case (.completed(.instant(_, let old)), .completed(.instant(_, let new))):
      completed.append(
        KeyRange(
          CompletionKey(isTaskDeleted: false, completed: .start(at: min(old, new))),
          CompletionKey(isTaskDeleted: false, completed: .start(at: max(old, new) + 1))))
    default: areKnown = false
    }
  }
}
