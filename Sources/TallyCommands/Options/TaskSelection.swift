import ArgumentParser
import Foundation
import Tally

/// The tasks that a command changes: named one by one, or found by a filter.
struct TaskSelection: ParsableArguments {
  @Argument(help: SharedHelp.tasks)
  var names: [String] = []

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Instead of names: the tasks that this filter finds.", valueName: "filter"))
  var filter: String?

  /// Whether it matters with which day a week begins; an invalid filter is reported later.
  var countsWeeks: Bool { filter.flatMap { try? TaskFilter(text: $0) }?.countsWeeks ?? false }

  /// Refuses a command line that names no task, or names tasks in both ways.
  func check() throws {
    if names.isEmpty, filter == nil { throw ValidationError("Which task? Give a handle, or --where.") }
    if !names.isEmpty, filter != nil {
      throw ValidationError("Give either tasks or --where. Quote a filter of several words.")
    }
  }
}

extension TaskSelection: PlainOptions {
  /// Takes the options from plain arguments, after those of the command.
  mutating func take(from arguments: inout PlainArguments) {
    filter = arguments.takeValue(of: "--where")
    names = arguments.takeRest()
  }

  /// Finds the tasks, each once, parents before their sub-tasks; otherwise in the order of the names, or of their places.
  ///
  /// - Parameters:
  ///   - transaction: where to look.
  ///   - openOnly: whether a filter finds only open tasks; a completed task that is named is found all the same.
  /// - Returns: at least one task.
  /// - Throws: ``CommandFailure`` for a name or a filter that finds nothing.
  func tasks<Base: ~Copyable>(
    in transaction: borrowing StoreTransaction<Base>, openOnly: Bool = false
  ) throws -> [TaskItem] {
    guard let filter else { return try Self.parentsFirst(transaction.tasks(named: names), in: transaction) }
    var found: [TaskItem] = []
    try CommandFailure.naming("--where") {
      guard !filter.allSatisfy(\.isWhitespace) else {
        throw CommandFailure.usage(
          "The filter is empty", code: "invalidFilter", remedy: "Write conditions; 'is:open or is:done' is every task")
      }
      let filter = try TaskFilter(text: filter)
      try transaction.forEachTask(in: TaskQuery(openOnly ? filter && .is(.open) : filter, by: .place).view) { task, _ in
        found.append(task)
        return true
      }
    }
    guard !found.isEmpty else {
      throw CommandFailure(
        .notFound, code: "nothingFound", "--where: No \(openOnly ? "open " : "")tasks match this filter",
        remedy: "Try the filter with 'tally find'; nothing was changed")
    }
    return try Self.parentsFirst(found, in: transaction)
  }

  /// A sub-task follows its parent to another list, and cannot go there before it.
  private static func parentsFirst<Base: ~Copyable>(
    _ tasks: [TaskItem], in transaction: borrowing StoreTransaction<Base>
  ) throws -> [TaskItem] {
    guard tasks.contains(where: { $0.parentID != nil }) else { return tasks }
    let ids = Set(tasks.map(\.id))
    var ranked: [(depth: Int, position: Int, task: TaskItem)] = []
    for (position, task) in tasks.enumerated() {
      var (depth, ancestor) = (0, task.parentID)
      while let id = ancestor {
        if ids.contains(id) { depth += 1 }
        ancestor = try transaction.task(id)?.parentID
      }
      ranked.append((depth, position, task))
    }
    return ranked.sorted { ($0.depth, $0.position) < ($1.depth, $1.position) }.map(\.task)
  }
}
