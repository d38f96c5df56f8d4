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

  func run(in session: Session) throws {
    try session.write { try ChangeReport("Undid", $0.undo(), session.clock, $0, remedy: .redo) }
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

  func run(in session: Session) throws {
    try session.write { try ChangeReport("Redid", $0.redo(), session.clock, $0, remedy: .undo) }
  }
}

extension ChangeReport {
  /// What an undo or a redo did.
  init(
    _ verb: String, _ result: UndoResult, _ clock: LocalClock, _ transaction: borrowing StoreWriteTransaction,
    remedy: Remedy
  ) throws {
    self.remedy = remedy
    changed = try result.tasks.map { try transaction.name($0) }
    deleted = result.deletedTasks.map(\.id) + result.deletedLists.map(\.id)
    lists = result.lists
    messages = ["\(verb) the change from \(clock.relativeName(of: result.date)):"]
    messages += result.deletedLists.map { "Deleted list \($0.name.quotedForMessage)." }
    messages += result.lists.map { list in
      let isBack = result.returnedListIDs.contains(list.id)
      return "\(isBack ? "Restored" : "Changed") list \(list.name.quotedForMessage)."
    }
    messages += result.deletedTasks.map { "Deleted \($0.title.quotedForMessage)." }
    messages += changed.map { named in
      let isBack = result.returnedTaskIDs.contains(named.task.id)
      return "\(isBack ? "Restored" : "Changed") \(named.handle) \(named.task.title.quotedForMessage)."
    }
  }
}
