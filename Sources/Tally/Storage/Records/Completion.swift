import Foundation
import TallyEngine

/// One entry of the ledger of completions, which outlives its task.
package struct Completion: Hashable, Sendable {
  /// The task that was completed; it may have been deleted since.
  let taskID: UUID
  /// When the task was completed, with the UTC offset in force then.
  let completedAt: OffsetTimestamp
  /// When the task was created.
  let createdAt: Timestamp
  /// The list (which may have been deleted since), the tags and the priority that the task had when it was completed.
  let classification: Classification
  /// Whether the task has been deleted.
  let isTaskDeleted: Bool
}
