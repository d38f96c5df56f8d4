import ArgumentParser
import Tally

/// `tally show TASK`.
struct ShowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one task in full, with its sub-tasks and recent changes.",
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
    let sheet = try readChanges { transaction, devices in
      let task = try task(transaction)
      let words = ChangeWords(clock: clock)
      return TaskSheet(
        named: try transaction.name(task),
        subtasks: try transaction.subtasks(of: task.id).map { try transaction.name($0) }.withHandlesOfOneLength,
        parent: try task.parentID.flatMap { try transaction.task($0) }.map { try transaction.name($0) },
        changes: try transaction.history(of: task.id, limit: TaskSheet.shownChangeCount).map {
          try transaction.name($0, with: words, limit: .max, by: devices)
        },
        session: self)
    }
    try answer(sheet.facts, plain: .fields) { try output.write(sheet.text) }
  }
}
