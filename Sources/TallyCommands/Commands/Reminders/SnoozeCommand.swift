import ArgumentParser
import Tally

/// `tally snooze TASK`.
struct SnoozeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Postpone the reminder of a task.",
    usage: "tally snooze <task> --until <when> [<options>]",
    discussion: """
      Replaces the task's reminder; 'tally edit <task> --remind none' removes it.

      \(SharedHelp.day) \(SharedHelp.when)
      """
  )

  @Argument(help: SharedHelp.task)
  var task: String

  @Option(help: ArgumentHelp("When to be reminded. \(SharedHelp.remind)", valueName: "when"))
  var until: String

  func run(in session: Session) throws {
    let instant = try session.clock.instant(until, of: "--until", bareDay: .morning)
    let suffix = " until " + session.clock.relativeName(of: instant)
    try session.changeTasks([task], "Snoozed", suffix) { try $1.snooze($0, until: instant) }
  }
}
