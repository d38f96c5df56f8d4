import Foundation
import Tally

/// Tasks of a view in the order of a tree: each with its sub-tasks below it.
///
/// Keeps the tasks, unlike other views: where a sub-task goes is known only when all are.
struct TaskTree {
  private var tasks: [(task: TaskItem, day: CalendarDay?)] = []
  private var ids: Set<UUID> = []

  mutating func add(_ task: TaskItem, _ day: CalendarDay?) {
    tasks.append((task, day))
    ids.insert(task.id)
  }

  /// Visits the tasks with their depth, until `body` returns false.
  func forEach<Base: ~Copyable>(
    openOnly: Bool, in transaction: borrowing StoreTransaction<Base>,
    _ body: (TaskItem, CalendarDay?, _ depth: Int) throws -> Bool
  ) throws {
    for (task, day) in tasks where try !hasShownAncestor(task, in: transaction) {
      guard try visit(task, day, 0, openOnly, transaction, body) else { return }
    }
  }

  private func hasShownAncestor<Base: ~Copyable>(
    _ task: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> Bool {
    var ancestor = task.parentID
    while let id = ancestor {
      if ids.contains(id) { return true }
      ancestor = try transaction.task(id)?.parentID
    }
    return false
  }

  private func visit<Base: ~Copyable>(
    _ task: TaskItem, _ day: CalendarDay?, _ depth: Int, _ openOnly: Bool,
    _ transaction: borrowing StoreTransaction<Base>, _ body: (TaskItem, CalendarDay?, Int) throws -> Bool
  ) throws -> Bool {
    // The open sub-tasks of a completed one take its place.
    let isShown = !openOnly || !task.isCompleted
    if isShown { guard try body(task, day, depth) else { return false } }
    for child in try transaction.subtasks(of: task.id) {
      guard try visit(child, day, isShown ? depth + 1 : depth, openOnly, transaction, body) else { return false }
    }
    return true
  }
}
