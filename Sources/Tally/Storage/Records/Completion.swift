import Foundation

/// One entry of the ledger of completions, which outlives its task.
package struct Completion: Hashable, Sendable {
  /// The task that was completed; it may have been deleted since.
  let taskID: UUID
  /// When it was completed, with the UTC offset in force there.
  let completedAt: OffsetTimestamp
  /// When the task was created.
  let createdAt: Timestamp
  /// Its list, which may have been deleted since, its tags and its priority when it was completed.
  let classification: Classification
  /// Whether the task has been deleted.
  let isTaskDeleted: Bool
}
