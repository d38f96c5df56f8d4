import Tally

extension Remedy {
  /// Gives a task the state back that it had.
  static func restoringState(of before: TaskItem, handle: String) -> Remedy {
    switch before.state {
    case .notStarted: Remedy(verb: "reopen", handle: handle)
    case .active: Remedy(verb: "start", handle: handle)
    case .completed:
      Remedy(verb: "done", handle: handle, options: before.completedAt.map { ["--at", $0.iso8601] } ?? [])
    }
  }

  /// Puts a task back to the list and the day it had.
  static func restoringPlace(
    of before: TaskItem,
    from after: TaskItem,
    list: TaskList?,
    handle: String
  ) -> [Remedy] {
    var remedies: [Remedy] = []
    var (listID, day) = (after.listID, after.scheduledDate)
    // Only the inbox takes a day away.
    if before.scheduledDate == nil, day != nil || (before.listID == nil && listID != nil) {
      remedies.append(Remedy(verb: "move", handle: handle, options: ["--to", "inbox"]))
      (listID, day) = (nil, nil)
    }
    if before.listID != listID {
      remedies.append(Remedy(verb: "move", handle: handle, options: ["--list", list?.name ?? "none"]))
    }
    if let former = before.scheduledDate, former != day {
      remedies.append(Remedy(verb: "move", handle: handle, options: ["--to", former.iso8601]))
    }
    // Commands are offered last things first.
    return remedies.reversed()
  }

  /// Gives a task the texts and times back that an edit replaced; none where a text is too long to be typed.
  static func restoringFields(of before: TaskItem, from after: TaskItem, handle: String) -> [Remedy] {
    var options: [String] = []
    if before.title != after.title { options += ["--title", before.title] }
    if before.notes != after.notes { options += ["--notes", before.notes ?? ""] }
    if before.dueDate != after.dueDate { options += ["--due", before.dueDate?.iso8601 ?? "none"] }
    if before.reminderDate != after.reminderDate { options += ["--remind", before.reminderDate?.iso8601 ?? "none"] }
    guard options.allSatisfy({ $0.isShortEnoughToType }) else { return [] }
    return [Remedy(verb: "edit", handle: handle, options: options)]
  }

  /// Adds a task like a deleted one; none where a text is too long to be typed.
  static func addingAgain(_ named: NamedTask) -> [Remedy] {
    let task = named.task
    var options: [String] = task.title.hasPrefix("-") ? [] : [task.title]
    if let list = named.list { options += ["--list", list.name] }
    if let day = task.scheduledDate { options += ["--on", day.iso8601] }
    if let due = task.dueDate { options += ["--due", due.iso8601] }
    if let reminder = task.reminderDate { options += ["--remind", reminder.iso8601] }
    if let notes = task.notes { options += ["--notes", notes] }
    // Else the title would be taken for an option.
    if task.title.hasPrefix("-") { options += ["--", task.title] }
    guard options.allSatisfy({ $0.isShortEnoughToType }) else { return [] }
    return [Remedy(verb: "add", handle: "", options: options)]
  }
}

extension String {
  fileprivate var isShortEnoughToType: Bool { utf8.count <= 500 }
}
