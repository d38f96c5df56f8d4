import Foundation

@testable import Tally

/// The events that a store counts, as plain values: the tasks, where each was completed, and the completions of deleted
/// ones.
struct HistoryModel {
  /// One life of a task: created, perhaps completed, in the list it counts for.
  struct Life {
    let createdAt: Int64
    let completedAt: OffsetTimestamp?
    let listID: UUID?

    var completedInstant: Int64? { completedAt?.instant.microsecondsSince1970 }
  }

  struct LedgerKey: Hashable {
    let taskID: UUID
    let instant: Timestamp
  }

  var tasks: [UUID: TaskItem] = [:]
  var lists: [TaskList] = []
  /// The list in which each completed task was completed.
  var completionLists: [UUID: UUID?] = [:]
  /// The completions of deleted tasks.
  var gone: [LedgerKey: Completion] = [:]

  var lives: [Life] {
    tasks.values.map { task in
      Life(
        createdAt: task.createdAt.microsecondsSince1970,
        completedAt: task.completedAt,
        listID: task.isCompleted ? completionLists[task.id] ?? nil : task.listID
      )
    }
      + gone.values.map {
        Life(createdAt: $0.createdAt.microsecondsSince1970, completedAt: $0.completedAt, listID: $0.listID)
      }
  }
}

extension HistoryModel {
  /// Stores a task, new or replacing the existing one.
  mutating func put(_ task: TaskItem) {
    let old = tasks.updateValue(task, forKey: task.id)
    guard let completedAt = task.completedAt else {
      completionLists[task.id] = nil
      return
    }
    let key = LedgerKey(taskID: task.id, instant: completedAt.instant)
    let place = old?.isCompleted == true ? completionLists[task.id] ?? nil : task.listID
    // A completion that is already known keeps the list it had.
    let known = gone.removeValue(forKey: key)
    completionLists[task.id] = .some(known.map(\.listID) ?? place)
  }

  mutating func delete(_ id: UUID) {
    guard let task = tasks.removeValue(forKey: id) else { return }
    let place = completionLists.removeValue(forKey: id) ?? nil
    guard let completedAt = task.completedAt else { return }
    gone[LedgerKey(taskID: id, instant: completedAt.instant)] = Completion(
      taskID: id,
      completedAt: completedAt,
      createdAt: task.createdAt,
      listID: place,
      isTaskDeleted: true
    )
  }

  mutating func deleteList(_ id: UUID) {
    for task in tasks.values where task.listID == id { delete(task.id) }
    lists.removeAll { $0.id == id }
  }

  /// The effect of importing an entry of the ledger.
  mutating func record(_ completion: Completion) {
    let isLive = tasks[completion.taskID]?.completedAt?.instant == completion.completedAt.instant
    guard isLive != completion.isTaskDeleted else { return }
    if isLive {
      completionLists[completion.taskID] = .some(completion.listID)
    } else {
      gone[LedgerKey(taskID: completion.taskID, instant: completion.completedAt.instant)] = completion
    }
  }

  mutating func purge(before instant: Timestamp) {
    gone = gone.filter { $0.key.instant >= instant }
  }
}
