import ArgumentParser
import Tally

/// `tally snooze TASK…`.
struct SnoozeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Postpone the reminders of tasks.",
    usage: "tally snooze <task> ... | --where <filter> --until <when> [<options>]",
    discussion: """
      Replaces the reminder of each task; 'tally edit <task> --remind none' removes it. Of a repeating task the next one has \
      its own reminder again; 'tally edit <task> --remind <when>' holds from now on. Completed tasks have no reminders; a \
      filter leaves them out.

      \(SharedHelp.day) \(SharedHelp.when)

      \(SharedHelp.whereOption)

      EXAMPLES
        tally snooze 7f3a --until 10m
        tally snooze 7f3a 91bc --until 'tomorrow 9:00'
        tally snooze --where 'reminder=today' --until 'next monday'
      """
  )

  @OptionGroup var selection: TaskSelection

  @Option(help: ArgumentHelp("When to be reminded. \(SharedHelp.remind)", valueName: "when"))
  var until: String?

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

  func validate(with global: GlobalOptions) throws {
    try selection.check()
    if until == nil { throw ValidationError("Missing expected argument '--until <when>'") }
  }

  func run(in session: Session) throws {
    let instant = try session.clock.instant(until ?? "", of: "--until", bareDay: .morning)
    let suffix = " until " + session.clock.relativeName(of: instant)
    try session.changeTasks(
      selection, openOnly: true, "Snoozed", { suffix + ($0.isReminderSnoozed ? ", for this once" : "") }
    ) { task, transaction in
      try transaction.snooze(task.id, until: instant)
    }
    session.warnIfPast(reminder: instant)
  }
}
