/// How a view has changed: what a list on a screen needs to follow it.
///
/// To apply it: take away what ``removals`` and the origins of ``moves`` name, from the last to the first; put in
/// ``insertions`` and the moved tasks, from the first position to the last; then replace what ``updates`` names.
public struct ViewDifference: Hashable, Sendable {
  /// A task and its position among all tasks of the view, sections ignored.
  public struct Row: Hashable, Sendable {
    /// The position in the view as it is now.
    public let position: Int
    /// The task as it is now.
    public let task: TaskItem
  }

  /// A task that has another place now.
  public struct Move: Hashable, Sendable {
    /// The position in the view as it was.
    public let origin: Int
    /// The position in the view as it is now.
    public let position: Int
    /// The task as it is now.
    public let task: TaskItem
  }

  /// The commit up to which the view is followed.
  public let sequence: UInt64
  /// The instant that counted as now.
  public let asOf: Timestamp
  /// The positions, in the view as it was, of tasks that it shows no more; ascending.
  public internal(set) var removals: [Int] = []
  /// The tasks that it shows now and did not; by position.
  public internal(set) var insertions: [Row] = []
  /// The tasks that have changed their place; by new position.
  public internal(set) var moves: [Move] = []
  /// The tasks that have changed otherwise; by position.
  public internal(set) var updates: [Row] = []

  /// Whether nothing has changed.
  public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

  /// The view's tasks as they are now, from those that it showed before.
  ///
  /// - Parameter tasks: the tasks to which the difference belongs; others stop the program.
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

/// What an observation of a view tells.
public enum ViewUpdate: Sendable {
  /// The whole view: first of all.
  case snapshot(ViewResult)
  /// How it has changed since.
  case difference(ViewDifference)
}
