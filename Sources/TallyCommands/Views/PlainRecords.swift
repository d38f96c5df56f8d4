import Foundation
import Tally

/// The records of `--plain`: fields separated by tabs, one record a line, columns that stay as they are.
enum PlainRecords {
  /// The columns of a task's record, as the help names them.
  static let taskColumns = "handle, state, scheduledDate, dueDate, completedAt, list, title, id"
  /// The columns of a list's record.
  static let listColumns = "name, colorHex, id"

  static func record(of named: NamedTask) -> String {
    let task = named.task
    return line([
      named.handle, task.state.name, task.scheduledDate?.iso8601, task.dueDate?.iso8601, task.completedAt?.iso8601,
      named.list?.name, task.title, task.id.text,
    ])
  }

  static func record(of list: TaskList) -> String {
    line([list.name, list.colorHex, list.id.text])
  }

  /// Fields as one line; what is absent is empty, and no field can hold a tab or a line break.
  static func line(_ fields: [String?]) -> String {
    fields.map { $0?.escapedForDisplay(escapingBackslash: true) ?? "" }.joined(separator: "\t") + "\n"
  }
}
