public import Foundation
import LMDB

/// One of the ways to look at a store's tasks.
///
/// Unless it says otherwise, a view lists active tasks first, then those not started, then the completed ones;
/// inside a state by `sortOrder`, then `createdAt`, then `id`.
public enum TaskView: Hashable, Sendable {
  /// The tasks with no list and no scheduled day, in any state.
  case inbox
  /// The tasks scheduled for the current day or due on it, each once; completed ones stay visible.
  case today
  /// The tasks scheduled after today, in sections by day.
  case upcoming
  /// The open tasks scheduled before today, in sections by day, newest day first.
  case past
  /// The tasks of one list.
  case list(UUID)
  /// The open tasks that are late, oldest first: whose due date has passed, whose due day has ended, or, for those with
  /// neither, whose reminder has passed.
  case overdue
  /// The tasks due on a day or at an instant inside that local day, in any state.
  case due(on: CalendarDay)
  /// The active tasks of every place.
  case active
  /// The tasks completed in an interval, or ever, newest first; the interval's end is not part of it.
  case completed(Range<Timestamp>?)
  /// Every task, by creation.
  case all
  /// The open tasks in the order in which to do them: see ``TaskOrder/Key/next``.
  case next
  /// The tasks that a filter finds, in an order.
  case matching(TaskFilter, by: TaskOrder)

  /// The view's name, which stays the same from version to version: `inbox`, `today` and so on.
  public var name: String {
    switch self {
    case .inbox: "inbox"
    case .today: "today"
    case .upcoming: "upcoming"
    case .past: "past"
    case .list: "list"
    case .overdue: "overdue"
    case .due: "due"
    case .active: "active"
    case .completed: "completed"
    case .all: "all"
    case .next: "next"
    case .matching: "matching"
    }
  }

  /// The filter and the order of a view that no index has as a whole; `nil` for any other.
  var query: (filter: TaskFilter, order: TaskOrder)? {
    switch self {
    case .next: (.is(.open), .next)
    case .matching(let filter, let order): (filter, order)
    default: nil
    }
  }

  /// Whether the view shows its tasks in sections by day.
  public var hasDaySections: Bool {
    self == .upcoming || self == .past
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The definition of a view for this transaction's clock and calendar.
  ///
  /// - Throws: for a query, `listNotFound` and what else resolving its filter throws.
  func definition(of view: TaskView) throws -> ViewDefinition {
    switch view {
    case .inbox: ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(nil)])
    case .list(let id): ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(id)])
    case .active: ViewDefinition(of: ByActive.self, tables.byActive, [KeyRange(OrderKey.lowest, nil)])
    case .all: ViewDefinition(of: ByCreated.self, tables.byCreated, [KeyRange(InstantKey.start(at: .min), nil)])
    case .overdue: overdueDefinition
    case .today: todayDefinition
    case .upcoming: daysDefinition(DayWalk(isPast: false, today: today.dayNumber))
    case .past: daysDefinition(DayWalk(isPast: true, today: today.dayNumber))
    case .due(let day): dueDefinition(day)
    case .completed(let interval): completedDefinition(interval)
    case .next: try queryDefinition(.is(.open), .next)
    case .matching(let filter, let order): try queryDefinition(filter, order)
    }
  }

  private func queryDefinition(_ filter: TaskFilter, _ order: TaskOrder) throws -> ViewDefinition {
    ViewDefinition(index: tables.tasks.rawIndex, walk: .query(try resolved(filter, by: order))) { _ in nil }
  }

  private var todayDefinition: ViewDefinition {
    let (today, timeZone) = (today, calendar.timeZone)
    let (changedDays, changedDueDays) = (changedDays, changedDueDays)
    return ViewDefinition(
      index: tables.byDay.rawIndex, walk: .today(KeyRange.days(today.dayNumber, today.dayNumber)),
      changedRanges: { changedDays($0) + changedDueDays($0) },
      key: { ViewKey(of: $0.item, inToday: today, in: timeZone) })
  }

  private func daysDefinition(_ walk: DayWalk) -> ViewDefinition {
    ViewDefinition(index: tables.byDay.rawIndex, walk: .days(walk), changedRanges: changedDays) { record in
      DayKey(of: record.item).flatMap(walk.key)
    }
  }

  private var overdueDefinition: ViewDefinition {
    let (now, calendar, today, dayStart) = (now, calendar, today.dayNumber, dayStartInMinutes)
    let index = tables.byDue.rawIndex
    return ViewDefinition(
      index: index, walk: .overdue,
      changedRanges: { former in
        let day = CalendarDay(containing: former, in: calendar.timeZone, startingAtMinute: dayStart).dayNumber
        let ranges: [KeyRange] = [
          .openDue(min(former, now), max(former, now)), .openDueDays(min(day, today), max(day, today)),
        ]
        return ranges.map { IndexRange(index: index, range: $0) }
      },
      key: { record in
        let task = record.item
        if task.isCompleted { return nil }
        if let day = task.dueDay { return day.dayNumber < today ? ViewKey(overdue: day, task.id, in: calendar) : nil }
        guard let due = task.overdueDate, due < now else { return nil }
        return ViewKey(overdue: due.microsecondsSince1970, task.id)
      })
  }

  private func dueDefinition(_ day: CalendarDay) -> ViewDefinition {
    ViewDefinition(index: tables.byDue.rawIndex, walk: .due(on: day)) { [calendar] record in
      guard record.item.dueDay(in: calendar.timeZone) == day else { return nil }
      return ViewKey(of: record.item, dueOn: day)
    }
  }

  private func completedDefinition(_ interval: Range<Timestamp>?) -> ViewDefinition {
    let start = InstantKey.start(at: interval?.lowerBound.microsecondsSince1970 ?? .min)
    let end = InstantKey.start(at: interval?.upperBound.microsecondsSince1970 ?? .max)
    let range = KeyRange(
      CompletionKey(isTaskDeleted: false, completed: start), CompletionKey(isTaskDeleted: false, completed: end))
    return ViewDefinition(index: tables.completions.rawIndex, walk: .ranges([range], isReversed: true)) { record in
      guard let key = CompletionKey(of: record.item).map({ KeyBytes($0) }), range.contains(key) else { return nil }
      return ViewKey(prefix: KeyBytes(UInt8(0)), key, isReversed: true)
    }
  }

  /// The tasks planned for the days between that of an instant and today, both included; none if they are the same.
  private var changedDays: (Timestamp) -> [IndexRange] {
    let (index, days) = (tables.byDay.rawIndex, changedDayRange)
    return { former in
      guard let days = days(former) else { return [] }
      return KeyRange.days(days.lowerBound.dayNumber, days.upperBound.dayNumber).map {
        IndexRange(index: index, range: $0)
      }
    }
  }

  /// The tasks due on those days.
  private var changedDueDays: (Timestamp) -> [IndexRange] {
    let (index, days, calendar) = (tables.byDue.rawIndex, changedDayRange, calendar)
    return { former in
      guard let days = days(former) else { return [] }
      return KeyRange.due(days.lowerBound, days.upperBound, in: calendar).map { IndexRange(index: index, range: $0) }
    }
  }

  private var changedDayRange: (Timestamp) -> ClosedRange<CalendarDay>? {
    let (calendar, today, dayStart) = (calendar, today, dayStartInMinutes)
    return { former in
      let day = CalendarDay(containing: former, in: calendar.timeZone, startingAtMinute: dayStart)
      return day == today ? nil : min(day, today)...max(day, today)
    }
  }
}
