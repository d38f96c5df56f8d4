import ArgumentParser
import Tally

/// `tally move TASK…`.
struct MoveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move tasks to a day, to a list, or next to another task.",
    usage: """
      tally move <task> ... | --where <filter> [--to <inbox|today|tomorrow|day|none>] [--list <name|none>] \
      [--before <task> | --after <task>] [<options>]
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
      """
  )

  @OptionGroup var selection: TaskSelection

  @Option(help: ArgumentHelp("inbox, today, tomorrow, another DAY or none.", valueName: "place"))
  var to: String?

  @Option(help: ArgumentHelp("A list's name or id, or none.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("Put them before this task, in the same list or on the same day.", valueName: "task"))
  var before: String?

  @Option(help: ArgumentHelp("Put them after this task, in the same list or on the same day.", valueName: "task"))
  var after: String?

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

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
      var changes = TaskChanges(session.clock, countingUnchanged: selection.filter != nil)
      for task in tasks {
        let anchor = row?.anchorInWords ?? ""
        let words: TaskChanges.Wording = { old, new, _ in
          ("Moved", session.movement(from: old, to: new) + anchor + session.reminderWords(from: old, to: new.task))
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
