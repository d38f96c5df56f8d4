import ArgumentParser
import Tally

/// `tally start TASK…`.
struct StartCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Mark tasks as in progress.",
    usage: "tally start <task> ... [<options>]"
  )

  @Argument(help: SharedHelp.tasks)
  var tasks: [String]

  func run(in session: Session) throws {
    try session.changeTasks(tasks, "Started") { try $1.start($0) }
  }
}
