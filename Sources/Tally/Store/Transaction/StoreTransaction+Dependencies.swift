public import Foundation
import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The open tasks that block a task: those on which it depends, except the ones that wait for the task itself.
  ///
  /// ```swift
  /// let isBlocked = try store.read { try !$0.blockers(of: id).isEmpty }
  /// ```
  ///
  /// - Parameter id: The task.
  /// - Returns: The tasks, in the order of their ids; none for a closed task.
  /// - Throws: `taskNotFound`.
  /// - Complexity: One lookup for each task on which it depends, and for each on which those depend.
  public func blockers(of id: UUID) throws -> [TaskItem] {
    guard try !require(TaskRecord.self, id).item.dependsOn.isEmpty else { return [] }
    return try BlockingGraph().blockers(of: id) { try dependencies(of: $0) }.map { try indexedTask($0) }
  }

  /// The tasks that depend on a task, in any state, in the user's order; the task itself need not exist.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: Linear in their number.
  public func dependents(of id: UUID) throws -> [TaskItem] {
    try tables.dependentIDs(of: id, in: base).map { try indexedTask($0) }
  }

  /// The open tasks that would be free, or are free now, if a task were closed: it is the only one that blocks them.
  ///
  /// - Parameter id: The task, open or closed.
  /// - Returns: The tasks, in the user's order.
  /// - Throws: What the storage throws.
  /// - Complexity: One lookup for each dependency of the tasks that depend on it.
  package func tasksWaitingOnly(for id: UUID) throws -> [TaskItem] {
    let graph = BlockingGraph()
    return try dependents(of: id).filter { task in
      try task.isOpen && graph.blockers(of: task.id) { try dependencies(of: $0) }.allSatisfy { $0 == id }
    }
  }

  /// The open tasks that depend on each other in a cycle with a task, itself included; empty if it is in none.
  ///
  /// A cycle is refused where it is written, but the changes of two devices may make one. Its tasks do not block each
  /// other.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: As ``blockers(of:)``.
  public func dependencyCycle(of id: UUID) throws -> [TaskItem] {
    let cycle = try BlockingGraph().cycle(of: id) { try dependencies(of: $0) }
    return try cycle.sorted { $0.words < $1.words }.map { try indexedTask($0) }
  }

  /// The tasks of some that are blocked.
  ///
  /// - Throws: What the storage throws.
  /// - Complexity: As ``blockers(of:)``, for those that depend on others; the rest cost nothing.
  package func blockedIDs(among tasks: some Sequence<TaskItem>) throws -> Set<UUID> {
    let graph = BlockingGraph()
    let blocked = try tasks.filter { task in
      try !task.dependsOn.isEmpty && task.isOpen && graph.rank(of: task.id) { try dependencies(of: $0) } > 0
    }
    return Set(blocked.map(\.id))
  }

  /// What a task depends on; `nil` if it does not exist.
  func dependencies(of id: UUID) throws -> Dependencies? { try tables.dependencies(of: id, in: base) }

  /// Whether the store may have tasks that depend on others.
  var mayHaveDependencies: Bool {
    get throws { try header().requiredFeatures.contains(.taskLife) }
  }

  /// Adds the tasks that depend on some tasks, and those that depend on these in turn.
  func addDependents(of ids: inout Set<UUID>) throws {
    guard try mayHaveDependencies else { return }
    var open = Array(ids)
    while let id = open.popLast() {
      for dependent in try tables.dependentIDs(of: id, in: base) where ids.insert(dependent).inserted {
        open.append(dependent)
      }
    }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Checks that a task neither waits for itself nor for a task above it.
  func checkDependencies(of task: TaskItem, replacing old: TaskItem?) throws {
    guard !task.dependsOn.isEmpty else { return }
    let known = old?.dependsOn ?? []
    if task.dependsOn != known || task.parentID != old?.parentID {
      try DependencyRules.checkAncestors(in: task.dependsOn, above: task.parentID) {
        try tables.parentage(of: $0, in: base)
      }
    }
    let added = task.dependsOn.filter { !known.contains($0) }
    if !added.isEmpty { try DependencyRules.checkCycle(through: task.id, to: added) { try dependencies(of: $0) } }
  }
}
