import ArgumentParser
import Tally

/// `tally reopen TASK…`.
struct ReopenCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "reopen",
    abstract: "Mark tasks as not started, from any state.",
    usage: "tally reopen <task> ... [<options>]"
  )

  @Argument(help: SharedHelp.tasks)
  var tasks: [String]

  func run(in session: Session) throws {
    try session.changeTasks(tasks, "Reopened") { try $1.reopen($0) }
  }
}
