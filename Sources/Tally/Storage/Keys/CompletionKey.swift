import Foundation

/// The key of `completions`: whether the task has been deleted, then the instant and the identifier; 25 bytes.
///
/// Entries of live tasks come first, so that the Completed view scans them without skipping deleted ones.
typealias CompletionKey = FlaggedInstantKey<CompletionsTable>

/// A type that distinguishes the keys of `completions` from those of `byDue`.
enum CompletionsTable {}

extension CompletionKey {
  var isTaskDeleted: Bool { flag }
  var completed: InstantKey { instant }

  init(isTaskDeleted: Bool, completed: InstantKey) {
    self.init(flag: isTaskDeleted, instant: completed)
  }

  /// The key of a task's completion; `nil` for an open task.
  init?(of task: TaskItem) {
    guard let completedAt = task.completedAt else { return nil }
    self.init(
      isTaskDeleted: false,
      completed: InstantKey(microseconds: completedAt.instant.microsecondsSince1970, id: task.id))
  }
}
