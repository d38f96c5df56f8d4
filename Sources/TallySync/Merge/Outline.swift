import Foundation

/// The places of tasks: their references, without those that lead nowhere or in a ring.
///
/// A pure function of the merged objects. The registers still have all that users wrote, so a list or parent that comes back
/// has its tasks again.
struct Outline: Hashable, Sendable {
  /// The list of a task and the task above it.
  struct Place: Hashable, Sendable {
    /// `nil` for the inbox.
    var list: UUID?
    /// `nil` at the top.
    var parent: UUID?
  }

  /// The places of the tasks that are not deleted.
  private(set) var places: [UUID: Place] = [:]

  /// Resolves the references of all tasks.
  ///
  /// - Parameters:
  ///   - tasks: all tasks, deleted ones included.
  ///   - lists: all lists, deleted ones included.
  ///   - isThere: Whether an object is there; by default, whether it is not deleted.
  init(
    tasks: [UUID: ObjectState], lists: [UUID: ObjectState],
    where isThere: (ObjectState) -> Bool = { !$0.isDeleted }
  ) {
    let live = tasks.filter { isThere($0.value) }
    var links = Self.links(among: live)
    Self.cutDeepLinks(in: &links)
    for (id, task) in live {
      // A sub-task is in the list of the task at the top.
      let top = Self.top(of: id, by: links)
      let list = (live[top] ?? task).reference(.list).flatMap { id in lists[id].map(isThere) == true ? id : nil }
      places[id] = Place(list: list, parent: links[id]?.parent)
    }
  }

  private typealias Link = (parent: UUID, write: Register)

  /// The links to parents, without the oldest one of each ring.
  private static func links(among tasks: [UUID: ObjectState]) -> [UUID: Link] {
    var links: [UUID: Link] = [:]
    for (id, task) in tasks {
      if let parent = task.reference(.parent), tasks[parent] != nil, let write = task.registers[.parent] {
        links[id] = (parent, write)
      }
    }
    var settled: Set<UUID> = []
    for id in links.keys where !settled.contains(id) {
      if let ring = ring(above: id, by: links, settled: &settled), let first = oldest(of: ring, by: links) {
        links[first] = nil
      }
    }
    return links
  }

  /// How many tasks can be above one.
  static let maximumDepth = 8

  /// Removes the links that would put a task deeper than that: it is at the top, with those below it.
  private static func cutDeepLinks(in links: inout [UUID: Link]) {
    var depths: [UUID: Int] = [:]
    for id in links.keys {
      // The way up to a task whose depth is known, or to the top.
      var path = [id]
      while let last = path.last, depths[last] == nil, let parent = links[last]?.parent { path.append(parent) }
      for task in path.reversed() where depths[task] == nil {
        let depth = links[task].map { (depths[$0.parent] ?? 0) + 1 } ?? 0
        depths[task] = depth > maximumDepth ? 0 : depth
      }
    }
    for (id, depth) in depths where depth == 0 { links[id] = nil }
  }

  /// The ring into which the links above a task lead; `nil` if they end at the top or at a task that was visited before.
  private static func ring(above id: UUID, by links: [UUID: Link], settled: inout Set<UUID>) -> [UUID]? {
    var path: [UUID] = []
    var positions: [UUID: Int] = [:]
    var next: UUID? = id
    defer { settled.formUnion(path) }
    while let current = next, !settled.contains(current) {
      if let start = positions[current] { return Array(path[start...]) }
      positions[current] = path.count
      path.append(current)
      next = links[current]?.parent
    }
    return nil
  }

  private static func oldest(of ring: [UUID], by links: [UUID: Link]) -> UUID? {
    ring.min { left, right in
      guard let first = links[left]?.write, let second = links[right]?.write else { return false }
      // Two tasks never get their parents by one write, but a copy of a replica may have made an equal write.
      if first.wins(over: second) || second.wins(over: first) { return second.wins(over: first) }
      return left.uuidString < right.uuidString
    }
  }

  private static func top(of id: UUID, by links: [UUID: Link]) -> UUID {
    var top = id
    while let parent = links[top]?.parent { top = parent }
    return top
  }
}
