public import Foundation
import LMDB

/// One of the ways to look at a store's tasks.
///
/// Unless it says otherwise, a view lists active tasks first, then those not started, then the completed ones;
/// inside a state by `sortOrder`, then `createdAt`, then `id`.
public enum TaskView: Hashable, Sendable {
  /// The tasks with no list and no scheduled day, in any state.
  case inbox
  /// The tasks scheduled for the current day; completed ones stay visible.
  case today
  /// The tasks scheduled after today, in sections by day.
  case upcoming
  /// The open tasks scheduled before today, in sections by day, newest day first.
  case past
  /// The tasks of one list.
  case list(UUID)
  /// The open tasks whose due date has passed, oldest first.
  case overdue
  /// The tasks due inside one local day, in any state.
  case due(on: CalendarDay)
  /// The active tasks of every place.
  case active
  /// The tasks completed in an interval, or ever, newest first; the interval's end is not part of it.
  case completed(Range<Timestamp>?)
  /// Every task, by creation.
  case all

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
    }
  }

  /// Whether the view shows its tasks in sections by day.
  public var hasDaySections: Bool {
    self == .upcoming || self == .past
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The definition of a view for this transaction's clock and calendar.
  func definition(of view: TaskView) -> ViewDefinition {
    switch view {
    case .inbox: ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(nil)])
    case .list(let id): ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(id)])
    case .active: ViewDefinition(of: ByActive.self, tables.byActive, [KeyRange(OrderKey.lowest, nil)])
    case .all: ViewDefinition(of: ByCreated.self, tables.byCreated, [KeyRange(InstantKey.start(at: .min), nil)])
    case .overdue:
      ViewDefinition(of: ByDue.self, tables.byDue, [.due(isCompleted: false, .earliest, now)]) { [now] former in
        [.due(isCompleted: false, min(former, now), max(former, now))]
      }
    case .today:
      ViewDefinition(
        of: ByDay.self, tables.byDay, KeyRange.days(today.dayNumber, today.dayNumber), changedRanges: changedDays)
    case .upcoming: daysDefinition(DayWalk(isPast: false, today: today.dayNumber))
    case .past: daysDefinition(DayWalk(isPast: true, today: today.dayNumber))
    case .due(let day): dueDefinition(day)
    case .completed(let interval): completedDefinition(interval)
    }
  }

  private func daysDefinition(_ walk: DayWalk) -> ViewDefinition {
    ViewDefinition(index: tables.byDay.rawIndex, walk: .days(walk), changedRanges: changedDays) { record in
      DayKey(of: record.item).flatMap(walk.key)
    }
  }

  private func dueDefinition(_ day: CalendarDay) -> ViewDefinition {
    ViewDefinition(index: tables.byDue.rawIndex, walk: .due(on: day)) { [calendar] record in
      guard let due = record.item.dueDate, CalendarDay(containing: due, in: calendar) == day else { return nil }
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

  /// The days between that of an instant and today, both included; none if they are the same.
  private var changedDays: (Timestamp) -> [KeyRange] {
    let (calendar, today) = (calendar, today.dayNumber)
    return { former in
      let day = CalendarDay(containing: former, in: calendar).dayNumber
      return day == today ? [] : KeyRange.days(min(day, today), max(day, today))
    }
  }
}
