import Foundation
import LMDB

/// The paths that conditions open, for the tables of a store and an order.
struct QueryPaths {
  let tables: Tables
  let order: TaskOrder
  /// The states that a task can have; a bit for each raw value.
  let states: UInt8

  /// The path through every task.
  var whole: QueryPath {
    QueryPath(
      name: .tasks, table: tables.tasks.rawIndex, ranges: [KeyRange(IDKey(.lowest), nil)], covered: [],
      keyOrder: nil)
  }

  /// The path of a condition that every task must meet; `nil` if no index has it.
  func path(for test: RecordTest) -> QueryPath? {
    switch test {
    case .tag(let tag):
      var path = group(.byTag, tables.byTag.rawIndex, tag.id, covering: test)
      path.scope = .tag(tag.id)
      return path
    case .parent(let id): return group(.byParent, tables.byParent.rawIndex, id, covering: test)
    case .lists(let ids): return places(ids.map { $0 }, covering: test)
    case .inbox: return places([nil], covering: test)
    case .states(let states): return path(forStates: states)
    case .day(let test): return days(test)
    case .has(.scheduledDate): return days(nil)
    case .has(.parentID):
      return QueryPath(
        name: .byParent, table: tables.byParent.rawIndex, ranges: [KeyRange(GroupKey.lowest, nil)], covered: [test])
    case .created(let test): return created(test.span)
    case .completed(let test): return completed(test.span)
    case .has(.completedAt): return completed(nil, covering: test)
    case .reminder(let test): return reminders(test.span)
    case .has(.reminderDate): return reminders(nil)
    default: return duePath(for: test)
    }
  }

  /// The path that is in the query's order whatever the filter.
  var ordered: QueryPath? { order.key == .created ? created(nil) : nil }

  private func path(forStates states: UInt8) -> QueryPath? {
    switch TaskState.allCases.filter({ states & 1 << $0.rawValue != 0 }) {
    case [.active]:
      QueryPath(
        name: .byActive, table: tables.byActive.rawIndex, ranges: [KeyRange(OrderKey.lowest, nil)],
        covered: [.states(states)],
        keyOrder: order.key == .place ? .init(prefixByteCount: 0, skippedByteCount: 1) : nil)
    case [.completed]: completed(nil, covering: .states(states))
    default: nil
    }
  }

  /// The ranks of the states, as few ranges as possible.
  private var ranks: [Range<UInt8>] {
    var ranges: [Range<UInt8>] = []
    let ranks = TaskState.allCases.filter { states & 1 << $0.rawValue != 0 }.map { StateRank($0).rawValue }.sorted()
    for rank in ranks {
      if let last = ranges.last, last.upperBound == rank {
        ranges[ranges.count - 1] = last.lowerBound..<(rank + 1)
      } else {
        ranges.append(rank..<(rank + 1))
      }
    }
    return ranges
  }

  private func group(_ name: TableName, _ table: RawIndex, _ id: UUID, covering test: RecordTest) -> QueryPath {
    QueryPath(
      name: name, table: table, ranges: ranks.map { .group(id, $0) }, covered: [test, .states(states)],
      keyOrder: order.key == .place ? .init(prefixByteCount: GroupKey.width - OrderKey.width - 1) : nil)
  }

  private func places(_ ids: [UUID?], covering test: RecordTest) -> QueryPath {
    let isOrdered = ids.count == 1 && order.key == .place
    var path = QueryPath(
      name: .byPlace, table: tables.byPlace.rawIndex,
      ranges: ids.flatMap { id in ranks.map { .place(id, $0) } }, covered: [test, .states(states)],
      keyOrder: isOrdered ? .init(prefixByteCount: PlaceKey.width - OrderKey.width - 1) : nil)
    if ids.count == 1, let id = ids[0] { path.scope = .list(id) }
    return path
  }

  /// The flags of open and completed tasks in an index that has them apart.
  private var completions: [Bool] {
    [false, true].filter { states & ($0 ? ~RecordTest.openStates : RecordTest.openStates) != 0 }
  }

  private func days(_ test: DayTest?) -> QueryPath {
    let (first, last) = (Int32(clamping: test?.first ?? .min), Int32(clamping: test?.last ?? .max))
    let isOneDay = test.map { $0.first == $0.last } ?? false
    let ranges = completions.map { KeyRange(DayKey.start(of: first, isCompleted: $0), .end(of: last, isCompleted: $0)) }
    return QueryPath(
      name: .byDay, table: tables.byDay.rawIndex, ranges: ranges.filter { $0.lower <= $0.upper },
      covered: [test.map { .day($0) } ?? .has(.scheduledDate)],
      keyOrder: isOneDay && order.key == .place
        ? .init(prefixByteCount: DayKey.width - OrderKey.width - 1) : nil)
  }

  private func created(_ span: Range<Int64>?) -> QueryPath {
    QueryPath(
      name: .byCreated, table: tables.byCreated.rawIndex, ranges: [.instants(span)],
      keyOrder: order.key == .created ? .init(prefixByteCount: 0, isReversed: order.isReversed) : nil)
  }

  private func completed(_ span: Range<Int64>?, covering test: RecordTest? = nil) -> QueryPath {
    let range = KeyRange(
      CompletionKey(isTaskDeleted: false, completed: .start(at: span?.lowerBound ?? .min)),
      CompletionKey(isTaskDeleted: span == nil, completed: .start(at: span?.upperBound ?? .min)))
    return QueryPath(
      name: .completions, table: tables.completions.rawIndex, ranges: [range],
      covered: test.map { [$0, .done] } ?? [.done],
      keyOrder: order.key == .completed
        ? .init(prefixByteCount: 1, skippedByteCount: 1, isReversed: !order.isReversed) : nil)
  }

  /// Open tasks with a reminder; completed ones are in no index.
  private func reminders(_ span: Range<Int64>?) -> QueryPath? {
    guard states & ~RecordTest.openStates == 0 else { return nil }
    return QueryPath(name: .byReminder, table: tables.byReminder.rawIndex, ranges: [.instants(span)])
  }
}

extension QueryPaths {
  private func duePath(for test: RecordTest) -> QueryPath? {
    let ranges: [KeyRange]
    var covered: [RecordTest] = []
    switch test {
    case .isDue:
      ranges = completions.flatMap { isCompleted in
        [KeyRange.due(isCompleted ? .completed : .open, nil), .due(isCompleted ? .completedDay : .openDay, nil)]
      }
    case .due(let instants, let days):
      ranges = completions.flatMap { isCompleted in
        [
          KeyRange.due(isCompleted ? .completed : .open, instants.span),
          .due(isCompleted ? .completedDay : .openDay, days.instants),
        ]
      }
    case .overdue(let now, let today):
      ranges = [
        .due(.open, .min..<now), .due(.openDay, .min..<DueKey.microseconds(of: today)),
      ]
      covered = [test, .open]
    default: return nil
    }
    return QueryPath(name: .byDue, table: tables.byDue.rawIndex, ranges: ranges, covered: covered)
  }
}

extension DayTest {
  /// The instants that name the days in `byDue`.
  fileprivate var instants: Range<Int64> {
    let (first, last) = (
      CalendarDay(clamping: first).dayNumber, CalendarDay(clamping: min(last, Int64(Int32.max))).dayNumber
    )
    let start = DueKey.microseconds(of: first)
    return start..<max(start, self.first <= self.last ? DueKey.microseconds(of: last) + 1 : start)
  }
}

extension KeyRange {
  fileprivate static func instants(_ span: Range<Int64>?) -> KeyRange {
    guard let span else { return KeyRange(InstantKey.start(at: .min), nil) }
    return KeyRange(InstantKey.start(at: span.lowerBound), InstantKey.start(at: span.upperBound))
  }

  fileprivate static func due(_ kind: DueKey.Kind, _ span: Range<Int64>?) -> KeyRange {
    KeyRange(
      DueKey(kind, .start(at: span?.lowerBound ?? .min)), DueKey(kind, .start(at: span?.upperBound ?? .max)))
  }

  /// The tasks of a list, or of the inbox, with some ranks.
  fileprivate static func place(_ listID: UUID?, _ ranks: Range<UInt8>) -> KeyRange {
    KeyRange(
      PlaceKey(listID: listID, rankRawValue: ranks.lowerBound, order: .lowest),
      PlaceKey(listID: listID, rankRawValue: ranks.upperBound, order: .lowest))
  }
}

extension GroupKey {
  fileprivate static let lowest = GroupKey(groupID: .lowest, rankRawValue: 0, order: .lowest)
}
