import ArgumentParser
import Tally

/// `tally reminders`.
struct RemindersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "reminders",
    abstract: "Show upcoming reminders, soonest first.",
    usage: "tally reminders [--from <instant>] [--limit <n>] [<options>]",
    discussion: """
      With --from an instant in the past, includes the reminders missed since then. Completed tasks have no reminders.

      With --plain, a line has these columns: \(columns.joined(separator: ", ")).
      """
  )

  private static let columns = ["handle", "reminderDate", "title", "id"]

  @Option(help: ArgumentHelp("Start at this instant instead of now.", valueName: "when"))
  var from: String?

  @OptionGroup
  var limited: LimitOption

  func run(in session: Session) throws {
    let start = try from.map { try session.clock.instant($0, of: "--from", bareDay: .morning) }
    let reminders = try session.read { transaction in
      try transaction.pendingReminders(from: start, limit: limited.limit ?? .max).map { try transaction.name($0) }
        .withHandlesOfOneLength
    }
    let section: Facts = ["day": .day(nil), "tasks": .array(reminders.map(\.facts))]
    try session.answer(
      session.headFacts(ofView: "reminders", completedCount: 0).adding(["sections": .array([section])]),
      plain: .records([("sections.tasks", Self.columns)])
    ) {
      try session.output.write(text(of: reminders, session))
    }
    if reminders.isEmpty {
      session.hint("No upcoming reminders. Set one: tally edit TASK --remind 'tomorrow 10:00'")
    }
  }

  private func text(of reminders: [NamedTask], _ session: Session) -> String {
    let handleWidth = reminders.map(\.handle.utf8.count).max() ?? 0
    return reminders.map { named in
      let when = named.task.reminderDate.map(session.clock.relativeName) ?? ""
      let start = "  \(named.handle.padded(toWidth: handleWidth))  \(when)  "
      let room = session.width.map { max(8, $0 - start.displayWidth) } ?? .max
      let handle = session.painter.paint(named.handle.padded(toWidth: handleWidth), .handle)
      return "  \(handle)  \(session.painter.paint(when, .detail))  "
        + named.task.title.escapedForDisplay().truncated(toWidth: room) + "\n"
    }.joined()
  }
}
