import ArgumentParser
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

  func validate() throws {
    switch [to, list, before, after].count(where: { $0 != nil }) {
    case 0: throw ValidationError("Missing destination: give --to, --list, --before or --after.")
    case 1: break
    default: throw ValidationError("Give only one of --to, --list, --before and --after.")
    }
  }

  func run(in session: Session) throws {
    let day = try to.flatMap { text in
      ["inbox", "none"].contains(text.lowercased()) ? nil : try session.clock.day(text, of: "--to")
    }
    try session.write { transaction in
      let tasks = try transaction.tasks(named: tasks)
      if let before { return try transaction.moveTasks(tasks, .before, before) }
      if let after { return try transaction.moveTasks(tasks, .after, after) }
      // A list may be named "none"; it is then reached by its id.
      let newList = try list.flatMap { $0.lowercased() == "none" ? nil : try transaction.list(named: $0) }
      var change = ChangeReport()
      for before in tasks {
        let after = try transaction.update(before.id) { task in
          if list != nil { task.listID = newList?.id } else { task.scheduledDate = day }
          if to?.lowercased() == "inbox" { task.listID = nil }
        }
        let place = session.placeInWords(try transaction.name(after))
        change.append(try transaction.change(from: before, to: after, "Moved", " to \(place)"))
      }
      return change
    }
  }
}
