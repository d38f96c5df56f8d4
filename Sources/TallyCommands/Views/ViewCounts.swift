import Tally

/// How many tasks a view shows.
struct ViewCounts {
  var total = 0
  var completed = 0

  var open: Int { total - completed }
}

extension StoreTransaction where Base: ~Copyable {
  /// Walks a view once to count it: what is printed before the tasks tells their number, and keeping the tasks
  /// instead would take memory in step with the store.
  func counts(of description: ViewDescription) throws -> ViewCounts {
    var counts = ViewCounts()
    try forEachTask(of: description) { task, _ in
      counts.total += 1
      if task.isCompleted { counts.completed += 1 }
    }
    return counts
  }

  /// Walks the tasks of a view with all it takes to print them.
  func forEachNamedTask(
    of description: ViewDescription,
    _ body: (NamedTask, CalendarDay?) throws -> Void
  ) throws {
    var lists: KnownLists = [:]
    try forEachTask(of: description) { task, day in try body(try name(task, knowing: &lists), day) }
  }

  private func forEachTask(of description: ViewDescription, _ body: (TaskItem, CalendarDay?) throws -> Void) throws {
    guard let completions = description.completions else { return try forEachTask(in: description.view, body) }
    try forEachCompletedTask(matching: completions) { try body($0, nil) }
  }
}
