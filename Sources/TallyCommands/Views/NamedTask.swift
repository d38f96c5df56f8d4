import Foundation
import Tally

/// A task with what it takes to tell it to someone: its handle and its list.
struct NamedTask {
  let task: TaskItem
  let handle: String
  let list: TaskList?
}

/// The lists met so far: many tasks share few.
typealias KnownLists = [UUID: TaskList]

extension StoreTransaction where Base: ~Copyable {
  /// Finds what it takes to tell a task to someone.
  func name(_ task: TaskItem, knowing lists: inout KnownLists) throws -> NamedTask {
    if let id = task.listID, lists[id] == nil { lists[id] = try list(id) }
    return NamedTask(task: task, handle: try handle(of: task.id), list: task.listID.flatMap { lists[$0] })
  }

  /// Finds what it takes to tell a task to someone.
  func name(_ task: TaskItem) throws -> NamedTask {
    var lists: KnownLists = [:]
    return try name(task, knowing: &lists)
  }
}
