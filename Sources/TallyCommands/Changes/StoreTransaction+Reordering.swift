import Foundation
import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The task that follows, or else comes before, a task in its list, the inbox or its day; `nil` where the place is
  /// long and the task is far down, or is the only one of its state.
  func neighbor(of task: TaskItem) throws -> (side: String, task: TaskItem)? {
    let view: TaskView =
      task.listID.map { .list($0) } ?? (task.scheduledDate == nil ? .inbox : nil) ?? .today
    if task.listID == nil, task.scheduledDate != nil, task.scheduledDate != today { return nil }
    // Looked for only to say how to take a move back, which is not worth walking through a list of any length.
    let searchedCount = 1_000
    let tasks = try page(of: view, limit: searchedCount).tasks
    guard let index = tasks.firstIndex(where: { $0.id == task.id }) else { return nil }
    if index + 1 < tasks.count, tasks[index + 1].state == task.state { return ("--before", tasks[index + 1]) }
    if index > 0, tasks[index - 1].state == task.state { return ("--after", tasks[index - 1]) }
    return nil
  }
}

extension StoreWriteTransaction {
  /// Puts tasks before another one, in their order.
  mutating func moveTasks(_ tasks: [TaskItem], before anchorName: String) throws -> Change {
    let anchor = try task(named: anchorName)
    var change = Change()
    for task in tasks {
      change.append(try moveTask(task, "before", anchor) { try $0.move(task.id, before: anchor.id) })
    }
    return change
  }

  /// Puts tasks after another one, in their order.
  mutating func moveTasks(_ tasks: [TaskItem], after anchorName: String) throws -> Change {
    var anchor = try task(named: anchorName)
    var change = Change()
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
  ) throws -> Change {
    guard task.id != anchor.id else {
      throw CommandFailure.usage("A task cannot be moved beside itself", remedy: "Name two tasks")
    }
    let former = try neighbor(of: task)
    let moved = try move(&self)
    let anchorHandle = try handle(of: anchor.id)
    let formerHandle = try former.map { try handle(of: $0.task.id) }
    return try change(from: task, to: moved, "Moved", " \(side) \(anchorHandle)") { named in
      guard let former, let formerHandle else { return [] }
      return [Remedy(verb: "move", handle: named.handle, options: [former.side, formerHandle])]
    }
  }
}
