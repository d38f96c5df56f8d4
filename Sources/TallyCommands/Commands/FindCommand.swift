import ArgumentParser
import Tally

/// `tally find`.
struct FindCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Show the tasks that a filter finds.",
    usage: "tally find [<filter> ...] [--sort <order>] [--limit <n>] [--explain] [<options>]",
    discussion: """
      \(FilterOptions.help)

      ORDER is place (the order of lists), due, priority, created, updated, completed or next; add :reversed for the other \
      way round, as in created:reversed.

      --explain prints, instead of the tasks, which index was used and how much of it was looked at.

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally find +home is:open --sort due
        tally find due.by:today+3d p:high or is:overdue
        tally find 'due<=today+3d (priority>=medium or is:overdue)' -list:Work
        tally find 'text~"tax form"' --limit 10 --json
      """
  )

  static let takesText = true

  @OptionGroup
  var filter: FilterOptions

  @OptionGroup
  var page: QueryOptions

  @Flag(help: "Print how the tasks are found instead of the tasks.")
  var explain = false

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  var countsWeeks: Bool { filter.countsWeeks }

  func run(in session: Session) throws {
    if filter.words.isEmpty, !explain, session.options.format == .human {
      return session.note(FilterOptions.noFilterHint)
    }
    let filter = try filter.filter
    if explain { return try printExplanation(of: TaskQuery(filter, by: page.sort, limit: page.limit), session) }
    try session.show { _ in
      page.description(of: filter, title: "Found", emptyHint: "No tasks match \(filter.text.quotedForMessage).")
    }
  }

  private func printExplanation(of query: TaskQuery, _ session: Session) throws {
    let explanation = try session.read { try $0.explain(query) }
    let facts: Facts = [
      "index": .text(explanation.index), "isSorted": .flag(explanation.isSorted),
      "examined": .count(explanation.examinedCount), "found": .count(explanation.foundCount),
      "returned": .count(explanation.returnedCount),
    ]
    try session.answer(facts, plain: .fields) {
      let sorting = explanation.isSorted ? "sorted afterwards" : "in order already"
      try session.writeWrapped(
        "\(explanation.index): \(explanation.examinedCount.grouped) looked at, \(explanation.foundCount.grouped) found, "
          + "\(explanation.returnedCount.grouped) returned, \(sorting)")
    }
  }
}

/// `tally count`.
struct CountCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print only the number of tasks that a filter finds, for use in a shell prompt.",
    usage: "tally count [<filter> ...] [<options>]",
    discussion: """
      \(FilterOptions.help)

      EXAMPLES
        tally count is:open
        tally count is:overdue or due:today
      """
  )

  static let takesText = true

  @OptionGroup
  var filter: FilterOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  var countsWeeks: Bool { filter.countsWeeks }

  func run(in session: Session) throws {
    // A prompt or a script counts everything on purpose.
    if self.filter.words.isEmpty, Terminal.isTerminal(session.invocation.output) {
      session.say("All tasks are counted: no filter was given. A shell drops what follows #; write a tag as +home")
    }
    let filter = try filter.filter
    let count = try session.read { try $0.count(filter) }
    try session.answer(["count": .count(count)], plain: .record(["count"])) { try session.output.write("\(count)\n") }
  }
}

extension FindCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    explain = arguments.takeFlag("--explain")
    page = .taken(from: &arguments)
    filter = .taken(from: &arguments)
  }
}

extension CountCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    filter = .taken(from: &arguments)
  }
}
