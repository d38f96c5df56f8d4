import Foundation
import Tally

/// A task, its handle and its list: enough to print it.
struct NamedTask {
  let task: TaskItem
  let handle: String
  let list: TaskList?
  /// How many parents are shown above it.
  var depth = 0
}

/// The lists found so far: many tasks share few lists.
typealias KnownLists = [UUID: TaskList]

extension StoreTransaction where Base: ~Copyable {
  /// Finds the handle and the list of a task.
  func name(_ task: TaskItem, knowing lists: inout KnownLists) throws -> NamedTask {
    if let id = task.listID, lists[id] == nil { lists[id] = try list(id) }
    return NamedTask(task: task, handle: try handle(of: task.id), list: task.listID.flatMap { lists[$0] })
  }

  /// Finds the handle and the list of a task.
  func name(_ task: TaskItem) throws -> NamedTask {
    var lists: KnownLists = [:]
    return try name(task, knowing: &lists)
  }
}
