import ArgumentParser
import Tally

/// `tally edit TASK`.
struct EditCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change a task's title, notes, due time or reminder.",
    usage: "tally edit <task> [--title <text>] [--notes <text>] [--due <when|none>] [--remind <when|none>] [<options>]",
    discussion: """
      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally edit 7f3a --title 'Buy oat milk'
        tally edit 7f3a --due 'friday 17:00' --remind none
      """
  )

  @Argument(help: SharedHelp.task)
  var task: String

  @Option(parsing: .unconditional, help: ArgumentHelp("The new title.", valueName: "text"))
  var title: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("The new notes; an empty text removes them.", valueName: "text"))
  var notes: String?

  @Option(help: ArgumentHelp("When it is due, or none. \(SharedHelp.due)", valueName: "when"))
  var due: String?

  @Option(help: ArgumentHelp("When to send a reminder, or none. \(SharedHelp.remind)", valueName: "when"))
  var remind: String?

  func validate() throws {
    if title == nil, notes == nil, due == nil, remind == nil {
      throw ValidationError("Nothing to change: give --title, --notes, --due or --remind.")
    }
  }

  func run(in session: Session) throws {
    let dueDate = try due.map { try session.instantOrNone($0, of: "--due", bareDay: .endOfDay) }
    let reminderDate = try remind.map { try session.instantOrNone($0, of: "--remind", bareDay: .morning) }
    try session.changeTasks([task], "Changed") { id, transaction in
      try transaction.update(id) { task in
        if let title { task.title = title }
        if let notes { task.notes = notes.isEmpty ? nil : notes }
        if let dueDate { task.dueDate = dueDate }
        if let reminderDate { task.reminderDate = reminderDate }
      }
    }
  }
}

extension Session {
  /// Reads an option that takes a WHEN or `none`.
  func instantOrNone(_ text: String, of option: String, bareDay: TimeOfBareDay) throws -> Timestamp? {
    text.lowercased() == "none" ? nil : try clock.instant(text, of: option, bareDay: bareDay)
  }
}
