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
    try forEachTask(in: description.view) { task, _ in
      guard description.includes(task) else { return }
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
    try forEachTask(in: description.view) { task, day in
      if description.includes(task) { try body(try name(task, knowing: &lists), day) }
    }
  }
}
