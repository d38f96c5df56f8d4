import Foundation
import LMDB
import TallyEngine

/// An instant, then an identifier, the key of `byCreated` and `byReminder`; 24 bytes.
struct InstantKey: IndexKey {
  static let width = 24
  let microseconds: Int64
  let id: UUID

  init(microseconds: Int64, id: UUID) {
    self.microseconds = microseconds
    self.id = id
  }

  init(fields bytes: RawSpan) {
    microseconds = bytes.load(orderedInt64At: 0)
    id = bytes.load(idAt: 8)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(ordered: microseconds)
    output.append(id)
  }

  /// The lowest possible key at an instant.
  static func start(at microseconds: Int64) -> InstantKey {
    InstantKey(microseconds: microseconds, id: .lowest)
  }
}

extension InstantKey {
  /// The key of a task in `byCreated`.
  init(creationOf task: TaskItem) {
    self.init(microseconds: task.createdAt.microsecondsSince1970, id: task.id)
  }

  /// The key of a task in `byReminder`; `nil` if the task is closed or has no reminder.
  init?(reminderOf task: TaskItem) {
    guard let reminder = task.reminderDate, task.isOpen else { return nil }
    self.init(microseconds: reminder.microsecondsSince1970, id: task.id)
  }
}
