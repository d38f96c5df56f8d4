import Foundation
import Tally

extension StoreWriteTransaction {
  /// Moves tasks before another task, in the given order.
  mutating func moveTasks(_ tasks: [TaskItem], before anchorName: String) throws -> ChangeReport {
    let anchor = try task(named: anchorName)
    var change = ChangeReport()
    for task in tasks {
      change.append(try moveTask(task, "before", anchor) { try $0.move(task.id, before: anchor.id) })
    }
    return change
  }

  /// Moves tasks after another task, in the given order.
  mutating func moveTasks(_ tasks: [TaskItem], after anchorName: String) throws -> ChangeReport {
    var anchor = try task(named: anchorName)
    var change = ChangeReport()
    for task in tasks {
      change.append(try moveTask(task, "after", anchor) { try $0.move(task.id, after: anchor.id) })
      anchor = task
    }
    return change
  }

  private mutating func moveTask(
    _ task: TaskItem,
    _ side: String,
    _ anchor: TaskItem,
    _ move: (inout StoreWriteTransaction) throws -> TaskItem
  ) throws -> ChangeReport {
    guard task.id != anchor.id else {
      throw CommandFailure.usage("A task cannot be moved next to itself", remedy: "Name two tasks")
    }
    let moved = try move(&self)
    let anchorHandle = try handle(of: anchor.id)
    return try change(from: task, to: moved, "Moved", " \(side) \(anchorHandle)")
  }
}
