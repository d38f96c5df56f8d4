public import Foundation
public import LMDB
public import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Sets a task's state; any state may follow any other.
  ///
  /// Completing a task sets the completion time to `now` with the calendar's UTC offset; leaving `completed` clears it.
  /// `cancelled` sets and clears the time of cancellation in the same way.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func setState(_ state: TaskState, of id: UUID) throws -> TaskItem {
    try update(id) { $0.state = state }
  }

  /// Makes a task active.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func start(_ id: UUID) throws -> TaskItem {
    try setState(.active, of: id)
  }

  /// Completes a task, now or at a given time.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - completedAt: the completion time; `nil` means now, or no change of the time if the task is completed already.
  ///   - includingSubtasks: whether its open sub-tasks are completed at the same time.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func complete(
    _ id: UUID, at completedAt: OffsetTimestamp? = nil, includingSubtasks: Bool = true
  ) throws -> TaskItem {
    try update(id, closingSubtasks: includingSubtasks) { task in
      task.state = .completed
      if let completedAt { task.completedAt = completedAt }
    }
  }

  /// Cancels an open task with its open sub-tasks, now or at a given time.
  ///
  /// The task is closed without counting as completed. A cancelled occurrence of a repeating task is left out: the next
  /// one is created, as if it had been completed.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - cancelledAt: the time; `nil` means now, or no change of the time if the task is cancelled already.
  ///   - includingSubtasks: whether its open sub-tasks are cancelled at the same time.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`; `inconsistentTask` if the task is completed.
  @discardableResult
  public mutating func cancel(
    _ id: UUID, at cancelledAt: OffsetTimestamp? = nil, includingSubtasks: Bool = true
  ) throws -> TaskItem {
    try update(id, closingSubtasks: includingSubtasks) { task in
      guard !task.isCompleted else {
        throw TallyError(
          .inconsistentTask, "The task is completed, so there is nothing to cancel", remedy: "Reopen it first")
      }
      task.state = .cancelled
      if let cancelledAt { task.cancelledAt = cancelledAt }
    }
  }

  /// Sets a task back to not started.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func reopen(_ id: UUID) throws -> TaskItem {
    try setState(.notStarted, of: id)
  }

  /// Moves a task to the next state of the tap cycle: not started, active, completed, not started; a cancelled
  /// task becomes not started.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func advanceState(of id: UUID) throws -> TaskItem {
    try update(id) { $0.state = $0.state.next }
  }

  /// Schedules a task for a day, or removes its day.
  ///
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func schedule(_ id: UUID, on day: CalendarDay?) throws -> TaskItem {
    try update(id) { $0.scheduledDate = day }
  }
}
