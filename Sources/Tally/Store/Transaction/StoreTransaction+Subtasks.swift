public import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The direct sub-tasks of a task, in the user's order.
  ///
  /// - Throws: `taskNotFound`.
  /// - Complexity: linear in the number of sub-tasks.
  public func subtasks(of id: UUID) throws -> [TaskItem] {
    _ = try require(TaskRecord.self, id)
    return try tables.subtaskIDs(of: id, in: base).map { try indexedTask($0) }
  }

  /// Whether a task has sub-tasks.
  func hasSubtasks(_ id: UUID) throws -> Bool {
    let range = KeyRange.group(id)
    var cursor = try tables.byParent.rawIndex.cursor(in: base)
    return try cursor.move(toFirstAtOrAfter: range.lower) && cursor.keyBytes.precedes(range.upper.bytes)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Sets the list of a sub-task that gets another parent to the parent's list.
  func adoptList(of task: inout TaskItem, replacing old: TaskItem?) throws {
    guard let parentID = task.parentID, parentID != old?.parentID else { return }
    // A missing parent is refused later, together with the other rules.
    if let parent = try tables.parentage(of: parentID, in: base) { task.listID = parent.listID }
  }

  /// Checks that a task obeys the rules of sub-tasks.
  func checkParent(of task: TaskItem, replacing old: TaskItem?) throws {
    guard task.parentID != nil, old.map(Parentage.init(of:)) != Parentage(of: task) else { return }
    let height =
      try old == nil || old?.parentID == task.parentID ? 0 : height(of: task.id, limit: SubtaskRules.maximumDepth)
    try SubtaskRules.check(task.id, Parentage(of: task), height: height) { try tables.parentage(of: $0, in: base) }
  }

  /// How many levels of sub-tasks are below a task.
  private func height(of id: UUID, limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    return try tables.subtaskIDs(of: id, in: base).map { try 1 + height(of: $0, limit: limit - 1) }.max() ?? 0
  }

  /// Moves the sub-tasks with a parent that moved to another list, and closes the open ones with a parent that was
  /// completed or cancelled.
  mutating func updateSubtasks(of task: TaskItem, replacing old: TaskItem, closing: Bool) throws {
    let isClosed = closing && task.isClosed && task.state != old.state
    guard task.listID != old.listID || isClosed else { return }
    let later = isClosed && task.extrasBox != nil ? Set(try partsOfNext(of: task).map(\.id)) : []
    for id in try tables.subtaskIDs(of: task.id, in: base) {
      try update(id, closingSubtasks: closing) { subtask in
        subtask.listID = task.listID
        guard isClosed, subtask.isOpen, !later.contains(id) else { return }
        (subtask.state, subtask.completedAt, subtask.cancelledAt) = (task.state, task.completedAt, task.cancelledAt)
      }
    }
  }
}
