import Tally

extension Session {
  /// Changes the selected tasks in one transaction and reports the changes.
  ///
  /// - Parameters:
  ///   - selection: the tasks.
  ///   - openOnly: whether a filter finds only open tasks.
  ///   - verb: the words before the handle of a changed task.
  ///   - suffix: gives the words after its title, from the task after the change.
  ///   - change: changes one task.
  /// - Throws: ``CommandFailure``, or what the change throws; nothing is changed then.
  func changeTasks(
    _ selection: TaskSelection, openOnly: Bool = false, _ verb: String,
    _ suffix: (TaskItem) -> String = { _ in "" },
    _ change: (TaskItem, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    try write { transaction in
      var changes = TaskChanges(clock, countingUnchanged: selection.filter != nil)
      for task in try selection.tasks(in: transaction, openOnly: openOnly) {
        try changes.change(task, in: &transaction, reporting: { _, new, _ in (verb, suffix(new.task)) }, change)
      }
      return try changes.report(in: transaction)
    }
  }

  /// Changes a list in one transaction and reports it with a message; if nothing changed, says so.
  func changeList(
    _ name: String, _ change: (TaskList, inout StoreWriteTransaction) throws -> (TaskList, message: String)
  ) throws {
    try write { transaction in
      let before = try transaction.list(named: name)
      let (after, message) = try change(before, &transaction)
      if before != after { return ChangeReport(lists: [after], messages: [message]) }
      return ChangeReport(messages: ["No change: list \(after.name.quotedForMessage) is already like that."])
    }
  }
}
