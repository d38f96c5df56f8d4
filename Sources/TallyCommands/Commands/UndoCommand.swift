import ArgumentParser
import Tally

/// `tally undo`.
struct UndoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undo the last change.",
    usage: "tally undo [<options>]",
    discussion: """
      Undoes the last change to the store, from any program: tasks, lists, their order and the statistics return to \
      their previous state. Run it again to undo the change before that; 'tally redo' reverses an undo. About a thousand \
      changes are kept.
      """
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    var change = try session.write { transaction in
      let reversal = try transaction.undo()
      return try Change(reversal, session.clock, transaction) { "Undid the change from \($0):" }
    }
    change.remedy = .redo
    try session.report(change)
  }
}

/// `tally redo`.
struct RedoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Redo the last undone change.",
    usage: "tally redo [<options>]",
    discussion: "Works until something else is changed."
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.report(
      try session.write { transaction in
        let reversal = try transaction.redo()
        return try Change(reversal, session.clock, transaction) { "Redid the change from \($0):" }
      }
    )
  }
}

extension Change {
  /// What an undo or a redo did.
  init(
    _ reversal: Reversal, _ clock: LocalClock, _ transaction: borrowing StoreWriteTransaction,
    title: (String) -> String
  ) throws {
    changed = try reversal.tasks.map { try transaction.name($0) }
    deleted = reversal.deletedTasks.map(\.id) + reversal.deletedLists.map(\.id)
    lists = reversal.lists
    messages = [title(clock.relativeName(of: reversal.date))]
    messages += reversal.deletedLists.map { "Deleted list \($0.name.quotedForMessage)." }
    messages += reversal.lists.map { list in
      let isBack = reversal.returnedListIDs.contains(list.id)
      return "\(isBack ? "Restored" : "Changed") list \(list.name.quotedForMessage)."
    }
    messages += reversal.deletedTasks.map { "Deleted \($0.title.quotedForMessage)." }
    messages += changed.map { named in
      let isBack = reversal.returnedTaskIDs.contains(named.task.id)
      return "\(isBack ? "Restored" : "Changed") \(named.handle) \(named.task.title.quotedForMessage)."
    }
  }
}
