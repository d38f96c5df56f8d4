import Tally

extension Session {
  /// Prints a command's result: the facts for programs, `printForPeople` for people.
  ///
  /// This is the one place that chooses by format, except for views, whose tasks are printed as they are read.
  func answer(
    _ facts: @autoclosure () -> Facts, plain layout: RecordLayout, _ printForPeople: () throws -> Void
  ) throws {
    switch options.format {
    case .json: try output.write(facts().json)
    case .plain:
      try output.write(facts().records(options.taskColumns.map { layout.replacingTaskColumns($0) } ?? layout))
    case .human: try printForPeople()
    }
  }

  /// Writes text for people in lines that fit the terminal.
  func writeWrapped(_ text: String) throws {
    let lines = width.map { text.wrapped(toWidth: $0, cuttingWords: false).joined(separator: "\n") } ?? text
    try output.write(lines + "\n")
  }

  /// The facts printed before the tasks of a view.
  func headFacts(ofView name: String, completedCount: Int) -> Facts {
    [
      "view": .text(name), "asOf": .instant(clock.now), "timeZone": .text(clock.zone.name),
      "completedCount": .count(completedCount),
    ]
  }
}
