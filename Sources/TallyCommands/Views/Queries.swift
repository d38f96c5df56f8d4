import ArgumentParser
import Tally
import TallySystem

/// The commands that show what matches, in the order of the help.
enum QueryCommands {
  static let all: [LazyCommand] = [{ DueCommand.self }, { FindCommand.self }, { CountCommand.self }]
}

/// `tally find`.
struct FindCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "find", "Show the tasks that a filter finds.",
    usage: "[<filter> ...] [--sort <order>] [--waiting] [--limit <n>] [--explain]",
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
      """)

  @OptionGroup var filter: FilterOptions

  @OptionGroup var page: QueryOptions

  @Flag(help: "Print how the tasks are found instead of the tasks.")
  var explain = false

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  var countsWeeks: Bool { filter.countsWeeks }

  func run(in session: Session) throws {
    if filter.words.isEmpty, !explain, session.options.format == .human {
      return session.report(FilterOptions.noFilterHint)
    }
    let filter = try filter.filter
    if explain { return try printExplanation(of: TaskQuery(filter, by: page.sort, limit: page.limit), session) }
    try session.show { _ in
      page.description(of: filter, title: "Found", emptyHint: "No tasks match \(filter.text.quotedForMessage).")
    }
  }

  private func printExplanation(of query: TaskQuery, _ session: Session) throws {
    let explanation = try session.read { transaction in
      transaction.showsWaiting = page.waiting.isSet
      return try transaction.explain(query)
    }
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
struct CountCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "count", "Print only the number of tasks that a filter finds, for use in a shell prompt.",
    usage: "[<filter> ...] [--waiting]",
    discussion: """
      \(FilterOptions.help)

      EXAMPLES
        tally count is:open
        tally count is:overdue or due:today
      """)

  @OptionGroup var filter: FilterOptions

  @OptionGroup var waiting: WaitingOption

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  var countsWeeks: Bool { filter.countsWeeks }

  func run(in session: Session) throws {
    // A prompt or a script counts everything on purpose.
    if self.filter.words.isEmpty, SystemCalls.isTerminal(session.invocation.output) {
      session.say("All tasks are counted: no filter was given. A shell drops what follows #; write a tag as +home")
    }
    let filter = try filter.filter
    let count = try session.read { transaction in
      transaction.showsWaiting = waiting.isSet
      return try transaction.count(filter)
    }
    try session.answer(["count": .count(count)], plain: .record(["count"]), text: "\(count)\n")
  }
}

/// `tally due [DAY]`.
struct DueCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "due", "Show the tasks that are due on a day, including completed ones.",
    usage: "[<day>] [--open] [--tree] [--waiting] [--limit <n>]",
    discussion: """
      \(SharedHelp.day) Without one it is today.

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally due
        tally due next monday
      """)

  @Argument(help: ArgumentHelp("The day; today without one.", valueName: "day"))
  var words: [String] = []

  @OptionGroup var options: ViewOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.words }

  func run(in session: Session) throws {
    let clock = session.clock
    let day = words.isEmpty ? clock.today : try clock.day(words.joined(separator: " "), of: "<day>")
    try session.show { _ in
      options.applied(
        to: ViewDescription(
          view: .due(on: day), title: "Due \(clock.relativeName(of: day))",
          emptyHint:
            "Nothing is due \(clock.relativeName(of: day)). Set a due time: tally edit HANDLE --due 'friday 17:00'",
          filter: .due(on: .day(day)), isPlace: true))
    }
  }
}

/// `tally completed`.
struct CompletedCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "completed", "Show completed tasks, newest first.",
    usage: "[<filter> ...] [--from <day>] [--to <day>] [--list <name>] [--tag <tag>] [--limit <n>]",
    discussion: """
      These are the tasks behind the numbers in 'tally stats'; the same options select the same work.

      Days are local, and both are included. Without --from or --to that end is open, while 'tally stats' then covers \
      the days of its series. A weekday is the latest one up to today. --list names the list in which the work was \
      done: a task moved since then is found under the list it was completed in, and shown with the list it is in \
      now. Completed tasks that have since been deleted still count in the statistics; only their number is reported, on \
      standard error.

      \(SharedHelp.completionFilter)

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally completed --from monday
        tally completed +home --from 2026-01-01
        tally completed --from 2026-01-01 --to 2026-01-31 --json
      """)

  @OptionGroup var completions: CompletionOptions

  @OptionGroup var limited: LimitOption

  static var manyWords: WritableKeyPath<Self, [String]>? { \.completions.filter.words }

  var countsWeeks: Bool { completions.filter.countsWeeks }

  func run(in session: Session) throws {
    var options = try completions.statisticsOptions(session.clock)
    var (deletedCount, isNothingLeft) = (0, false)
    try session.show { transaction in
      options.listID = try completions.listID(in: transaction)
      deletedCount = try transaction.completionCountOfDeletedTasks(matching: options)
      isNothingLeft = try deletedCount > 0 && transaction.completionCount(matching: options) == deletedCount
      return ViewDescription(
        view: .completed(nil), title: "Completed",
        emptyHint: isNothingLeft ? completions.deletedHint(options) : completions.emptyHint(options),
        completions: options, limit: limited.limit, hiding: [.completionDay])
    }
    if deletedCount > 0 {
      let noun = isNothingLeft ? "completion" : "more completion"
      let verb = deletedCount == 1 ? "belongs to a deleted task" : "belong to deleted tasks"
      session.report("\(deletedCount.counted(noun)) \(verb)")
    }
  }
}
