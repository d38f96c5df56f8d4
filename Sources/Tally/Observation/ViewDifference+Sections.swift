extension ViewDifference {
  /// Changes the sections that the view showed before into those that it shows now.
  ///
  /// - Parameter sections: the sections to which the difference belongs; any others trap.
  /// - Complexity: the length of the view.
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

  /// The difference in sections and rows, for a list on a screen with a section for each day.
  ///
  /// ```swift
  /// let changes = difference.inSections(from: sections)
  /// show(changes.removedSections, changes.insertedSections, changes.removals, changes.insertions)
  /// ```
  ///
  /// - Parameter sections: the sections to which the difference belongs; any others trap.
  /// - Returns: the difference, and the sections of now.
  /// - Complexity: the length of the view.
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

/// How a view has changed, in sections and rows.
///
/// As a list on a screen takes a batch of changes: places of removals and origins are those before the change, all others
/// those after it. The rows of a section that goes, or comes, are among the rows, too.
public struct SectionedDifference: Hashable, Sendable {
  /// A row of a section.
  public struct Place: Hashable, Sendable {
    /// The position of the section.
    public let section: Int
    /// The position of the task in its section.
    public let row: Int
  }

  /// A task that has moved, perhaps to another section.
  public struct Move: Hashable, Sendable {
    /// The place before.
    public let origin: Place
    /// The place now.
    public let place: Place
  }

  /// The sections that the view shows now.
  public let sections: [ViewSection]
  /// The positions of the sections that have gone.
  public let removedSections: [Int]
  /// The positions of the sections that have come.
  public let insertedSections: [Int]
  /// The places of the tasks that the view no longer shows.
  public let removals: [Place]
  /// The places of the tasks that it did not show before.
  public let insertions: [Place]
  /// The tasks that have moved.
  public let moves: [Move]
  /// The places of the tasks that have changed in place.
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

  /// The place of a position among all tasks.
  func place(of position: Int) -> SectionedDifference.Place {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return .init(section: low, row: position - starts[low])
  }
}
