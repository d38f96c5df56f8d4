import Foundation
import Tally

/// The fields of a task that a client sets; `null` clears one, a missing one stays.
struct TaskEdit: Decodable, Sendable {
  private var changes: [@Sendable (inout TaskItem) -> Void] = []

  /// The names of the fields in answers, which are those of an export.
  private enum Key: String, CodingKey {
    case title = "text"
    case state, notes, scheduledDate, dueDate, reminderDate, listID
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func set<Value: Decodable & Sendable>(_ key: Key, _ field: WritableKeyPath<TaskItem, Value> & Sendable) throws {
      guard container.contains(key) else { return }
      let value = try container.decode(Value.self, forKey: key)
      changes.append { $0[keyPath: field] = value }
    }
    try set(.title, \.title)
    try set(.state, \.state)
    try set(.notes, \.notes)
    try set(.scheduledDate, \.scheduledDate)
    try set(.dueDate, \.dueDate)
    try set(.reminderDate, \.reminderDate)
    try set(.listID, \.listID)
  }

  func apply(to task: inout TaskItem) {
    for change in changes { change(&task) }
  }
}
