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
    rows = TaskRows(
      clock: session.clock,
      painter: session.painter,
      width: width,
      handleWidth: Self.handleWidth(taskCount: taskCount),
      hidden: description.hiding
    )
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

  /// What follows the last task.
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
    if counts.completed == 0 { return counts.total.counted("task") }
    if counts.open == 0 { return "\(counts.total.counted("task")), all done" }
    return "\(counts.open.grouped) open, \(counts.completed.grouped) done"
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
