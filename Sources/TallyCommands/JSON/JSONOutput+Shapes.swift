import Foundation
import Tally

extension JSONOutput {
  /// The members of a task; every key is there, `null` where there is nothing.
  mutating func members(of named: NamedTask) {
    let task = named.task
    member("id", task.id.text)
    member("handle", named.handle)
    member("title", task.title)
    member("notes", task.notes)
    member("state", task.state.name)
    member("scheduledDate", task.scheduledDate?.iso8601)
    member("dueDate", task.dueDate?.iso8601)
    member("reminderDate", task.reminderDate?.iso8601)
    member("listID", task.listID?.text)
    member("sortOrder", task.sortOrder)
    member("createdAt", task.createdAt.iso8601)
    member("updatedAt", task.updatedAt.iso8601)
    member("completedAt", task.completedAt?.iso8601)
  }

  /// The members of a list.
  mutating func members(of list: TaskList) {
    member("id", list.id.text)
    member("name", list.name)
    member("colorHex", list.colorHex)
    member("sortOrder", list.sortOrder)
    member("createdAt", list.createdAt.iso8601)
    member("updatedAt", list.updatedAt.iso8601)
  }
}
