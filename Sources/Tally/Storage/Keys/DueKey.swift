import Foundation
import LMDB

/// The key of `byDue`: open or completed, then the due instant and the identifier; 25 bytes.
struct DueKey: IndexKey {
  static let width = 1 + InstantKey.width
  let isCompleted: Bool
  let due: InstantKey

  var id: UUID { due.id }

  init(isCompleted: Bool, due: InstantKey) {
    self.isCompleted = isCompleted
    self.due = due
  }

  init(fields bytes: RawSpan) {
    isCompleted = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    due = InstantKey(fields: bytes.extracting(1..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(isCompleted ? 1 : 0)
    due.encode(into: &output)
  }

  static func < (left: Self, right: Self) -> Bool {
    left.isCompleted == right.isCompleted ? left.due < right.due : right.isCompleted
  }
}

extension DueKey {
  /// The key of a task; `nil` for one without a due date.
  init?(of task: TaskItem) {
    guard let due = task.dueDate else { return nil }
    self.init(
      isCompleted: task.isCompleted, due: InstantKey(microseconds: due.microsecondsSince1970, id: task.id))
  }
}
