import ArgumentParser
import Foundation
import Tally

/// `tally move TASK…`.
struct MoveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move tasks to a day, to a list, or next to another task.",
    usage: """
      tally move <task> ... --to <inbox|today|tomorrow|day|none> [<options>]
      tally move <task> ... --list <name|none> [<options>]
      tally move <task> ... --before <task> | --after <task> [<options>]
      """,
    discussion: """
      'inbox' removes both the list and the day, 'none' only the day. Several tasks keep the order in which they are \
      named.

      \(SharedHelp.day)

      EXAMPLES
        tally move 7f3a 91bc --to tomorrow
        tally move 7f3a --list Work
        tally move 7f3a --before 91bc
      """
  )

  @Argument(help: SharedHelp.tasks)
  var tasks: [String]

  @Option(help: ArgumentHelp("inbox, today, tomorrow, another DAY or none.", valueName: "place"))
  var to: String?

  @Option(help: ArgumentHelp("A list's name or id, or none.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("Put them before this task, in the same list or on the same day.", valueName: "task"))
  var before: String?

  @Option(help: ArgumentHelp("Put them after this task, in the same list or on the same day.", valueName: "task"))
  var after: String?

  @OptionGroup
  var global: GlobalOptions

  func validate() throws {
    switch [to, list, before, after].count(where: { $0 != nil }) {
    case 0: throw ValidationError("Missing destination: give --to, --list, --before or --after.")
    case 1: break
    default: throw ValidationError("Give only one of --to, --list, --before and --after.")
    }
  }

  func run(in session: Session) throws {
    let day = try to.flatMap { text in
      ["inbox", "none"].contains(text.lowercased())
        ? nil : try CommandFailure.naming("--to") { try session.clock.day(text) }
    }
    let change = try session.write { transaction in
      let tasks = try transaction.tasks(named: tasks)
      if let anchor = before { return try transaction.moveTasks(tasks, before: anchor) }
      if let anchor = after { return try transaction.moveTasks(tasks, after: anchor) }
      let list = try listToMoveTo(&transaction)
      var change = ChangeReport()
      for task in tasks { change.append(try move(task, day, list, session, &transaction)) }
      return change
    }
    try session.report(change)
  }
}

extension MoveCommand {
  private func listToMoveTo(_ transaction: inout StoreWriteTransaction) throws -> TaskList? {
    // A list may be named "none"; it is then reached by its id.
    try list.flatMap { $0.lowercased() == "none" ? nil : try transaction.list(named: $0) }
  }

  private func move(
    _ before: TaskItem,
    _ day: CalendarDay?,
    _ list: TaskList?,
    _ session: Session,
    _ transaction: inout StoreWriteTransaction
  ) throws -> ChangeReport {
    let after = try transaction.update(before.id) { task in
      if self.list != nil { task.listID = list?.id } else { task.scheduledDate = day }
      if to?.lowercased() == "inbox" { task.listID = nil }
    }
    let place = session.placeInWords(list: try transaction.list(withID: after.listID), day: after.scheduledDate)
    return try transaction.change(from: before, to: after, "Moved", " to \(place)")
  }
}
