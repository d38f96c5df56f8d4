import ArgumentParser
import Tally
import TallySystem

/// `tally add TEXT…`.
struct AddCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Capture a task.",
    usage: """
      tally add <text> ... [--today | --tomorrow | --on <day>] [--list <name>] [<options>]
      tally add - [<options>]
      """,
    discussion: """
      The words of the text are joined by spaces. Without a day or a list, the task goes to the inbox. With '-' as the \
      text, reads one task per line from standard input and adds all of them or none.

      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally add Buy milk --today
        tally add 'Send the report' --list Work --due 'friday 17:00'
        tally add 'Call Ayşe' --remind 'tomorrow 10:00'
        git log --format=%s | tally add - --list Releases
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The title, or '-' to read lines from standard input.", valueName: "text"))
  var text: [String]

  @Flag(help: "Schedule it for today.")
  var today = false

  @Flag(help: "Schedule it for tomorrow.")
  var tomorrow = false

  @Option(help: ArgumentHelp("Schedule it for this day.", valueName: "day"))
  var on: String?

  @Option(help: ArgumentHelp("Add it to this list, by name or id.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("When it is due. \(SharedHelp.due)", valueName: "when"))
  var due: String?

  @Option(help: ArgumentHelp("When to send a reminder. \(SharedHelp.remind)", valueName: "when"))
  var remind: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Notes.", valueName: "text"))
  var notes: String?

  func validate() throws {
    if [today, tomorrow, on != nil].count(where: \.self) > 1 {
      throw ValidationError("Give only one of --today, --tomorrow and --on.")
    }
  }

  func run(in session: Session) throws {
    let template = try template(session.clock)
    let lines = text == ["-"] ? try session.readLines() : [InputLine(number: nil, text: text.joined(separator: " "))]
    if lines.isEmpty { return try session.report(ChangeReport()) }
    if let line = lines.first, line.number == nil {
      // Before a store is created for it.
      try TaskItem(title: line.text, createdAt: session.clock.now).validate()
    }
    try session.write(for: list == nil ? .adding : .changing) { transaction in
      let tasks = try lines.map { line in
        try CommandFailure.replacing({ CommandFailure($0).atLine(line.number) }) {
          let listID = try list.map { try transaction.list(named: $0).id }
          return try transaction.add(line.text) { task in
            template(&task)
            task.listID = listID
          }
        }
      }
      // Named after all are added: each may make an earlier one's handle ambiguous.
      var change = ChangeReport()
      for task in tasks { change.append(try session.added(task, in: transaction)) }
      return change
    }
  }
}

extension AddCommand {
  /// Sets everything about a new task except its title and list.
  private func template(_ clock: LocalClock) throws -> (inout TaskItem) -> Void {
    let day =
      today
      ? clock.today
      : tomorrow ? try clock.today.adding(days: 1) : try on.map { try clock.day($0, of: "--on") }
    let dueDate = try due.map { try clock.instant($0, of: "--due", bareDay: .endOfDay) }
    let reminderDate = try remind.map { try clock.instant($0, of: "--remind", bareDay: .morning) }
    return { task in
      task.notes = notes.flatMap { $0.isEmpty ? nil : $0 }
      task.scheduledDate = day
      task.dueDate = dueDate
      task.reminderDate = reminderDate
    }
  }
}

extension Session {
  /// The change of a task that was added.
  func added(_ task: TaskItem, in transaction: borrowing StoreWriteTransaction) throws -> ChangeReport {
    let named = try transaction.name(task)
    let message = "Added \(named.handle) \(task.title.quotedForMessage) to \(placeInWords(named))."
    return ChangeReport(changed: [named], messages: [message])
  }

  /// Where a task is, in words: `the inbox`, `today`, `Work`, `Work, Fri 27 Nov`.
  func placeInWords(_ named: NamedTask) -> String {
    let day = named.task.scheduledDate.map(clock.relativeName)
    let places = [named.list?.name.quotedForMessage, day].compactMap(\.self)
    return places.isEmpty ? "the inbox" : places.joined(separator: ", ")
  }
}
