import Foundation
import Tally

/// The context that rows show besides their task: the names of days and lists.
struct RowFrame: Sendable {
  let clock: DateReference
  let lists: [UUID: TaskList]
  /// The sub-tasks to show below their parents; `nil` if they stand alone.
  var families: Families?

  init(_ transaction: borrowing StoreReadTransaction) throws {
    clock = transaction.dateReference
    lists = Dictionary(try transaction.lists().map { ($0.id, $0) }) { first, _ in first }
  }

  /// Whether rows of both look the same, whatever the time of day.
  func looksLike(_ other: RowFrame) -> Bool {
    clock.today == other.clock.today && clock.timeZone == other.clock.timeZone && lists == other.lists
  }
}

extension RowFrame {
  /// The row of a task, as the template names its parts.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - view: The view, whose day or list the row does not repeat; `nil` outside a view.
  /// - Returns: The content of `row.mustache`.
  func row(_ task: TaskItem, in view: TaskView? = nil) -> [String: Any] {
    let details = details(of: task, in: view)
    var row: [String: Any] = [
      "id": task.id.text, "state": task.state.name, "stateName": task.state.words,
      "isChosen": false, "press": task.isClosed ? "reopen" : "complete",
      "listID": task.listID?.text ?? "", "planned": task.scheduledDate?.iso8601 ?? "",
      "parentID": task.parentID?.text ?? "", "isRepeating": task.recurrence != nil && task.isOpen,
      "title": task.title.shortened(to: 400),
      "short": task.title.quotable(to: 80), "details": details, "hasDetails": !details.isEmpty,
      // A template looks in the row of the parent for what a row lacks.
      "isNested": false, "rowDay": false, "rowDayName": false, "rowHeading": false, "marks": false,
      "family": family(of: task) as Any? ?? false,
    ]
    if view?.hasDaySections == true, let day = task.scheduledDate {
      row["rowDay"] = day.iso8601
      row["rowDayName"] = clock.heading(of: day)
    }
    return row
  }

  private static let longestFamilyInRows = 50

  /// The sub-tasks of a task and how many of them are completed; `nil` if it has none.
  private func family(of task: TaskItem) -> [String: Any]? {
    guard let children = families?.children(of: task.id), !children.isEmpty else { return nil }
    let rest = children.count - Self.longestFamilyInRows
    return [
      "parent": task.id.text, "name": task.title.quotable(to: 80), "total": children.count,
      "done": children.count(where: \.isCompleted),
      "children": children.prefix(Self.longestFamilyInRows).map { row($0) }, "more": rest > 0 ? rest as Any : false,
    ]
  }

  /// The row of a task in a view, or its placeholder if the task is shown below its parent.
  func rowOrPlace(_ task: TaskItem, in view: TaskView, nested: Set<UUID>) -> [String: Any] {
    nested.contains(task.id) ? ["id": task.id.text, "isNested": true, "rowHeading": false] : row(task, in: view)
  }

  private func details(of task: TaskItem, in view: TaskView?) -> [[String: String]] {
    var details: [[String: String]] = []
    func add(_ text: String, kind: String = "") {
      details.append(kind.isEmpty ? ["text": text] : ["text": text, "kind": kind])
    }
    // A sub-task below its parent is in the same list.
    let isBelowParent = task.parentID != nil && families != nil && view == nil
    if let list = task.listID.flatMap({ lists[$0] }), view != .list(list.id), !isBelowParent {
      details.append(["text": list.name.shortened(to: 60), "color": list.colorHex, "kind": "list"])
    }
    let isDayShown = view == .today && task.scheduledDate == clock.today || view?.hasDaySections == true
    if let day = task.scheduledDate, !isDayShown { add(clock.relativeName(of: day)) }
    if let completed = task.completedAt { add("done \(clock.relativeName(of: completed.instant))") }
    if let cancelled = task.cancelledAt { add("cancelled \(clock.relativeName(of: cancelled.instant))") }
    if let wait = clock.wait(of: task) { add(wait, kind: "waiting") }
    if task.isOpen {
      let isLate = task.isOverdue(at: clock.now, on: clock.today)
      if let due = task.dueDay.map(clock.relativeName) ?? task.dueDate.map(clock.relativeName) {
        add((isLate ? "overdue since " : "due ") + due, kind: isLate ? "late" : "due")
      }
      let count = task.dependsOn.count
      if count > 0 { add("after \(count) other \(count == 1 ? "task" : "tasks")") }
      if let reminder = task.nextReminder(from: clock.now, in: clock.timeZone) {
        add("reminder \(clock.relativeName(of: reminder))")
      }
    }
    if task.priority != .none { add("\(task.priority.name) priority", kind: "priority") }
    for tag in task.tags { add("#\(tag)", kind: "tag") }
    if let recurrence = task.recurrence { add("repeats \(recurrence.words)") }
    if task.notes != nil { add("notes") }
    if task.parentID != nil, !isBelowParent { add("sub-task") }
    return details
  }

  /// Rows with the heading of each day before its first task; nested ones are shown below their parents.
  func rows(_ tasks: some Sequence<TaskItem>, in view: TaskView, nested: Set<UUID>) -> [[String: Any]] {
    var last: CalendarDay?
    return tasks.map { task in
      var row = rowOrPlace(task, in: view, nested: nested)
      if nested.contains(task.id) { return row }
      if view.hasDaySections, let day = task.scheduledDate, day != last {
        row["rowHeading"] = clock.heading(of: day)
        last = day
      }
      return row
    }
  }
}
