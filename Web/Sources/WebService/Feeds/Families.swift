import Foundation
import Tally

/// The sub-tasks of a store by their parents, kept up to date, for the rows below a task.
struct Families: Sendable {
  private var observed: ObservedView
  private var subtasks: [TaskItem]
  private var children: [UUID: [TaskItem]] = [:]

  init(in transaction: borrowing StoreReadTransaction) throws {
    observed = try ObservedView(.matching(.has(.parent), by: .place), in: transaction)
    subtasks = Array(observed.tasks)
    for parent in Set(subtasks.compactMap(\.parentID)) { try read(parent, transaction) }
  }

  var isEmpty: Bool { children.isEmpty }

  /// The direct sub-tasks, in their order.
  func children(of id: UUID) -> [TaskItem] { children[id] ?? [] }

  /// Brings the sub-tasks up to date with a newer snapshot.
  ///
  /// - Returns: the tasks below which something has changed.
  /// - Throws: what looking up the changed tasks throws.
  mutating func follow(_ transaction: borrowing StoreReadTransaction) throws -> Set<UUID> {
    let difference = try observed.follow(transaction)
    if difference.isEmpty { return [] }
    let before = subtasks
    subtasks = Array(observed.tasks)
    var parents: [UUID?] = difference.removals.map { before[$0].parentID }
    parents += difference.moves.map { before[$0.origin].parentID }
    parents += (difference.insertions.map(\.task) + difference.moves.map(\.task)).map(\.parentID)
    for update in difference.updates {
      parents += [update.task.parentID, before.first { $0.id == update.task.id }?.parentID]
    }
    let changed = Set(parents.compactMap(\.self))
    for parent in changed { try read(parent, transaction) }
    return try ancestors(of: changed, transaction)
  }

  private mutating func read(_ parent: UUID, _ transaction: borrowing StoreReadTransaction) throws {
    let tasks = try transaction.task(parent) == nil ? [] : transaction.subtasks(of: parent)
    children[parent] = tasks.isEmpty ? nil : tasks
  }

  /// Rows show sub-tasks of sub-tasks, too.
  private func ancestors(of ids: Set<UUID>, _ transaction: borrowing StoreReadTransaction) throws -> Set<UUID> {
    var (all, next) = (ids, Array(ids))
    while let id = next.popLast() {
      if let parent = try transaction.task(id)?.parentID, all.insert(parent).inserted { next.append(parent) }
    }
    return all
  }
}
