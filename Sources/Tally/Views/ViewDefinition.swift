import Foundation
import LMDB

/// A view for one clock and calendar: the index that it walks, the ranges of the index that it shows, the key of a task
/// and what time alone changes.
///
/// Five views are more than ranges of an index: Upcoming and Past are ranges per day, Overdue merges instants and days,
/// the tasks due on a day are sorted after they are found, because days begin at other instants in other zones, and
/// Today puts those between the tasks that are planned for the day.
struct ViewDefinition {
  enum Walk {
    case ranges([KeyRange], isReversed: Bool)
    /// The ranges have the tasks that are planned for today.
    case today([KeyRange])
    case days(DayWalk)
    case due(on: CalendarDay)
    case overdue
    /// The planner chooses the index, and the key of a task needs its record.
    case query(ResolvedQuery)
  }

  let index: RawIndex
  let walk: Walk
  /// The keys of tasks that time alone may have moved into the view or out of it since an instant.
  var changedRanges: (Timestamp) -> [IndexRange] = { _ in [] }
  /// The position of a task; `nil` for one that the view does not show.
  let key: (TaskRecord) -> ViewKey?
}

extension ViewDefinition {
  /// A view that shows some ranges of an index, one after the other.
  init<Definition: RecordIndex>(
    of definition: Definition.Type, _ table: Index<Definition.Key>, _ ranges: [KeyRange]
  ) where Definition.Source == TaskRecord {
    self.init(index: table.rawIndex, walk: .ranges(ranges, isReversed: false)) { record in
      var found: ViewKey?
      Definition.keys(of: record).forEach { key in
        let bytes = KeyBytes(key)
        guard found == nil, let number = ranges.firstIndex(where: { $0.contains(bytes) }) else { return }
        found = ViewKey(prefix: KeyBytes(UInt8(number)), bytes)
      }
      return found
    }
  }
}

/// Keys of one of the indexes.
struct IndexRange {
  let index: RawIndex
  let range: KeyRange
}

/// A table as bytes, for walks that are the same for all indexes.
typealias RawIndex = Database<KeyBytes, [UInt8]>

extension Database {
  /// The same index as bytes.
  var rawIndex: RawIndex { raw(keyedBy: KeyBytes.self) }
}

/// A cursor over the bytes of an index.
typealias RawCursor = Cursor<KeyBytes, [UInt8]>

extension KeyRange {
  /// The tasks of a list, or those of the inbox.
  static func place(_ listID: UUID?) -> KeyRange {
    KeyRange(
      PlaceKey(listID: listID, rankRawValue: 0, order: .lowest),
      PlaceKey(listID: listID, rankRawValue: StateRank.endRawValue, order: .lowest))
  }

  /// The tasks scheduled for some days: the open ones, then the completed ones.
  static func days(_ first: Int32, _ last: Int32) -> [KeyRange] {
    [false, true].map { KeyRange(DayKey.start(of: first, isCompleted: $0), .end(of: last, isCompleted: $0)) }
  }

  /// The open or the completed tasks scheduled for a day.
  init(of day: Int32, isCompleted: Bool) {
    self.init(DayKey.start(of: day, isCompleted: isCompleted), .end(of: day, isCompleted: isCompleted))
  }

  /// The open tasks that become overdue from an instant on, up to but not including another one.
  static func openDue(_ start: Timestamp, _ end: Timestamp) -> KeyRange {
    KeyRange(
      DueKey(.open, .start(at: start.microsecondsSince1970)), DueKey(.open, .start(at: end.microsecondsSince1970)))
  }

  /// The tasks, open and completed, that are due on the given days; the ranges may contain a few tasks of other days.
  static func due(_ first: CalendarDay, _ last: CalendarDay, in calendar: Calendar) -> [KeyRange] {
    let start = InstantKey.start(at: first.start(in: calendar).microsecondsSince1970)
    let end = last.endWithRepeats(in: calendar).map { InstantKey.start(at: $0) } ?? .start(at: .max)
    return [DueKey.Kind.open, .completed].map { KeyRange(DueKey($0, start), DueKey($0, end)) }
      + [false, true].map {
        KeyRange(
          DueKey.start(of: first.dayNumber, isCompleted: $0), DueKey.start(of: last.dayNumber + 1, isCompleted: $0))
      }
  }

  /// The open tasks due on a day from one on, up to but not including another one.
  static func openDueDays(_ first: Int32, _ end: Int32) -> KeyRange {
    KeyRange(DueKey.start(of: first, isCompleted: false), DueKey.start(of: end, isCompleted: false))
  }
}

extension ViewKey {
  /// The position of a task in Today; `nil` for one that is neither planned for today nor due today.
  init?(of task: TaskItem, inToday today: CalendarDay, in timeZone: TimeZone) {
    guard task.scheduledDate == today || task.dueDay(in: timeZone) == today else { return nil }
    self.init(in: task.state, OrderKey(of: task), inToday: today)
  }

  /// As if the task were planned for today: the planned tasks and the others have one order.
  init(in state: TaskState, _ order: OrderKey, inToday today: CalendarDay) {
    let isCompleted = state == .completed
    let key = DayKey(
      isCompleted: isCompleted, dayNumber: today.dayNumber, rankRawValue: StateRank(state).rawValue, order: order)
    self.init(prefix: KeyBytes(UInt8(isCompleted ? 1 : 0)), key)
  }

  /// The position of a task in the view of those due on a day.
  init(of task: TaskItem, dueOn day: CalendarDay) {
    self.init(in: task.state, OrderKey(of: task), dueOn: day)
  }

  init(in state: TaskState, _ order: OrderKey, dueOn day: CalendarDay) {
    let key = DayKey(
      isCompleted: state == .completed, dayNumber: day.dayNumber, rankRawValue: StateRank(state).rawValue, order: order)
    self.init(prefix: KeyBytes(), key)
  }
}
