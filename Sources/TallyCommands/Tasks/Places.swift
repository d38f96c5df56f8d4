import ArgumentParser
import Tally

/// `tally move TASK…`.
struct MoveCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "move", "Move tasks to a day, to a list, or next to another task.",
    usage: """
      <task> ... | --where <filter> [--to <inbox|today|tomorrow|day|none>] [--list <name|none>] \
      [--before <task> | --after <task>]
      """,
    discussion: """
      Takes a day, a list and a neighbour, or some of them, in one step. 'inbox' removes both the list and the day, \
      'none' only the one whose option it is given to. The neighbour is in the same list or on the same day, after the \
      move. Several tasks keep the order in which they are named.

      A reminder on the day that a task leaves moves along, at the same time of the day; one on another day stays, and the \
      answer says so.

      \(SharedHelp.day)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally move 7f3a 91bc --to tomorrow
        tally move 7f3a --list Work --to none
        tally move 7f3a --list Work --before 91bc
        tally move --where 'is:overdue' --to today
      """)

  @OptionGroup var selection: TaskSelection

  @Option(help: ArgumentHelp("inbox, today, tomorrow, another DAY or none.", valueName: "place"))
  var to: String?

  @Option(help: ArgumentHelp("A list's name or id, or none.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("Put them before this task, in the same list or on the same day.", valueName: "task"))
  var before: String?

  @Option(help: ArgumentHelp("Put them after this task, in the same list or on the same day.", valueName: "task"))
  var after: String?

  func validate(with global: GlobalOptions) throws {
    try selection.check()
    if [to, list, before, after].allSatisfy({ $0 == nil }) {
      throw ValidationError("Missing destination: give --to, --list, --before or --after.")
    }
    if before != nil, after != nil { throw ValidationError("Give only one of --before and --after.") }
    if goesToInbox, let list, !list.isNone {
      throw ValidationError("--to inbox takes tasks out of their lists. Give only one of --to inbox and --list.")
    }
  }

  private var goesToInbox: Bool { to?.lowercased() == "inbox" }

  func run(in session: Session) throws {
    let day = try to.map { $0.isNone || goesToInbox ? nil : try session.clock.day($0, of: "--to") }
    try session.write { transaction in
      let tasks = try selection.tasks(in: transaction)
      let newList = goesToInbox ? .some(nil) : try list.map { $0.isNone ? nil : try transaction.list(named: $0).id }
      var row = try TaskRow(before: before, after: after, in: transaction)
      let orderBefore = try row?.visibleOrder(with: tasks, in: transaction)
      var changes = try TaskChanges(session.clock, of: selection, in: transaction)
      for task in tasks {
        let anchor = row?.anchorInWords ?? ""
        let words: TaskChanges.Wording = { old, new, _ in
          (
            "Moved",
            session.movement(from: old, to: new) + anchor + session.reminderWords(from: old, to: new.task)
              + session.clock.waitingSuffix(of: new.task)
          )
        }
        try changes.change(task, in: &transaction, reporting: words) { task, transaction in
          let moved = try transaction.update(task.id) { task in
            if let day { task.scheduledDate = day }
            if let newList { task.listID = newList }
          }
          return try row?.append(moved, in: &transaction) ?? moved
        }
      }
      if let orderBefore, try row?.visibleOrder(with: tasks, in: transaction) == orderBefore {
        changes.say("The order you see has not changed: views show tasks by their state first.")
      }
      return try changes.report(in: transaction)
    }
  }
}

/// `tally delete TASK…`.
struct DeleteCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    "delete", "Delete tasks with their sub-tasks.", usage: "<task> ... | --where <filter> [--only]",
    discussion: """
      Completions of deleted tasks still count. A repeating task ends with its open task, unless --only is given.

      \(SharedHelp.whereOption)
      """)

  @OptionGroup var selection: TaskSelection

  @Flag(help: "Delete only this occurrence of a repeating task; the next one follows.")
  var only = false

  func run(in session: Session) throws {
    try session.write { transaction in
      var change = ChangeReport()
      let waitingWords = try selection.waitingWords(in: transaction)
      // Named before the first is deleted: handles can get shorter with every deletion.
      for named in try selection.tasks(in: transaction).map({ try transaction.name($0) }) {
        // It may have gone with its parent, which came before.
        guard try transaction.task(named.task.id) != nil else { continue }
        let parts = try transaction.descendants(of: named.task.id)
        let partNames = try transaction.words(for: parts)
        if only { try transaction.deleteOccurrence(named.task.id) } else { try transaction.delete(named.task.id) }
        change.deleted += [named.task.id] + parts.map(\.id)
        let noun = parts.count == 1 ? "sub-task" : "\(parts.count.grouped) sub-tasks"
        let suffix = parts.isEmpty ? "" : " and its \(noun) \(partNames)"
        change.messages.append("Deleted \(named.inWords)\(suffix).")
        guard named.task.recurrence != nil, named.task.isOpen else { continue }
        if let next = try transaction.successor(of: named.task) {
          let named = try transaction.name(next)
          change.changed.append(named)
          change.messages.append(session.clock.sentence(aboutNext: named))
        } else {
          change.messages.append(
            only ? "The series has ended." : "The series ends with it; delete --only leaves out one occurrence.")
        }
      }
      if let waitingWords { change.messages.append(waitingWords) }
      return change
    }
  }
}

extension Session {
  /// The change of a task's place by a move, in words: ` to “Work”, tomorrow`, ` off its day; it stays in “Work”`.
  ///
  /// - Returns: the words after the title, with a blank before them; none if the task only changed its neighbours.
  func movement(from old: TaskItem, to new: NamedTask) -> String {
    let (oldDay, newDay) = (old.scheduledDate, new.task.scheduledDate)
    let (changesList, changesDay) = (old.listID != new.task.listID, oldDay != newDay)
    guard changesList || changesDay else { return "" }
    if new.task.listID == nil, newDay == nil { return " to the inbox" }
    let list = new.list?.name.quotedForMessage
    let day = newDay.map(clock.relativeName)
    let reached = [changesList ? list : nil, changesDay ? day : nil].compactMap(\.self)
    let left = [
      changesList && list == nil ? "out of its list" : nil, changesDay && day == nil ? "off its day" : nil,
    ].compactMap(\.self)
    if reached.isEmpty {
      let rest = list.map { "in \($0)" } ?? day.map { "planned for \($0)" } ?? ""
      return " \(left.joined(separator: " and ")); it stays \(rest)"
    }
    return " to \(reached.joined(separator: ", "))" + left.map { ", \($0)" }.joined()
  }

  /// Words about the reminder of a task that got another day or due date: `; its reminder moves to tomorrow 09:00`.
  ///
  /// - Parameters:
  ///   - old: the task before the change.
  ///   - new: the task after it.
  ///   - namesMoves: whether to say where the reminder has moved, unless the fields of the task are named anyway.
  /// - Returns: the words after those of the change; none if there is nothing to say.
  func reminderWords(from old: TaskItem, to new: TaskItem, namingMoves namesMoves: Bool = true) -> String {
    // The fields of a task name the reminders that are instants, but not those of relative ones.
    let moves = new.reminderMoves(from: old, in: clock.timeZone)
    let instants = Set(new.reminders.compactMap(\.instant))
    var (moved, stayed, ended): ([String], [String], [String]) = ([], [], [])
    for move in moves {
      switch move {
      case .moved(let instant):
        if namesMoves || !instants.contains(instant) { moved.append(clock.relativeName(of: instant)) }
      case .stayed(let instant): stayed.append(clock.relativeName(of: instant))
      case .ended(let relative): ended.append("“\(relative)” has no date to count from now")
      }
    }
    let isOnly = new.reminders.count == 1
    func words(_ all: [String], _ verb: String, _ joint: String, _ mark: String) -> [String] {
      // Several may be at one instant.
      var seen: Set<String> = []
      let names = all.filter { seen.insert($0).inserted }
      guard !names.isEmpty else { return [] }
      let subject = isOnly ? "its reminder \(verb)s" : names.count == 1 ? "a reminder \(verb)s" : "reminders \(verb)"
      return ["\(subject)\(mark) \(names.joined(separator: joint))"]
    }
    let parts = words(moved, "move", " and ", " to") + words(stayed, "stay", ", ", ":") + ended
    return parts.map { "; \($0)" }.joined()
  }
}
