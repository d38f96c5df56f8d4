public import ArgumentParser
import Foundation
public import Tally

/// The tasks that a command changes: named one by one, or found by a filter.
struct TaskSelection: ParsableArguments {
  @Argument(help: SharedHelp.tasks)
  var names: [String] = []

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Instead of names: the tasks that this filter finds.", valueName: "filter"))
  var filter: String?

  /// Whether the first day of the week matters; an invalid filter is reported later.
  var countsWeeks: Bool { filter.flatMap { try? TaskFilter(text: $0) }?.countsWeeks ?? false }

  /// Refuses a command line that names no task, or names tasks in both ways.
  func check() throws {
    if names.isEmpty, filter == nil { throw ValidationError("Which task? Give a handle, or --where.") }
    if !names.isEmpty, filter != nil {
      throw ValidationError("Give either tasks or --where. Quote a filter of several words.")
    }
  }
}

/// A command that changes the tasks of a selection.
protocol SelectionCommand: SessionCommand {
  var selection: TaskSelection { get set }
}

extension SelectionCommand {
  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }
  var countsWeeks: Bool { selection.countsWeeks }
  func validate(with global: GlobalOptions) throws { try selection.check() }
}

extension TaskSelection {
  /// Finds the tasks, each once: parents before their sub-tasks, otherwise in the order of the names or of their
  /// places.
  ///
  /// - Parameters:
  ///   - transaction: where to find them.
  ///   - openOnly: whether a filter finds only open tasks; a closed task that is named is found in any case.
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
      let failure = CommandFailure(
        .notFound, code: "nothingFound", "--where: No \(openOnly ? "open " : "")tasks match this filter",
        remedy: "Try the filter with 'tally find'; nothing was changed")
      throw try waitingWords(in: transaction).map { failure.adding(remedy: $0) } ?? failure
    }
    return try Self.parentsFirst(found, in: transaction)
  }

  /// A sentence about the tasks that a filter does not find because they wait for their start; `nil` for none.
  func waitingWords<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws -> String? {
    guard let filter else { return nil }
    let count = try CommandFailure.naming("--where") {
      try transaction.waitingCount(hiddenIn: try TaskFilter(text: filter))
    }
    if count == 0 { return nil }
    return "\(count.counted("waiting task")) \(count == 1 ? "is" : "are") left out; is:waiting finds such tasks."
  }

  /// Sorts parents before their sub-tasks, because a sub-task can move to another list only after its parent.
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

extension StoreTransaction where Base: ~Copyable {
  /// How many tasks a filter would find if they did not wait for their start.
  func waitingCount(hiddenIn filter: TaskFilter) throws -> Int {
    let hidesWaiting = !showsWaiting && TaskView.matching(filter, by: .place).hidesWaiting
    // In most stores no task waits.
    guard hidesWaiting, try !page(of: .waiting, limit: 1).tasks.isEmpty else { return 0 }
    return try count(filter && .is(.waiting))
  }
}

/// The words of a filter, as one or several arguments.
struct FilterOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Which tasks to look for; all of them without any.", valueName: "filter"))
  var words: [String] = []

  static let help = """
    A filter is a row of conditions, all of which a task must meet: +tag or @tag, list:NAME, state:active, is:open, \
    is:overdue, has:notes, p:high, due.before:DAY, due.after:DAY, due.by:DAY and due:DAY (also day, start, reminder, \
    created, updated, completed and cancelled), @attribute=value, and words to look for in titles and notes. 'or', 'not' \
    or '-', and parentheses combine them. No shell changes these spellings except parentheses. Quoted, #tag, \
    priority>=medium, due<=DAY and due!=DAY work, too: unquoted, a shell drops what follows # and writes a file behind >. \
    Tasks that wait for their start are found by filters that name it: is:waiting, is:someday, has:start, start.by:DAY.
    """

  /// The message where there is no filter: probably a shell has dropped it.
  static let noFilterHint = """
    No filter was given. A shell drops what follows #, so write a tag as +home or '#home'. To see every task: tally all
    """

  var filter: TaskFilter {
    get throws { try TaskFilter(text: words.joined(separator: " ")) }
  }

  /// Whether the first day of the week matters; an invalid filter is reported later.
  var countsWeeks: Bool { (try? filter)?.countsWeeks ?? false }

  /// The commands that take a filter.
  private static let commandNames: Set = ["find", "count", "filters", "stats", "completed", "export"]

  /// The arguments with `not list:Work` in place of `-list:Work`, which the parser would take for an option.
  static func spelledOut(_ arguments: [String]) -> [String] {
    guard let command = GlobalOptions.indexOfCommand(in: arguments), commandNames.contains(arguments[command]) else {
      return arguments
    }
    var words = arguments
    let end = words.firstIndex(of: "--") ?? words.endIndex
    guard words[..<end].contains(where: { isDashed($0, after: words[command]) }) else { return words }
    let question = CompletionQuestion(words: Array(words[..<end]), prefix: "")
    var (positionalCount, isValue) = (0, false)
    for index in words[..<end].indices.dropFirst(command + question.commandPath.count) {
      let word = words[index]
      if isValue {
        isValue = false
      } else if isDashed(word, after: words[command]), question.positional(at: positionalCount)?.valueName == "filter" {
        words[index] = "not " + word.dropFirst()
        positionalCount += 1
      } else if word.hasPrefix("-"), word != "-" {
        isValue = question.takesValue(word)
      } else {
        positionalCount += 1
      }
    }
    return words
  }

  /// Whether a word begins with one dash and is not an option of the command.
  private static func isDashed(_ word: String, after command: String) -> Bool {
    word.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--") && !(command == "export" && word.hasPrefix("-o"))
  }
}

extension TaskOrder: ExpressibleByArgument {
  /// Reads an order by its text; `nil` for any other.
  public init?(argument: String) {
    guard let order = try? TaskOrder(text: argument) else { return nil }
    self = order
  }

  /// The orders that errors and the help list.
  public static var allValueStrings: [String] {
    let orders = Key.allCases.flatMap { [TaskOrder($0), TaskOrder($0, isReversed: true)] }
    // Some cannot be reversed.
    return orders.indices.filter { $0.isMultiple(of: 2) || orders[$0].isReversed }.map { orders[$0].text }
  }

  /// The order's text, as in the help.
  public var defaultValueDescription: String { text }
}
