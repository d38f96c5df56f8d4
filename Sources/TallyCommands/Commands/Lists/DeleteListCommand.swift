import ArgumentParser
import Tally

/// `tally lists delete NAME`.
struct DeleteListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a list; with --force, also one that holds tasks, together with them.",
    usage: "tally lists delete <name> [--force] [<options>]"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @Flag(help: "Delete the list's tasks, too.")
  var force = false

  func run(in session: Session) throws {
    try session.write { transaction in
      let list = try transaction.list(named: name)
      var change = ChangeReport()
      try transaction.forEachTask(in: .list(list.id)) { task, _ in
        change.deleted.append(task.id)
        return true
      }
      guard change.deleted.isEmpty || force else {
        throw CommandFailure.usage(
          "List \(name.quotedForMessage) holds \(change.deleted.count.counted("task"))", code: "listNotEmpty",
          remedy: "Add --force to delete them, too; run 'tally export' first to keep a copy")
      }
      let taskCount = try transaction.deleteList(list.id)
      change.deleted.append(list.id)
      let tasks = taskCount == 0 ? "" : " and its \(taskCount.counted("task"))"
      change.messages = ["Deleted list \(list.name.quotedForMessage)\(tasks)."]
      return change
    }
  }
}
