import Foundation

@testable import Tally

/// The events that a store counts, as plain values: the tasks, where each was completed, and the completions of deleted
/// ones.
struct HistoryModel {
  /// One life of a task: created, perhaps closed, with the list, the tags and the priority it counts for.
  struct Life {
    let createdAt: Int64
    let completedAt: OffsetTimestamp?
    let classification: Classification
    /// The task as it is now; `nil` if it has been deleted.
    let task: TaskItem?

    var listID: UUID? { classification.listID }
    /// When it was completed or cancelled.
    var closedInstant: Int64? { (completedAt ?? task?.cancelledAt)?.instant.microsecondsSince1970 }
  }

  struct LedgerKey: Hashable {
    let taskID: UUID
    let instant: Timestamp
  }

  var tasks: [UUID: TaskItem] = [:]
  var lists: [TaskList] = []
  /// The names of deleted lists in which something had been completed.
  private(set) var deletedListNames: [UUID: String] = [:]
  /// The list, the tags and the priority with which each completed task was completed.
  var completionClasses: [UUID: Classification] = [:]
  /// The completions of deleted tasks.
  var gone: [LedgerKey: Completion] = [:]

  var lives: [Life] {
    tasks.values.map { task in
      Life(
        createdAt: task.createdAt.microsecondsSince1970,
        completedAt: task.completedAt,
        classification: completionClasses[task.id] ?? task.classification,
        task: task
      )
    }
      + gone.values.map {
        Life(
          createdAt: $0.createdAt.microsecondsSince1970, completedAt: $0.completedAt, classification: $0.classification,
          task: nil)
      }
  }
}

extension HistoryModel {
  /// Stores a task, new or replacing the existing one.
  mutating func put(_ task: TaskItem) {
    let old = tasks.updateValue(task, forKey: task.id)
    guard let completedAt = task.completedAt else {
      completionClasses[task.id] = nil
      return
    }
    let key = LedgerKey(taskID: task.id, instant: completedAt.instant)
    let former = old?.isCompleted == true ? completionClasses[task.id] : nil
    // A completion that is already known keeps the list, the tags and the priority it had.
    let known = gone.removeValue(forKey: key)?.classification
    completionClasses[task.id] = known ?? former ?? task.classification
  }

  mutating func delete(_ id: UUID) {
    guard let task = tasks.removeValue(forKey: id) else { return }
    let former = completionClasses.removeValue(forKey: id)
    guard let completedAt = task.completedAt else { return }
    gone[LedgerKey(taskID: id, instant: completedAt.instant)] = Completion(
      taskID: id,
      completedAt: completedAt,
      createdAt: task.createdAt,
      classification: former ?? task.classification,
      isTaskDeleted: true
    )
  }

  mutating func deleteList(_ id: UUID) {
    for task in tasks.values where task.listID == id { delete(task.id) }
    let isCounted = lives.contains { $0.completedAt != nil && $0.listID == id }
    if isCounted { deletedListNames[id] = lists.first { $0.id == id }?.name }
    lists.removeAll { $0.id == id }
  }

  /// The effect of importing an entry of the ledger.
  mutating func record(_ completion: Completion) {
    let isLive = tasks[completion.taskID]?.completedAt?.instant == completion.completedAt.instant
    guard isLive != completion.isTaskDeleted else { return }
    if isLive {
      completionClasses[completion.taskID] = completion.classification
    } else {
      gone[LedgerKey(taskID: completion.taskID, instant: completion.completedAt.instant)] = completion
    }
  }

  mutating func purge(before instant: Timestamp) {
    gone = gone.filter { $0.key.instant >= instant }
  }
}
