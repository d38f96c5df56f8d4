import Tally

extension Session {
  /// Prints what a command has found: facts to programs, whatever `printForPeople` prints to people.
  ///
  /// This is the one place that chooses by format, but for views, whose tasks are printed as they are read.
  func answer(
    _ facts: @autoclosure () -> Facts, plain layout: RecordLayout, _ printForPeople: () throws -> Void
  ) throws {
    switch options.format {
    case .json: try output.write(facts().json)
    case .plain: try output.write(facts().records(layout))
    case .human: try printForPeople()
    }
  }

  /// The facts that stand before the tasks of a view.
  func headFacts(ofView name: String, completedCount: Int) -> Facts {
    [
      "view": .text(name), "asOf": .instant(clock.now), "timeZone": .text(clock.zone.name),
      "completedCount": .count(completedCount),
    ]
  }
}
