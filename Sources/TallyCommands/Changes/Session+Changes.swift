import Foundation
import Tally

extension Session {
  /// Changes the named tasks in one transaction and reports the changes.
  func changeTasks(
    _ names: [String], _ verb: String, _ suffix: String = "",
    _ change: (UUID, inout StoreWriteTransaction) throws -> TaskItem
  ) throws {
    try write { transaction in
      var changes = ChangeReport()
      for before in try transaction.tasks(named: names) {
        let after = try change(before.id, &transaction)
        changes.append(try transaction.change(from: before, to: after, verb, suffix))
      }
      return changes
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
