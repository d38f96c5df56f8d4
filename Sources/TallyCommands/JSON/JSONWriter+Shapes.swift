import Foundation
import Tally

extension JSONWriter {
  /// Writes the members of a task; every key is there, `null` where there is nothing.
  mutating func members(of named: NamedTask) {
    let task = named.task
    member("id", task.id)
    member("handle", named.handle)
    member("title", task.title)
    member("notes", task.notes)
    member("state", task.state.name)
    key("scheduledDate")
    value(task.scheduledDate)
    member("dueDate", task.dueDate)
    member("reminderDate", task.reminderDate)
    member("listID", task.listID)
    member("sortOrder", task.sortOrder)
    member("createdAt", task.createdAt)
    member("updatedAt", task.updatedAt)
    key("completedAt")
    value(task.completedAt)
  }

  /// Writes the members of a list.
  mutating func members(of list: TaskList) {
    member("id", list.id)
    member("name", list.name)
    member("colorHex", list.colorHex)
    member("sortOrder", list.sortOrder)
    member("createdAt", list.createdAt)
    member("updatedAt", list.updatedAt)
  }
}

extension JSONWriter {
  mutating func member(_ name: StaticString, _ text: String?) {
    key(name)
    value(text)
  }

  mutating func member(_ name: StaticString, _ number: Int64?) {
    key(name)
    value(number)
  }

  mutating func member(_ name: StaticString, _ number: Int) {
    member(name, Int64(number))
  }

  mutating func member(_ name: StaticString, _ isTrue: Bool) {
    key(name)
    value(isTrue)
  }

  mutating func member(_ name: StaticString, _ id: UUID?) {
    key(name)
    value(id)
  }

  mutating func member(_ name: StaticString, _ instant: Timestamp?) {
    key(name)
    value(instant)
  }

  mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    beginObject()
    try body(&self)
    endObject()
  }

  mutating func array<Element>(
    _ name: StaticString,
    of elements: some Sequence<Element>,
    _ body: (inout JSONWriter, Element) throws -> Void
  ) rethrows {
    key(name)
    beginArray()
    for element in elements { try body(&self, element) }
    endArray()
  }
}
