import ArgumentParser
import Foundation
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

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.changeStates(of: tasks, "Started") { try $1.start($0) }
  }
}

extension Session {
  /// Changes the states of tasks in one transaction and reports it.
  func changeStates(
    of names: [String],
    _ verb: String,
    _ suffix: String = "",
    _ change: (UUID, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    try report(
      try write { transaction in
        var changes = ChangeReport()
        for before in try transaction.tasks(named: names) {
          let after = try change(before.id, &transaction)
          changes.append(try transaction.change(from: before, to: after, verb, suffix))
        }
        return changes
      }
    )
  }
}
