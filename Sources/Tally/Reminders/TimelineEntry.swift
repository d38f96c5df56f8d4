public import Foundation

/// What a home-screen widget shows from an instant on: the tasks due on that day, and those overdue.
public struct TimelineEntry: Hashable, Sendable {
  /// From when on this holds, until the next entry.
  public let date: Timestamp
  /// The tasks due inside the local day, in any state, in the order of views.
  public let dueToday: [TaskItem]
  /// The open tasks whose due date has passed, oldest first.
  public let overdue: [TaskItem]
}

/// Which tasks a timeline is about.
public enum TimelineScope: Hashable, Sendable {
  /// All tasks.
  case all
  /// The tasks of some lists.
  case lists(Set<UUID>)

  func contains(_ task: TaskItem) -> Bool {
    switch self {
    case .all: true
    case .lists(let ids): task.listID.map(ids.contains) ?? false
    }
  }
}
