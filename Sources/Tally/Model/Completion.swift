public import Foundation

/// One entry of the ledger of completions, which outlives its task.
public struct Completion: Hashable, Sendable {
  /// The task that was completed; it may have been deleted since.
  public let taskID: UUID
  /// When it was completed, with the UTC offset in force there.
  public let completedAt: OffsetTimestamp
  /// When the task was created.
  public let createdAt: Timestamp
  /// The list it was completed in; it may have been deleted since.
  public let listID: UUID?
  /// Whether the task has been deleted.
  public let isTaskDeleted: Bool

  /// Makes an entry.
  public init(
    taskID: UUID, completedAt: OffsetTimestamp, createdAt: Timestamp, listID: UUID?, isTaskDeleted: Bool
  ) {
    self.taskID = taskID
    self.completedAt = completedAt
    self.createdAt = createdAt
    self.listID = listID
    self.isTaskDeleted = isTaskDeleted
  }
}
