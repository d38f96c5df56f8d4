import Tally

/// How many tasks a view shows.
struct ViewCounts {
  var total = 0
  var completed = 0

  var open: Int { total - completed }
}

extension StoreTransaction where Base: ~Copyable {
  /// Counts a view by reading it once: the number is printed before the tasks, and keeping the tasks would take memory in
  /// proportion to the store.
  func counts(of description: ViewDescription) throws -> ViewCounts {
    var counts = ViewCounts()
    try forEachTask(of: description) { task, _ in
      counts.total += 1
      if task.isCompleted { counts.completed += 1 }
    }
    return counts
  }

  /// Visits the tasks of a view, named.
  func forEachNamedTask(of description: ViewDescription, _ body: (NamedTask, CalendarDay?) throws -> Void) throws {
    var lists: KnownLists = [:]
    try forEachTask(of: description) { task, day in try body(try name(task, knowing: &lists), day) }
  }

  private func forEachTask(of description: ViewDescription, _ body: (TaskItem, CalendarDay?) throws -> Void) throws {
    guard let completions = description.completions else {
      return try forEachTask(in: description.view) { task, day in
        try body(task, day)
        return true
      }
    }
    try forEachCompletedTask(matching: completions) { try body($0, nil) }
  }
}
