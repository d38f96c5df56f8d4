import Foundation
import LMDB

// Each view walks one index whose order is the view's own: nothing is sorted, with one exception. "Due on a day" puts
// the tasks of one day into the common order, since days begin at other instants in other time zones.

extension StoreTransaction where Base: ~Copyable {
  /// Walks a view from a position of that view on, until `body` returns false.
  ///
  /// - Returns: behind the last accepted task if `body` refused one; `nil` if the walk came to the view's end.
  func scan(
    _ view: TaskView, after position: ViewPosition.Key?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> ViewPosition.Key? {
    switch view {
    case .inbox: try scanPlace(listID: nil, after: position, body)
    case .list(let id): try scanList(id, after: position, body)
    case .today: try scanToday(after: position, body)
    case .upcoming: try scanUpcoming(after: position, body)
    case .past: try scanPast(after: position, body)
    case .overdue: try scanOverdue(after: position, body)
    case .due(let day): try scanDue(on: day, after: position, body)
    case .active: try scanActive(after: position, body)
    case .completed(let interval): try scanCompleted(in: interval, after: position, body)
    case .all: try scanAll(after: position, body)
    }
  }

  private typealias Body = (UUID, CalendarDay?) throws -> Bool

  private func scanList(_ id: UUID, after position: ViewPosition.Key?, _ body: Body) throws -> ViewPosition.Key? {
    guard try tables.lists.contains(IDKey(id), in: base) else { throw TallyError.listNotFound(id) }
    return try scanPlace(listID: id, after: position, body)
  }

  private func scanPlace(listID: UUID?, after position: ViewPosition.Key?, _ body: Body) throws -> ViewPosition.Key? {
    let last: PlaceKey? = try position?.extract { if case .place(let key) = $0 { key } else { nil } }
    let stop = try scan(
      tables.byPlace, from: PlaceKey(listID: listID, rankRawValue: 0, order: .lowest),
      to: PlaceKey(listID: listID, rankRawValue: StateRank.endRawValue, order: .lowest), after: last
    ) { try body($0.id, nil) }
    return stop.map { .place($0) }
  }

  private func scanOverdue(after position: ViewPosition.Key?, _ body: Body) throws -> ViewPosition.Key? {
    let last: DueKey? = try position?.extract { if case .due(let key) = $0 { key } else { nil } }
    let stop = try scan(
      tables.byDue, from: DueKey(isCompleted: false, due: .start(at: .min)),
      to: DueKey(isCompleted: false, due: .start(at: now.microsecondsSince1970)), after: last
    ) { try body($0.id, nil) }
    return stop.map { .due($0) }
  }

  private func scanActive(after position: ViewPosition.Key?, _ body: Body) throws -> ViewPosition.Key? {
    let last: OrderKey? = try position?.extract { if case .order(let key) = $0 { key } else { nil } }
    let stop = try scan(tables.byActive, from: .lowest, after: last) { try body($0.id, nil) }
    return stop.map { .order($0) }
  }

  private func scanCompleted(
    in interval: Range<Timestamp>?, after position: ViewPosition.Key?, _ body: Body
  ) throws -> ViewPosition.Key? {
    let last: CompletionKey? = try position?.extract { if case .completion(let key) = $0 { key } else { nil } }
    let start = interval?.lowerBound.microsecondsSince1970 ?? .min
    let end = interval?.upperBound.microsecondsSince1970 ?? .max
    let stop = try scanReversed(
      tables.completions, from: CompletionKey(isTaskDeleted: false, completed: .start(at: start)),
      to: CompletionKey(isTaskDeleted: false, completed: .start(at: end)), after: last
    ) { try body($0.id, nil) }
    return stop.map { .completion($0) }
  }

  private func scanAll(after position: ViewPosition.Key?, _ body: Body) throws -> ViewPosition.Key? {
    let last: InstantKey? = try position?.extract { if case .creation(let key) = $0 { key } else { nil } }
    let stop = try scan(tables.byCreated, from: .start(at: .min), after: last) { try body($0.id, nil) }
    return stop.map { .creation($0) }
  }

  /// Sorts the tasks due on a day into the common order; the cost is that day's tasks.
  private func scanDue(
    on day: CalendarDay, after position: ViewPosition.Key?, _ body: Body
  ) throws -> ViewPosition.Key? {
    var accepted: DayKey? = try position?.extract { if case .day(let key) = $0 { key } else { nil } }
    for key in try tasksDue(on: day) where accepted.map({ $0 < key }) ?? true {
      guard try body(key.id, nil) else { return accepted.map { .day($0) } }
      accepted = key
    }
    return nil
  }

  private func tasksDue(on day: CalendarDay) throws -> [DayKey] {
    let start = day.start(in: calendar).microsecondsSince1970
    let end = (try? day.adding(days: 1))?.start(in: calendar).microsecondsSince1970 ?? .max
    let latestEnd = end == .max ? end : end + longestRepeatInMicroseconds
    var keys: [DayKey] = []
    for isCompleted in [false, true] {
      _ = try scan(
        tables.byDue, from: DueKey(isCompleted: isCompleted, due: .start(at: start)),
        to: DueKey(isCompleted: isCompleted, due: .start(at: latestEnd))
      ) { key in
        let due = key.due.microseconds
        // The zone is asked only where it matters: that costs a microsecond.
        let isDoubtful = due - start < longestRepeatInMicroseconds || due >= end
        if isDoubtful, CalendarDay(containing: Timestamp(clamping: due), in: calendar) != day { return true }
        let task = try indexedTask(key.id)
        keys.append(
          DayKey(
            isCompleted: isCompleted, dayNumber: day.dayNumber, rankRawValue: StateRank(task.state).rawValue,
            order: OrderKey(of: task)))
        return true
      }
    }
    return keys.sorted()
  }
}

/// Where clocks go back over midnight a day begins twice, and some time of the day before lies between: an hour in
/// St. John's until 2011. No zone has repeated more than this there.
private let longestRepeatInMicroseconds: Int64 = 3 * 3_600_000_000

extension ViewPosition.Key {
  /// The key as one of the index that a view walks.
  func extract<Key>(_ extract: (ViewPosition.Key) -> Key?) throws -> Key {
    guard let key = extract(self) else { throw TallyError.foreignPosition }
    return key
  }
}

extension TallyError {
  static let foreignPosition = TallyError(
    .valueOutOfRange, "The position belongs to another view",
    remedy: "Go on with the position of a page of the same view, or begin without one")
}
