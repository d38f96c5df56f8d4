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

extension NamedTask {
  /// The task with a handle of some digits, if its own has fewer: any longer tail of the id names it, too.
  func withHandle(ofLength count: Int) -> NamedTask {
    guard handle.utf8.count < count else { return self }
    return NamedTask(
      task: task, handle: String(task.id.text.filter { $0 != "-" }.suffix(count)), list: list, depth: depth)
  }
}

extension [NamedTask] {
  /// The tasks with handles of one length, for a view.
  var withHandlesOfOneLength: [NamedTask] {
    let count = map(\.handle.utf8.count).max() ?? 0
    return map { $0.withHandle(ofLength: count) }
  }
}

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
