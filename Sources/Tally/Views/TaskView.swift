public import Foundation

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
