import ArgumentParser
import Foundation
import Tally

/// `tally lists merge NAME INTO`.
struct MergeListsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Move the tasks of a list into another one, and delete the emptied list.",
    usage: "tally lists merge <name> <into> [<options>]",
    discussion: """
      The tasks keep their order and follow those of the other list. One undo reverses the merge. If two devices have \
      created lists with the same name, give the name twice: all of them are merged into the oldest one.

      EXAMPLES
        tally lists merge Food Groceries
        tally lists merge Groceries Groceries
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The list that is emptied: its name, its id or the end of that.", valueName: "name"))
  var name: String

  @Argument(help: ArgumentHelp("The list that takes its tasks.", valueName: "name"))
  var target: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let (merged, target) = try lists(in: transaction)
      var change = ChangeReport(lists: [target])
      var taskIDs: [UUID] = []
      for list in merged {
        try transaction.forEachTask(in: .list(list.id)) { task, _ in
          taskIDs.append(task.id)
          return true
        }
        try transaction.mergeList(list.id, into: target.id)
        change.deleted.append(list.id)
      }
      change.changed = try taskIDs.compactMap { try transaction.task($0) }.map { try transaction.name($0) }
      let lists =
        merged.count == 1
        ? "list \(merged[0].name.quotedForMessage)" : "\(merged.count) lists \(name.quotedForMessage)"
      change.messages = [
        "Merged \(lists) into \(target.name.quotedForMessage): moved \(taskIDs.count.counted("task"))."
      ]
      return change
    }
  }

  /// The lists that are emptied, and the one that takes their tasks.
  private func lists(in transaction: borrowing StoreWriteTransaction) throws -> ([TaskList], TaskList) {
    let same = name == target ? try transaction.lists().namesakes(of: name) : []
    if let oldest = same.first { return (Array(same.dropFirst()), oldest) }
    let (merged, into) = (try transaction.list(named: name), try transaction.list(named: target))
    guard merged.id != into.id else {
      throw CommandFailure.usage("A list cannot be merged with itself", remedy: "Name two lists")
    }
    return ([merged], into)
  }
}
