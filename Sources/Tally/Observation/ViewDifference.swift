/// How a view has changed: what a list on a screen needs to follow it.
///
/// To apply it: remove what ``removals`` and the origins of ``moves`` name, from the last to the first; insert
/// ``insertions`` and the moved tasks, from the first position to the last; then replace what ``updates`` names.
public struct ViewDifference: Hashable, Codable, Sendable {
  /// A task and its position among all tasks of the view, sections ignored.
  public struct Row: Hashable, Codable, Sendable {
    /// The position in the new view.
    public let position: Int
    /// The task in its new state.
    public let task: TaskItem
  }

  /// A task that has moved.
  public struct Move: Hashable, Codable, Sendable {
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

  /// Changes the tasks that the view showed before into those that it shows now.
  ///
  /// ```swift
  /// var tasks: [TaskItem] = []
  /// for try await update in store.observe(.today) {
  ///   switch update {
  ///   case .snapshot(let view): tasks = view.tasks
  ///   case .difference(let difference): difference.apply(to: &tasks)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter tasks: the tasks to which the difference belongs; any other array traps.
  /// - Complexity: the number of updates if nothing else has changed; otherwise the length of the view, however many
  ///   changes there are.
  public func apply(to tasks: inout [TaskItem]) {
    let leaving = (removals + moves.map(\.origin)).sorted()
    let arriving = (insertions + moves.map { Row(position: $0.position, task: $0.task) })
      .sorted { $0.position < $1.position }
    if leaving.count + arriving.count > Self.fewChanges {
      tasks = Self.merge(tasks, without: leaving, arriving)
    } else {
      for position in leaving.reversed() { tasks.remove(at: position) }
      for row in arriving { tasks.insert(row.task, at: row.position) }
    }
    for row in updates { tasks[row.position] = row.task }
  }

  /// The view's tasks as they are now, from those that it showed before; the same as `apply(to:)` on a copy.
  public func applied(to tasks: [TaskItem]) -> [TaskItem] {
    var tasks = tasks
    apply(to: &tasks)
    return tasks
  }

  /// The most changes that are made in place; more would move the rest of the array more often than a new one copies it.
  static let fewChanges = 16

  private static func merge(_ tasks: [TaskItem], without leaving: [Int], _ arriving: [Row]) -> [TaskItem] {
    var (leaving, arriving) = (leaving[...], arriving[...])
    var merged: [TaskItem] = []
    merged.reserveCapacity(tasks.count - leaving.count + arriving.count)
    for (position, task) in tasks.enumerated() {
      if leaving.first == position {
        leaving.removeFirst()
        continue
      }
      while let row = arriving.first, row.position == merged.count { merged.append(arriving.removeFirst().task) }
      merged.append(task)
    }
    merged += arriving.lazy.map(\.task)
    precondition(leaving.isEmpty, "the difference belongs to other tasks")
    return merged
  }
}

/// An element of an observed view.
public enum ViewUpdate: Sendable {
  /// The whole view: first of all.
  case snapshot(ViewResult)
  /// How it has changed since.
  case difference(ViewDifference)
}
