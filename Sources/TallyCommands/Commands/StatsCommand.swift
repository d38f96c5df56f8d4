import ArgumentParser
import Tally

/// `tally stats`.
struct StatsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Count what got done: today, trends, series, streaks, profiles.",
    usage: "tally stats [--from <day> --to <day>] [--by <period>] [--list <name>] [--html <file>] [<options>]",
    discussion: """
      A day is a day in your time zone, or in the one --time-zone names. A completion counts where and when it was \
      made: it stays when the task is moved to another list or deleted, and goes when the task is reopened. \
      'tally completed' shows the tasks behind every number.

      --from and --to say which days the series, the profiles, the lists and the times to completion cover; --to alone \
      goes back as far as the series would, --from alone goes up to today. Without them the series covers the last 30 \
      days, or 12 weeks or months, and the others everything. A weekday is the last one up to today.

      With --html, writes a page that needs nothing but a browser, and prints the report only with --json or --plain.

      With --plain, prints one fact a line: its name, a tab, its value. The names are the paths of the JSON's keys, as \
      in completed.thisWeek. Lines that come in numbers have more columns: byWeekday, weekday, count; byHour, hour, \
      count; byList, listID, name, count; series.bucket, start, completed, created, open.

      EXAMPLES
        tally stats
        tally stats --by month --list Work
        tally stats --from 2026-01-01 --to 2026-03-31 --json
        tally stats --html statistics.html
      """
  )

  @OptionGroup
  var completions: CompletionOptions

  @Option(help: ArgumentHelp("What a bar of the series stands for: day, week or month.", valueName: "period"))
  var by: Period = .day

  @Option(help: ArgumentHelp("Write a page to this file, or to standard output for -.", valueName: "file"))
  var html: String?

  @OptionGroup
  var global: GlobalOptions

  func validate() throws {
    if html == "-", global.format != .human {
      throw ValidationError("--html - and --json or --plain both want standard output; give --html a file.")
    }
  }

  func run(in session: Session) throws {
    let clock = try completions.clock(session.clock)
    var options = try completions.statisticsOptions(session.clock)
    options.unit = by.unit
    try Self.checkLength(options, clock.today)
    let report = try session.read(countingWeeks: true) { transaction in
      options.listID = try completions.listID(in: transaction)
      return try StatisticsReport(options, clock: clock, in: transaction)
    }
    if let html { try session.writePage(of: report, to: html) }
    if html == nil || session.options.format != .human { try session.show(report) }
  }

  /// Refuses a series as long as all time, whose answer would take minutes; work is done within a lifetime or two.
  private static func checkLength(_ options: StatisticsOptions, _ today: CalendarDay) throws {
    let longest: Int32 = 100_000
    guard let from = options.from, (options.to ?? today).dayNumber - from.dayNumber > longest else { return }
    throw CommandFailure.usage(
      "--from \(from.iso8601) begins a series of more than \(Int(longest).grouped) days",
      remedy: "Give a later day to --from; without --from and --to, all but the series covers everything"
    )
  }

  /// What one bar of the series stands for.
  enum Period: String, CaseIterable, ExpressibleByArgument {
    case day, week, month

    var unit: Series.Unit {
      switch self {
      case .day: .day
      case .week: .week
      case .month: .month
      }
    }
  }
}

extension Session {
  /// Prints the report in the form asked for.
  fileprivate func show(_ report: StatisticsReport) throws {
    try answer(report.facts, plain: .fields) {
      try output.write(StatisticsText(report, painter: painter, width: width).text)
    }
    if report.isEmpty {
      hint("Nothing was completed yet. Complete a task: tally done HANDLE; with --at for the past")
    }
  }
}
