import Foundation
import LMDB
import TallyEngine

/// The parts of a task that the rules of dependencies need.
struct Dependencies: Hashable {
  /// Whether the task is still to be done.
  var isOpen: Bool
  /// The tasks on which it depends.
  var ids: TaskIDSet
}

extension Dependencies {
  init(of task: TaskItem) {
    self.init(isOpen: task.isOpen, ids: task.dependsOn)
  }

  /// Reads both parts of a record in place.
  init(_ fields: borrowing TaskFields) throws(LMDBError) {
    var cursor = fields.cursor
    ids = try cursor.advance(to: TaskField.dependsOn.tag) ? try TaskIDSet(stored: cursor.value) : []
    isOpen = !fields.isClosed
  }
}

extension Tables {
  /// The dependencies of a task; `nil` if the task does not exist.
  func dependencies<T: LMDBTransaction & ~Copyable>(
    of id: UUID, in transaction: borrowing T
  ) throws(LMDBError) -> Dependencies? {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return nil }
    return try Dependencies(TaskFields(bytes))
  }

  /// The tasks that depend on a task, in their order.
  func dependentIDs<T: LMDBTransaction & ~Copyable>(of id: UUID, in transaction: borrowing T) throws -> [UUID] {
    var ids: [UUID] = []
    try byParent.forEach(
      from: GroupKey(groupID: id, rankRawValue: GroupKey.dependentRank, order: .lowest),
      upTo: GroupKey(groupID: id, rankRawValue: GroupKey.dependentRank + 1, order: .lowest), in: transaction
    ) { key, _ in
      ids.append(try GroupKey(decoding: key).id)
      return true
    }
    return ids
  }
}

/// The rules of dependencies: no task waits for itself, directly or over others, or for a task above it.
///
/// A task above it would complete it, so it would never become free. The rules hold for what a person writes here. Two
/// devices may nevertheless make a cycle together, so nothing relies on there being none; see ``BlockingGraph``.
enum DependencyRules {
  /// How many tasks the search for a cycle visits; a longer cycle is stored, as one that two devices made.
  static let mostVisited = 10_000

  /// Checks the tasks on which a task is to depend.
  ///
  /// - Parameters:
  ///   - id: The task.
  ///   - added: The tasks on which it did not depend before.
  ///   - look: Looks up another task; `nil` if it does not exist.
  /// - Throws: `invalidDependency` with the tasks of the cycle, or what the lookup throws.
  /// - Complexity: A lookup for each task that must be done before.
  static func checkCycle(
    through id: UUID, to added: some Sequence<UUID>, _ look: (UUID) throws -> Dependencies?
  ) throws {
    // For each visited task, the one that waits for it.
    var waiting: [UUID: UUID] = [:]
    var open: [UUID] = []
    for dependency in added where waiting[dependency] == nil {
      waiting[dependency] = id
      open.append(dependency)
    }
    while let next = open.popLast(), waiting.count <= mostVisited {
      for dependency in try look(next)?.ids ?? [] where waiting[dependency] == nil {
        waiting[dependency] = next
        guard dependency != id else { throw TallyError.dependencyCycle(backwards(from: id, waiting)) }
        open.append(dependency)
      }
    }
  }

  /// The tasks of a cycle, each of which depends on the next one; the first one is the task that would close it.
  private static func backwards(from id: UUID, _ waiting: [UUID: UUID]) -> [UUID] {
    var tasks: [UUID] = []
    var next = waiting[id]
    while let task = next, task != id {
      tasks.append(task)
      next = waiting[task]
    }
    return [id] + tasks.reversed()
  }

  /// Checks that a task does not depend on a task above it.
  ///
  /// - Parameters:
  ///   - dependencies: The tasks on which it depends.
  ///   - parentID: Its parent.
  ///   - look: Looks up the parent of another task.
  /// - Throws: `invalidDependency`, or what the lookup throws.
  static func checkAncestors(
    in dependencies: TaskIDSet, above parentID: UUID?, _ look: (UUID) throws -> Parentage?
  ) throws {
    var (next, depth) = (parentID, 0)
    while let ancestor = next, depth <= SubtaskRules.maximumDepth {
      guard !dependencies.contains(ancestor) else { throw TallyError.dependencyOnAncestor(ancestor) }
      next = try look(ancestor)?.parentID
      depth += 1
    }
  }
}

/// Which open tasks wait for which, found as far as it is asked for, and kept for further questions about one snapshot.
///
/// A task waits for the open tasks on which it depends, but tasks that wait for each other in a cycle do not block each
/// other: otherwise all of them would wait for ever. These are the strongly connected components of the open tasks,
/// found as Tarjan does ("Depth-first search and linear graph algorithms", 1972), without recursion, as chains may be
/// long.
///
/// It is a class, so that a query and the closures that it passes on share what was found.
final class BlockingGraph {
  private struct Node {
    let ids: TaskIDSet
    /// The open ones of these.
    var open: [UUID] = []
    let number: Int
    var lowest: Int
    /// How many tasks must be done one after the other before this one; `nil` while its cycle may be incomplete.
    var rank: Int?
    /// The tasks of its cycle, itself included; empty if it is in none.
    var cycle: Set<UUID> = []
  }

  private var nodes: [UUID: Node] = [:]
  private var closed: Set<UUID> = []

  typealias Lookup = (UUID) throws -> Dependencies?

  /// How many open tasks must be done one after the other before a task; 0 if it is closed or not blocked.
  func rank(of id: UUID, _ look: Lookup) throws -> Int { try node(id, look)?.rank ?? 0 }

  /// The open tasks that block a task, ascending by their ids.
  func blockers(of id: UUID, _ look: Lookup) throws -> [UUID] {
    guard let node = try node(id, look) else { return [] }
    return node.open.filter { !node.cycle.contains($0) }
  }

  /// The open tasks that wait for each other with a task, itself included; empty if it is in no cycle.
  func cycle(of id: UUID, _ look: Lookup) throws -> Set<UUID> { try node(id, look)?.cycle ?? [] }

  private func node(_ id: UUID, _ look: Lookup) throws -> Node? {
    if nodes[id]?.rank == nil, !closed.contains(id) { try walk(from: id, look) }
    return nodes[id]
  }

  private func walk(from id: UUID, _ look: Lookup) throws {
    var path: [(id: UUID, next: Int)] = []
    var unfinished: [UUID] = []
    /// Visits an open task, and returns whether the task is open.
    func visit(_ id: UUID) throws -> Bool {
      guard !closed.contains(id) else { return false }
      guard nodes[id] == nil else { return true }
      guard let dependencies = try look(id), dependencies.isOpen else {
        closed.insert(id)
        return false
      }
      nodes[id] = Node(ids: dependencies.ids, number: nodes.count, lowest: nodes.count)
      path.append((id, 0))
      unfinished.append(id)
      return true
    }
    _ = try visit(id)
    while let (id, next) = path.last, let node = nodes[id] {
      guard next == node.ids.count else {
        let dependency = node.ids[next]
        path[path.count - 1].next += 1
        let isNew = nodes[dependency] == nil
        guard dependency != id, try visit(dependency) else { continue }
        nodes[id]?.open.append(dependency)
        // A task whose cycle is not complete yet is one that this task leads back to.
        if !isNew, let other = nodes[dependency], other.rank == nil {
          nodes[id]?.lowest = min(node.lowest, other.number)
        }
        continue
      }
      path.removeLast()
      if let above = path.last?.id, let lowest = nodes[above]?.lowest {
        nodes[above]?.lowest = min(lowest, node.lowest)
      }
      guard node.lowest == node.number, let start = unfinished.lastIndex(of: id) else { continue }
      finish(unfinished[start...])
      unfinished.removeSubrange(start...)
    }
  }

  /// Ranks the tasks of a complete component.
  private func finish(_ members: ArraySlice<UUID>) {
    let cycle = members.count > 1 ? Set(members) : []
    for id in members {
      guard let node = nodes[id] else { continue }
      let ranks = node.open.filter { !cycle.contains($0) }.map { (nodes[$0]?.rank ?? 0) + 1 }
      nodes[id]?.rank = ranks.max() ?? 0
      nodes[id]?.cycle = cycle
    }
  }
}
