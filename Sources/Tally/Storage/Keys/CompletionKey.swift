import Foundation
import LMDB
import TallyEngine

/// The key of `completions`: whether the task has been deleted, then the instant and the identifier; 25 bytes.
///
/// Entries of live tasks come first, so that the Completed view scans them without skipping deleted ones.
struct CompletionKey: IndexKey {
  static var width: Int { 1 + InstantKey.width }
  let isTaskDeleted: Bool
  let completed: InstantKey

  var id: UUID { completed.id }

  init(isTaskDeleted: Bool, completed: InstantKey) {
    self.isTaskDeleted = isTaskDeleted
    self.completed = completed
  }

  init(fields bytes: RawSpan) {
    isTaskDeleted = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    completed = InstantKey(fields: bytes.extracting(1..<Self.width))
  }

  /// The key of a task's completion; `nil` for an open task.
  init?(of task: TaskItem) {
    guard let completedAt = task.completedAt else { return nil }
    self.init(
      isTaskDeleted: false,
      completed: InstantKey(microseconds: completedAt.instant.microsecondsSince1970, id: task.id))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(isTaskDeleted ? 1 : 0)
    completed.encode(into: &output)
  }
}
