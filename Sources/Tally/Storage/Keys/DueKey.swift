import Foundation

/// The key of `byDue`: open or completed, then the due instant and the identifier; 25 bytes.
typealias DueKey = FlaggedInstantKey<DueIndex>

/// Distinguishes the keys of `byDue` from those of `completions`.
enum DueIndex {}

extension DueKey {
  var isCompleted: Bool { flag }
  var due: InstantKey { instant }

  init(isCompleted: Bool, due: InstantKey) {
    self.init(flag: isCompleted, instant: due)
  }

  /// The key of a task; `nil` for one without a due date.
  init?(of task: TaskItem) {
    guard let due = task.dueDate else { return nil }
    self.init(
      isCompleted: task.isCompleted, due: InstantKey(microseconds: due.microsecondsSince1970, id: task.id))
  }
}
