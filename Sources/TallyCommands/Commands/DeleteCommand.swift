import ArgumentParser
import Tally

/// `tally delete TASK…`.
struct DeleteCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete tasks.",
    usage: "tally delete <task> ... [<options>]",
    discussion: "Completions of deleted tasks still count."
  )

  @Argument(help: SharedHelp.tasks)
  var tasks: [String]

  func run(in session: Session) throws {
    try session.write { transaction in
      var change = ChangeReport()
      // Named before the first is deleted: handles can get shorter with every deletion.
      for named in try transaction.tasks(named: tasks).map({ try transaction.name($0) }) {
        try transaction.delete(named.task.id)
        change.deleted.append(named.task.id)
        change.messages.append("Deleted \(named.handle) \(named.task.title.quotedForMessage).")
      }
      return change
    }
  }
}
