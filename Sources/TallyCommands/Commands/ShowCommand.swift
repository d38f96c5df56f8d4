import ArgumentParser
import Tally

/// `tally show TASK`.
struct ShowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one task in full.",
    usage: "tally show <task> [<options>]",
    discussion: "With --plain, prints one field per line: its name, a tab, its value."
  )

  @Argument(help: SharedHelp.task)
  var task: String

  func run(in session: Session) throws {
    try session.showSheet { try $0.task(named: task) }
  }
}

extension Session {
  /// Prints one task in full.
  func showSheet(of task: (borrowing StoreReadTransaction) throws -> TaskItem) throws {
    let named = try read { try $0.name(try task($0)) }
    try answer(named.facts, plain: .fields) { try output.write(TaskSheet(named: named, session: self).text) }
  }
}
