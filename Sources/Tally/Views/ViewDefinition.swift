import Foundation
import LMDB

/// A view for one clock and calendar: the index that it walks, the ranges of the index that it shows, the key of a task
/// and what time alone changes.
///
/// Four views are more than ranges of an index: Upcoming and Past are ranges per day, Overdue merges instants and days, and
/// the tasks due on a day are sorted after they are found, because days begin at other instants in other zones.
struct ViewDefinition {
  enum Walk {
    case ranges([KeyRange], isReversed: Bool)
    case days(DayWalk)
    case due(on: CalendarDay)
    case overdue
    /// The planner chooses the index, and the key of a task needs its record.
    case query(ResolvedQuery)
  }

  let index: RawIndex
  let walk: Walk
  /// The keys of tasks that time alone may have moved into the view or out of it since an instant.
  var changedRanges: (Timestamp) -> [KeyRange] = { _ in [] }
  /// The position of a task; `nil` for one that the view does not show.
  let key: (TaskRecord) -> ViewKey?
}

extension ViewDefinition {
  /// A view that shows some ranges of an index, one after the other.
  init<Definition: RecordIndex>(
    of definition: Definition.Type, _ table: Index<Definition.Key>, _ ranges: [KeyRange],
    changedRanges: @escaping (Timestamp) -> [KeyRange] = { _ in [] }
  ) where Definition.Source == TaskRecord {
    self.init(index: table.rawIndex, walk: .ranges(ranges, isReversed: false), changedRanges: changedRanges) { record in
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

  /// The open tasks due on a day from one on, up to but not including another one.
  static func openDueDays(_ first: Int32, _ end: Int32) -> KeyRange {
    KeyRange(DueKey.start(of: first, isCompleted: false), DueKey.start(of: end, isCompleted: false))
  }
}

extension ViewKey {
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
