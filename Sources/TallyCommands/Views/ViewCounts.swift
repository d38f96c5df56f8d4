import Tally

/// How many tasks a view shows.
struct ViewCounts {
  var total = 0
  var completed = 0
  /// Whether a limit leaves out the rest of the view.
  var isCut = false
  /// The completed tasks of each section, where people see only the newest.
  var folds: [CalendarDay?: CompletedFold] = [:]

  var open: Int { total - completed }
}

extension StoreTransaction where Base: ~Copyable {
  /// Counts a view by reading it once: the number is printed before the tasks, and keeping the tasks would take memory in
  /// proportion to the store.
  func counts(of description: ViewDescription) throws -> ViewCounts {
    var counts = ViewCounts()
    let limit = description.limit ?? .max
    // One more, to know whether there are more.
    var description = description
    description.limit = description.limit.map { min($0, .max - 1) + 1 }
    try forEachTask(of: description) { task, day, _ in
      guard counts.total < limit else { return counts.isCut = true }
      counts.total += 1
      guard task.isCompleted else { return }
      counts.completed += 1
      if description.isFolded { counts.folds[day, default: CompletedFold()].add(task) }
    }
    return counts
  }

  /// Visits the tasks of a view, named, with handles of one length.
  ///
  /// The first tasks wait until the longest handle is known. A large view takes the longest one of all tasks, which one
  /// scan of an index finds.
  func forEachNamedTask(of description: ViewDescription, _ body: (NamedTask, CalendarDay?) throws -> Void) throws {
    var lists: KnownLists = [:]
    var (waiting, waitingBytes): ([(task: NamedTask, day: CalendarDay?)], Int) = ([], 0)
    var handleLength: Int?
    func visitWaiting(_ length: Int) throws {
      for (task, day) in waiting { try body(task.withHandle(ofLength: length), day) }
      waiting = []
      handleLength = length
    }
    try forEachTask(of: description) { task, day, depth in
      var named = try name(task, knowing: &lists)
      named.depth = depth
      if let handleLength { return try body(named.withHandle(ofLength: handleLength), day) }
      waiting.append((named, day))
      waitingBytes += task.notes?.utf8.count ?? 0
      if waiting.count > Self.mostTasksWaiting || waitingBytes > Self.mostBytesWaiting {
        try visitWaiting(try longestHandleLength())
      }
    }
    try visitWaiting(waiting.map(\.task.handle.utf8.count).max() ?? handleLength ?? 0)
  }

  private static var mostTasksWaiting: Int { 500 }
  /// Notes may be long.
  private static var mostBytesWaiting: Int { 4 << 20 }

  private func forEachTask(
    of description: ViewDescription, _ body: (TaskItem, CalendarDay?, _ depth: Int) throws -> Void
  ) throws {
    var rest = description.limit ?? .max
    func visit(_ task: TaskItem, _ day: CalendarDay?, _ depth: Int) throws -> Bool {
      guard rest > 0 else { return false }
      try body(task, day, depth)
      rest -= 1
      return rest > 0
    }
    if let completions = description.completions {
      do {
        try forEachCompletedTask(matching: completions) { guard try visit($0, nil, 0) else { throw LimitReached() } }
      } catch is LimitReached {}
      return
    }
    guard description.isTree else {
      return try forEachViewTask(of: description) { try visit($0, $1, 0) }
    }
    var tree = TaskTree()
    try forEachViewTask(of: description) { task, day in
      tree.add(task, day)
      return true
    }
    try tree.forEach(openOnly: description.isOpenOnly, in: self, visit)
  }

  /// Visits the tasks that the view itself holds.
  private func forEachViewTask(
    of description: ViewDescription, _ body: (TaskItem, CalendarDay?) throws -> Bool
  ) throws {
    if let limit = description.limit, !description.isOpenOnly, !description.isTree {
      // A query that must sort keeps no more than the limit.
      for section in try page(of: description.view, limit: limit).sections {
        for task in section.tasks { guard try body(task, section.day) else { return } }
      }
      return
    }
    try forEachTask(in: description.view) { task, day in
      if description.isOpenOnly, task.isCompleted { return !description.view.showsCompletedLast }
      return try body(task, day)
    }
  }
}

/// Ends the walk through completed tasks.
private struct LimitReached: Error {}

extension TaskView {
  /// Whether no open task comes after a completed one.
  fileprivate var showsCompletedLast: Bool {
    switch self {
    case .inbox, .today, .list: true
    default: false
    }
  }
}
