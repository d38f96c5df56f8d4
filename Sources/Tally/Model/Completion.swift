import Foundation

/// One entry of the ledger of completions, which outlives its task.
struct Completion: Hashable, Sendable {
  /// The task that was completed; it may have been deleted since.
  let taskID: UUID
  /// When it was completed, with the UTC offset in force there.
  let completedAt: OffsetTimestamp
  /// When the task was created.
  let createdAt: Timestamp
  /// The list it was completed in; it may have been deleted since.
  let listID: UUID?
  /// Whether the task has been deleted.
  let isTaskDeleted: Bool
}
