import ArgumentParser
import Tally

/// `tally undo`.
struct UndoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Take the last change back.",
    usage: "tally undo [<options>]",
    discussion: """
      Takes back the last command that changed something, whoever gave it: tasks, lists, their order and what the \
      statistics count are as they were. Again, it takes back the one before; 'tally redo' brings back what it took. \
      About a thousand changes are kept.
      """
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    var change = try session.write { transaction in
      let reversal = try transaction.undo()
      return try Change(reversal, session.clock, transaction) { "Took back the change of \($0):" }
    }
    change.remedy = .redo
    try session.report(change)
  }
}

/// `tally redo`.
struct RedoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Do again what undo took back.",
    usage: "tally redo [<options>]",
    discussion: "Works as long as nothing else has been changed since."
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.report(
      try session.write { transaction in
        let reversal = try transaction.redo()
        return try Change(reversal, session.clock, transaction) { "Did the change of \($0) again:" }
      }
    )
  }
}

extension Change {
  /// Tells what an undo or a redo did.
  init(
    _ reversal: Reversal, _ clock: LocalClock, _ transaction: borrowing StoreWriteTransaction,
    title: (String) -> String
  ) throws {
    changed = try reversal.tasks.map { try transaction.name($0) }
    deleted = reversal.deletedTasks.map(\.id) + reversal.deletedLists.map(\.id)
    lists = reversal.lists
    messages = [title(clock.relativeName(of: reversal.date))]
    messages += reversal.deletedLists.map { "Removed the list \($0.name.quotedForMessage)." }
    messages += reversal.lists.map { list in
      let isBack = reversal.returnedListIDs.contains(list.id)
      return "\(isBack ? "Brought back" : "Restored") the list \(list.name.quotedForMessage)."
    }
    messages += reversal.deletedTasks.map { "Removed \($0.title.quotedForMessage)." }
    messages += changed.map { named in
      let isBack = reversal.returnedTaskIDs.contains(named.task.id)
      return "\(isBack ? "Brought back" : "Restored") \(named.handle) \(named.task.title.quotedForMessage)."
    }
  }
}
