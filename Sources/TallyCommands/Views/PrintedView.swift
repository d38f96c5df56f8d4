import Foundation
import Tally

/// A view for people: a header, days as headings, a line or two per task.
///
/// Tasks come one by one; the page remembers only the current heading.
struct PrintedView {
  private let description: ViewDescription
  private let painter: Painter
  private let clock: LocalClock
  private let rows: TaskRows
  private let width: Int
  private var heading: CalendarDay?
  /// The section of the last task, and how many of its completed tasks are not shown.
  private var section: (day: CalendarDay?, hiddenCount: Int)?

  /// Begins a page; the number of tasks in the store determines the width of handles.
  init(description: ViewDescription, session: Session, taskCount: Int) {
    self.description = description
    painter = session.painter
    clock = session.clock
    width = session.width ?? .max
    rows = TaskRows(session, handleWidth: Self.handleWidth(taskCount: taskCount), hiding: description.hiding)
  }

  /// The view's title and how many tasks it has.
  func header(_ counts: ViewCounts) -> String {
    let title = painter.paint(description.title.truncated(toWidth: width), .heading)
    let summary = summary(counts)
    let joint = " — "
    let fits = description.title.displayWidth + joint.displayWidth + summary.displayWidth <= width
    let line = title + (fits ? joint : "\n") + painter.paint(summary, .detail)
    return "\(line)\n\n"
  }

  /// A task, with a heading if its day differs from the previous task's; nothing for one that is folded away.
  mutating func text(of named: NamedTask, on day: CalendarDay?, _ folds: [CalendarDay?: CompletedFold]) -> String {
    let fold = folds[day]
    let ending = section.map { $0.day == day } == false ? sectionEnd : ""
    section = (day, fold?.hiddenCount ?? 0)
    guard fold?.shows(named.task) ?? true else { return ending }
    let lines = rows.lines(of: named).joined(separator: "\n") + "\n"
    guard let day = groupingDay(of: named.task, sectionDay: day), day != heading else { return ending + lines }
    let gap = heading == nil ? "" : "\n"
    heading = day
    let isUndated = description.completions != nil && named.task.completedAt?.instant == TaskDocument.longAgo
    let name = isUndated ? "Date unknown" : clock.heading(of: day)
    return ending + gap + painter.paint(name, .heading) + "\n" + lines
  }

  /// The text after the last task.
  func end(_ counts: ViewCounts) -> String {
    let hiddenCount = counts.folds.values.reduce(0) { $0 + $1.hiddenCount }
    guard hiddenCount > 0 else { return "" }
    return sectionEnd + painter.paint("  --limit \(counts.total) shows all", .detail) + "\n"
  }

  /// How many completed tasks of the section are not shown.
  private var sectionEnd: String {
    guard let section, section.hiddenCount > 0 else { return "" }
    return painter.paint("  and \(section.hiddenCount.grouped) more done", .detail) + "\n"
  }
}

extension PrintedView {
  private func summary(_ counts: ViewCounts) -> String {
    if description.completions != nil { return "\(counts.total.counted("task")) done" }
    if counts.isCut { return counts.total == 1 ? "the first task" : "the first \(counts.total.counted("task"))" }
    let cancelled = counts.cancelled == 0 ? "" : ", \(counts.cancelled.grouped) cancelled"
    if counts.completed == 0, counts.cancelled > 0 { return "\(counts.open.grouped) open\(cancelled)" }
    if counts.completed == 0 { return counts.total.counted("task") }
    if counts.completed == counts.total { return "\(counts.total.counted("task")), all done" }
    return "\(counts.open.grouped) open, \(counts.completed.grouped) done\(cancelled)"
  }

  /// The day a task is shown under; completed tasks are easier to read by day, too, though they have no sections.
  private func groupingDay(of task: TaskItem, sectionDay: CalendarDay?) -> CalendarDay? {
    guard let completions = description.completions, let completed = task.completedAt else { return sectionDay }
    return clock.day(of: completed, countedBy: completions)
  }

  /// The width of most handles in a store of this many tasks: at most one in sixteen is longer.
  static func handleWidth(taskCount: Int) -> Int {
    var (digits, distinct) = (4, 65_536)
    while distinct < 16 * taskCount {
      digits += 1
      distinct *= 16
    }
    return digits
  }
}

extension Session {
  /// Prints a view.
  ///
  /// Tasks are printed as they are read and not kept, so that a million of them need no memory.
  func show(_ describe: (borrowing StoreReadTransaction) throws -> ViewDescription) throws {
    try read { transaction in
      let description = try describe(transaction)
      transaction.showsWaiting = description.showsWaiting
      switch options.format {
      case .json: try printJSON(description, transaction)
      case .plain: try printRecords(description, transaction)
      case .human: try printPage(description, transaction)
      }
      let count = try description.filter.map { try transaction.waitingCount(hiddenIn: $0) } ?? 0
      if count > 0 {
        let isOne = count == 1
        hint(
          "\(count.grouped) waiting \(isOne ? "task is" : "tasks are") hidden; --waiting shows \(isOne ? "it" : "them")."
        )
      }
    }
  }

  private func printPage(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    let counts = try transaction.counts(of: description)
    if counts.total == 0 { return hint(description.emptyHint) }
    var page = PrintedView(description: description, session: self, taskCount: try transaction.taskCount)
    try output.write(page.header(counts))
    try transaction.forEachNamedTask(of: description, withSeries: false) { task, day in
      try output.write(page.text(of: task, on: day, counts.folds))
    }
    try output.write(page.end(counts))
  }

  private func printRecords(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    var columns: RecordColumns?
    try transaction.forEachNamedTask(of: description, withSeries: false) { task, _ in
      let facts = task.facts
      let known = columns ?? RecordColumns(options.taskColumns ?? NamedTask.columns, in: facts)
      columns = known
      try output.write(known.record(of: facts))
    }
    if columns == nil { hint(description.emptyHint) }
  }

  private func printJSON(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    let counts = try transaction.counts(of: description)
    var json = JSONWriter(layout: .compact)
    json.beginObject()
    json.write(membersOf: headFacts(ofView: description.view.name, completedCount: counts.completed))
    if let list = description.list { json.write(membersOf: ["listID": .id(list.id), "list": .text(list.name)]) }
    json.beginArray("sections")
    var section: CalendarDay??
    func endSection() {
      if section == nil { return }
      json.endArray()
      json.endObject()
    }
    func beginSection(_ day: CalendarDay?) {
      endSection()
      section = .some(day)
      json.beginObject()
      json.key("day")
      json.value(day.map { .day($0) })
      json.beginArray("tasks")
    }
    // A section's day is known only with its first task; a view without days has one section even if it is empty.
    if !description.view.hasDaySections { beginSection(nil) }
    try transaction.forEachNamedTask(of: description, withSeries: true) { task, day in
      if section != .some(day) { beginSection(day) }
      json.write(task.facts)
      if json.bytes.count >= Self.flushThresholdInBytes { try output.write(TerminalSafeJSON.bytes(json.takeBytes())) }
    }
    endSection()
    json.endArray()
    json.endObject()
    json.lineFeed()
    try output.write(TerminalSafeJSON.bytes(json.takeBytes()))
  }

  private static var flushThresholdInBytes: Int { 1 << 16 }
}

/// How many tasks a view shows.
struct ViewCounts {
  var total = 0
  var completed = 0
  var cancelled = 0
  /// Whether a limit leaves out the rest of the view.
  var isCut = false
  /// The closed tasks of each section, where people see only the newest.
  var folds: [CalendarDay?: CompletedFold] = [:]

  var open: Int { total - completed - cancelled }
}

extension StoreTransaction where Base: ~Copyable {
  /// Counts a view by reading it once: the number is printed before the tasks, and keeping the tasks would take memory in
  /// proportion to the store.
  func counts(of description: ViewDescription) throws -> ViewCounts {
    var counts = ViewCounts()
    let limit = description.limit ?? .max
    // One task more than the limit shows whether there are more.
    var description = description
    description.limit = description.limit.map { min($0, .max - 1) + 1 }
    try forEachTask(of: description) { task, day, _ in
      guard counts.total < limit else { return counts.isCut = true }
      counts.total += 1
      guard task.isClosed else { return }
      if task.isCompleted { counts.completed += 1 } else { counts.cancelled += 1 }
      if description.isFolded { counts.folds[day, default: CompletedFold()].add(task) }
    }
    return counts
  }

  /// Visits the tasks of a view, named, with handles of one length.
  ///
  /// The first tasks wait until the longest handle is known. A large view has the width of the longest one of all tasks, which one
  /// scan of an index finds.
  func forEachNamedTask(
    of description: ViewDescription, withSeries hasSeries: Bool, _ body: (NamedTask, CalendarDay?) throws -> Void
  ) throws {
    var lists: KnownLists = [:]
    var (waiting, waitingBytes): ([(task: NamedTask, day: CalendarDay?)], Int) = ([], 0)
    var handleLength: Int?
    func visitWaiting(_ length: Int) throws {
      for (task, day) in waiting { try body(task.withHandle(ofLength: length), day) }
      waiting = []
      handleLength = length
    }
    try forEachTask(of: description) { task, day, depth in
      var named = try name(task, knowing: &lists, withSeries: hasSeries)
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
  /// A limit is needed because notes may be long.
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
    try tree.forEach(of: description, in: self, visit)
  }

  /// Visits the tasks of the view itself.
  private func forEachViewTask(
    of description: ViewDescription, _ body: (TaskItem, CalendarDay?) throws -> Bool
  ) throws {
    if let limit = description.limit, !description.isOpenOnly, !description.isTree {
      // A query that must sort stores no more tasks than the limit.
      for section in try page(of: description.view, limit: limit).sections {
        for task in section.tasks { guard try body(task, section.day) else { return } }
      }
      return
    }
    try forEachTask(in: description.view) { task, day in
      if description.isOpenOnly, task.isClosed { return !description.view.showsCompletedLast }
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

/// The closed tasks of a place that people see: the newest few, and how many more there are.
struct CompletedFold {
  private static let shownCount = 10

  /// Oldest first.
  private var newest: [(completed: Timestamp, id: UUID)] = []
  private var count = 0

  mutating func add(_ task: TaskItem) {
    guard let completed = (task.completedAt ?? task.cancelledAt)?.instant else { return }
    count += 1
    let place = newest.firstIndex { $0.completed > completed } ?? newest.count
    newest.insert((completed, task.id), at: place)
    if newest.count > Self.shownCount { newest.removeFirst() }
  }

  func shows(_ task: TaskItem) -> Bool { task.isOpen || newest.contains { $0.id == task.id } }

  var hiddenCount: Int { count - newest.count }
}

/// Tasks of a view in the order of a tree: each with its sub-tasks below it.
///
/// Unlike other views, it keeps the tasks in memory: the place of a sub-task is known only when all tasks are.
struct TaskTree {
  private var tasks: [(task: TaskItem, day: CalendarDay?)] = []
  private var ids: Set<UUID> = []

  mutating func add(_ task: TaskItem, _ day: CalendarDay?) {
    tasks.append((task, day))
    ids.insert(task.id)
  }

  /// Visits the tasks with their depth, until `body` returns false.
  func forEach<Base: ~Copyable>(
    of description: ViewDescription, in transaction: borrowing StoreTransaction<Base>,
    _ body: (TaskItem, CalendarDay?, _ depth: Int) throws -> Bool
  ) throws {
    for (task, day) in tasks where try !hasShownAncestor(task, in: transaction) {
      guard try visit(task, day, 0, description, transaction, body) else { return }
    }
  }

  private func hasShownAncestor<Base: ~Copyable>(
    _ task: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> Bool {
    var ancestor = task.parentID
    while let id = ancestor {
      if ids.contains(id) { return true }
      ancestor = try transaction.task(id)?.parentID
    }
    return false
  }

  private func visit<Base: ~Copyable>(
    _ task: TaskItem, _ day: CalendarDay?, _ depth: Int, _ description: ViewDescription,
    _ transaction: borrowing StoreTransaction<Base>, _ body: (TaskItem, CalendarDay?, Int) throws -> Bool
  ) throws -> Bool {
    // The sub-tasks of a task that is left out are shown in its place.
    let isShown = !(description.isOpenOnly && task.isClosed) && !transaction.hides(task, in: description.view)
    if isShown { guard try body(task, day, depth) else { return false } }
    for child in try transaction.subtasks(of: task.id) {
      guard try visit(child, day, isShown ? depth + 1 : depth, description, transaction, body) else { return false }
    }
    return true
  }
}
