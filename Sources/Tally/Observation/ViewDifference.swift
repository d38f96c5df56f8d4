public import TallyEngine

/// How a view has changed, in a form that a list on a screen can apply.
///
/// To apply it: remove the rows in ``removals`` and the origins of ``moves``, from the last to the first; insert
/// ``insertions`` and the moved tasks, from the first position to the last; then replace the rows in ``updates``.
public struct ViewDifference: Hashable, Codable, Sendable {
  /// A task and its position among all tasks of the view, without sections.
  public struct Row: Hashable, Codable, Sendable {
    /// The position in the new view.
    public let position: Int
    /// The task in its new state.
    public let task: TaskItem
  }

  /// A task that moved.
  public struct Move: Hashable, Codable, Sendable {
    /// The position in the old view.
    public let origin: Int
    /// The position in the new view.
    public let position: Int
    /// The task in its new state.
    public let task: TaskItem
  }

  /// The sequence of the commit that the new view shows.
  public let sequence: UInt64
  /// The instant that counted as now.
  public let asOf: Timestamp
  /// The positions, in the old view, of tasks that the view no longer shows; ascending.
  public internal(set) var removals: [Int] = []
  /// The tasks that the view did not show before, by position.
  public internal(set) var insertions: [Row] = []
  /// The tasks that moved, by new position.
  public internal(set) var moves: [Move] = []
  /// The tasks that changed without moving, by position.
  public internal(set) var updates: [Row] = []

  /// Whether nothing changed.
  public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

  /// Applies the difference to the tasks that the view showed before.
  ///
  /// ```swift
  /// var tasks: [TaskItem] = []
  /// for try await update in store.observe(.today) {
  ///   switch update {
  ///   case .snapshot(let view): tasks = view.tasks
  ///   case .difference(let difference): difference.apply(to: &tasks)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter tasks: the tasks to which the difference belongs; any other array causes a trap.
  /// - Complexity: linear in the number of updates if nothing else has changed; otherwise linear in the length of the
  ///   view, whatever the number of changes.
  public func apply(to tasks: inout [TaskItem]) {
    let leaving = (removals + moves.map(\.origin)).sorted()
    let arriving = (insertions + moves.map { Row(position: $0.position, task: $0.task) })
      .sorted { $0.position < $1.position }
    if leaving.count + arriving.count > Self.fewChanges {
      tasks = Self.merge(tasks, without: leaving, arriving)
    } else {
      for position in leaving.reversed() { tasks.remove(at: position) }
      for row in arriving { tasks.insert(row.task, at: row.position) }
    }
    for row in updates { tasks[row.position] = row.task }
  }

  /// The view's new tasks, computed from those that it showed before; the same as `apply(to:)` on a copy.
  public func applied(to tasks: [TaskItem]) -> [TaskItem] {
    var tasks = tasks
    apply(to: &tasks)
    return tasks
  }

  /// The most changes that are made in place: more would shift elements so often that building a new array is cheaper.
  static let fewChanges = 16

  private static func merge(_ tasks: [TaskItem], without leaving: [Int], _ arriving: [Row]) -> [TaskItem] {
    var (leaving, arriving) = (leaving[...], arriving[...])
    var merged: [TaskItem] = []
    merged.reserveCapacity(tasks.count - leaving.count + arriving.count)
    for (position, task) in tasks.enumerated() {
      if leaving.first == position {
        leaving.removeFirst()
        continue
      }
      while let row = arriving.first, row.position == merged.count { merged.append(arriving.removeFirst().task) }
      merged.append(task)
    }
    merged += arriving.lazy.map(\.task)
    precondition(leaving.isEmpty, "the difference belongs to other tasks")
    return merged
  }
}

/// An element of an observed view.
public enum ViewUpdate: Sendable {
  /// The whole view, as the first element.
  case snapshot(ViewResult)
  /// How the view has changed since the last element.
  case difference(ViewDifference)
}

extension ViewDifference {
  /// Applies the difference to the sections that the view showed before.
  ///
  /// - Parameter sections: the sections to which the difference belongs; any others cause a trap.
  /// - Complexity: linear in the length of the view.
  public func apply(to sections: inout [ViewSection]) {
    let hasDays = sections.count != 1 || sections[0].day != nil
    let tasks = applied(to: sections.flatMap(\.tasks))
    guard hasDays else { return sections[0].tasks = tasks }
    sections = []
    for task in tasks {
      if sections.last?.day != task.scheduledDate || sections.isEmpty {
        sections.append(ViewSection(day: task.scheduledDate, tasks: []))
      }
      sections[sections.count - 1].tasks.append(task)
    }
  }

  /// The difference by sections and rows, for a list on a screen with a section for each day.
  ///
  /// ```swift
  /// let changes = difference.inSections(from: sections)
  /// show(changes.removedSections, changes.insertedSections, changes.removals, changes.insertions)
  /// ```
  ///
  /// - Parameter sections: the sections to which the difference belongs; any others cause a trap.
  /// - Returns: the difference, together with the new sections.
  /// - Complexity: linear in the length of the view.
  public func inSections(from sections: [ViewSection]) -> SectionedDifference {
    var current = sections
    apply(to: &current)
    let (old, new) = (SectionStarts(sections), SectionStarts(current))
    let (oldDays, newDays) = (Set(sections.map(\.day)), Set(current.map(\.day)))
    return SectionedDifference(
      sections: current,
      removedSections: sections.indices.filter { !newDays.contains(sections[$0].day) },
      insertedSections: current.indices.filter { !oldDays.contains(current[$0].day) },
      removals: removals.map(old.place), insertions: insertions.map { new.place(of: $0.position) },
      moves: moves.map { .init(origin: old.place(of: $0.origin), place: new.place(of: $0.position)) },
      updates: updates.map { new.place(of: $0.position) })
  }
}

/// How a view has changed, by sections and rows.
///
/// The positions are those that a list on a screen expects for a batch of changes: removals and origins refer to the
/// state before the change, everything else to the state after it. The rows of removed and inserted sections are listed
/// among the rows, too.
public struct SectionedDifference: Hashable, Sendable {
  /// The place of a row in a section.
  public struct Place: Hashable, Sendable {
    /// The position of the section.
    public let section: Int
    /// The position of the task in its section.
    public let row: Int
  }

  /// A task that moved, perhaps to another section.
  public struct Move: Hashable, Sendable {
    /// The place before.
    public let origin: Place
    /// The place now.
    public let place: Place
  }

  /// The sections that the view shows now.
  public let sections: [ViewSection]
  /// The positions of the sections that were removed.
  public let removedSections: [Int]
  /// The positions of the sections that were inserted.
  public let insertedSections: [Int]
  /// The places of the tasks that the view no longer shows.
  public let removals: [Place]
  /// The places of the tasks that the view did not show before.
  public let insertions: [Place]
  /// The tasks that moved.
  public let moves: [Move]
  /// The places of the tasks that changed without moving.
  public let updates: [Place]
}

/// The positions at which sections begin.
private struct SectionStarts {
  private var starts: [Int] = []

  init(_ sections: [ViewSection]) {
    var start = 0
    for section in sections {
      starts.append(start)
      start += section.tasks.count
    }
  }

  /// The section and row of a position among all tasks.
  func place(of position: Int) -> SectionedDifference.Place {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return .init(section: low, row: position - starts[low])
  }
}
