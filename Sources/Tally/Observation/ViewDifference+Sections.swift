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
