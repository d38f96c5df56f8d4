import Foundation
import Tally

/// A task with what is needed to print it: its handle and its list.
struct NamedTask {
  let task: TaskItem
  let handle: String
  let list: TaskList?
}

/// The lists found so far: many tasks share few lists.
typealias KnownLists = [UUID: TaskList]

extension StoreTransaction where Base: ~Copyable {
  /// Finds what is needed to print a task.
  func name(_ task: TaskItem, knowing lists: inout KnownLists) throws -> NamedTask {
    if let id = task.listID, lists[id] == nil { lists[id] = try list(id) }
    return NamedTask(task: task, handle: try handle(of: task.id), list: task.listID.flatMap { lists[$0] })
  }

  /// Finds what is needed to print a task.
  func name(_ task: TaskItem) throws -> NamedTask {
    var lists: KnownLists = [:]
    return try name(task, knowing: &lists)
  }
}
