public import Foundation

/// The content of a home-screen widget from an instant on: the tasks due on that day, and those overdue.
public struct TimelineEntry: Hashable, Sendable {
  /// The instant from which this is valid, until the next entry.
  public let date: Timestamp
  /// The tasks due inside the local day, in any state, in the order of views.
  public let dueToday: [TaskItem]
  /// The open tasks whose due date has passed, oldest first.
  public let overdue: [TaskItem]
}

/// The tasks of a timeline.
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
