/// How a view has changed: what a list on a screen needs to follow it.
///
/// To apply it: remove what ``removals`` and the origins of ``moves`` name, from the last to the first; insert
/// ``insertions`` and the moved tasks, from the first position to the last; then replace what ``updates`` names.
public struct ViewDifference: Hashable, Sendable {
  /// A task and its position among all tasks of the view, sections ignored.
  public struct Row: Hashable, Sendable {
    /// The position in the new view.
    public let position: Int
    /// The task in its new state.
    public let task: TaskItem
  }

  /// A task that has moved.
  public struct Move: Hashable, Sendable {
    /// The position in the old view.
    public let origin: Int
    /// The position in the new view.
    public let position: Int
    /// The task in its new state.
    public let task: TaskItem
  }

  /// The commit up to which the view is followed.
  public let sequence: UInt64
  /// The instant that counted as now.
  public let asOf: Timestamp
  /// The positions in the old view of tasks that it no longer shows; ascending.
  public internal(set) var removals: [Int] = []
  /// The tasks that it did not show before; by position.
  public internal(set) var insertions: [Row] = []
  /// The tasks that have moved; by new position.
  public internal(set) var moves: [Move] = []
  /// The tasks that have changed in place; by position.
  public internal(set) var updates: [Row] = []

  /// Whether nothing has changed.
  public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

  /// The view's tasks as they are now, from those that it showed before.
  ///
  /// - Parameter tasks: the tasks to which the difference belongs; any other array traps.
  /// - Returns: as many tasks as the view shows now.
  /// - Complexity: the length of the view for each removal, insertion and move.
  public func applied(to tasks: [TaskItem]) -> [TaskItem] {
    var tasks = tasks
    for position in (removals + moves.map(\.origin)).sorted(by: >) { tasks.remove(at: position) }
    let arrivals = insertions + moves.map { Row(position: $0.position, task: $0.task) }
    for row in arrivals.sorted(by: { $0.position < $1.position }) { tasks.insert(row.task, at: row.position) }
    for row in updates { tasks[row.position] = row.task }
    return tasks
  }
}

/// An element of an observed view.
public enum ViewUpdate: Sendable {
  /// The whole view: first of all.
  case snapshot(ViewResult)
  /// How it has changed since.
  case difference(ViewDifference)
}
