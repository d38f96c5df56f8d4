import ArgumentParser
import SystemPackage
import Tally
import TallySystem

/// `tally stats`.
struct StatsCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "stats", "Count what got done: today, trends, series, streaks, profiles.",
    usage: """
      [<filter> ...] [--from <day>] [--to <day>] [--by <period>] [--list <name>] [--tag <tag>] [--goal \
      <goal>] [--html <file>]
      """,
    discussion: """
      Days are days in your time zone, or in the one that --time-zone names. A completion counts where and when it \
      happened: it stays when the task is moved to another list or deleted, and is removed when the task is reopened. \
      'tally completed' shows the tasks behind every number.

      \(SharedHelp.completionFilter)

      --from and --to set the days that the series, the profiles, the lists and the times to completion cover; --to \
      alone goes back as far as the series would, --from alone goes up to today. Without them the series covers the \
      last 30 days, or 12 weeks, months or years, and the others cover everything. A weekday is the latest one up to today.

      --goal 5/day, or 20/week, says how often that many tasks were completed, over the same days or, without them, since \
      the first completion, and how often in a row.

      With --html, writes a self-contained page, and prints the report only with --json or --plain.

      With --plain, prints one fact per line: its name, a tab, its value. The names are the paths of the JSON's keys, \
      such as completed.thisWeek. Repeated lines have more columns: byWeekday, weekday, count; byHour, hour, count; \
      byList, listID, name, count; byTag, tag, count; byPriority, priority, count; series.bucket, start, completed, \
      created, open.

      EXAMPLES
        tally stats
        tally stats --by month --list Work
        tally stats +home p:high
        tally stats --from 2026-01-01 --to 2026-03-31 --json
        tally stats --goal 5/day
        tally stats --html statistics.html
      """)

  @OptionGroup var completions: CompletionOptions

  @Option(help: ArgumentHelp("The length of a bar of the series.", valueName: "period"))
  var by: Series.Unit = .day

  @Option(help: ArgumentHelp("A number of tasks per day or week, as 5/day or 20/week.", valueName: "goal"))
  var goal: String?

  @Option(help: ArgumentHelp("Write a page to this file, or '-' for standard output.", valueName: "file"))
  var html: String?

  static var manyWords: WritableKeyPath<Self, [String]>? { \.completions.filter.words }

  var countsWeeks: Bool { true }

  func validate(with global: GlobalOptions) throws {
    if html == "-", global.format != .human {
      throw ValidationError("--html - and --json or --plain both write to standard output; give --html a file.")
    }
  }

  func run(in session: Session) throws {
    let clock = try completions.clock(session.clock)
    var options = try completions.statisticsOptions(session.clock)
    options.unit = by
    options.goal = try goal.map { try Goal(text: $0) }
    try checkDays(options, clock.today, isOfClock: session.options.now == nil)
    let report = try session.read { transaction in
      options.listID = try completions.listID(in: transaction)
      return try StatisticsReport(options, clock: clock, in: transaction)
    }
    if let html { try session.writePage(of: report, to: html) }
    if html != nil, session.options.format == .human { return }
    try session.answer(
      report.facts, plain: .fields,
      text: StatisticsText(report, painter: session.painter, width: session.width).text)
    if report.isEmpty { session.hint(completions.emptyHint(report.options)) }
  }

  /// Refuses a period in the future, which has nothing to show, and one longer than any real work, which would take minutes.
  ///
  /// With --now, which moves the clock and not the data, a period with both ends may lie in the future.
  private func checkDays(_ options: StatisticsOptions, _ today: CalendarDay, isOfClock: Bool) throws {
    if let from = options.from, from > today, isOfClock || options.to == nil {
      throw CommandFailure.usage(
        "--from \(from.iso8601) comes after today, \(today.iso8601): there is nothing to show yet",
        remedy: "Give today or an earlier day to --from")
    }
    let longest: Int32 = 100_000
    guard let from = options.from, (options.to ?? today).dayNumber - from.dayNumber > longest else { return }
    throw CommandFailure.usage(
      "--from \(from.iso8601) begins a series of more than \(Int(longest).grouped) days",
      remedy: "Give --from a later day; without --from and --to, everything except the series covers all time")
  }
}

extension Session {
  /// Writes the report as a page to a file, which is replaced as a whole or not at all; `-` is standard output.
  ///
  /// - Throws: the library's error where the file cannot be written.
  func writePage(of report: StatisticsReport, to path: String) throws {
    let page = try StatisticsPage(report: report).html
    guard path != "-" else { return try output.write(page) }
    let file = try AtomicFile.create(replacing: FilePath(path))
    let descriptor = file.descriptor
    _ = try CommandFailure.replacing(CommandFailure.init(writing:)) { try descriptor.writeAll(page.utf8) }
    try file.commit()
    say("Wrote \(path.escapedForDisplay())")
  }
}
