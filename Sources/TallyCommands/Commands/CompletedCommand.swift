import ArgumentParser
import Tally

/// `tally completed`.
struct CompletedCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "completed",
    abstract: "Show completed tasks, newest first.",
    usage: "tally completed [--from <day>] [--to <day>] [--list <name>] [<options>]",
    discussion: """
      Days are local and both are included. A weekday is the last one up to today.

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally completed --from monday
        tally completed --from 2026-01-01 --to 2026-01-31 --time-zone Europe/Istanbul --json
      """
  )

  @Option(help: ArgumentHelp("The first day.", valueName: "day"))
  var from: String?

  @Option(help: ArgumentHelp("The last day.", valueName: "day"))
  var to: String?

  @Option(help: SharedHelp.list)
  var list: String?

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let interval = try interval(session.clock)
    try session.show { transaction in
      ViewDescription(
        view: .completed(interval),
        title: "Completed",
        emptyHint: (interval == nil ? "Nothing is completed yet." : "Nothing was completed in that time.")
          + " Complete a task: tally done HANDLE; with --at for the past",
        onlyList: try list.map { try transaction.list(named: $0) }
      )
    }
  }

  /// From the start of the first day to the start of the day after the last.
  private func interval(_ clock: LocalClock) throws -> Range<Timestamp>? {
    guard from != nil || to != nil else { return nil }
    let first =
      try from.map { text in try CommandFailure.naming("--from") { try clock.day(text, weekdays: .latest) } }
      ?? .earliest
    let last =
      try to.map { text in try CommandFailure.naming("--to") { try clock.day(text, weekdays: .latest) } } ?? .latest
    guard first <= last else {
      throw CommandFailure.usage(
        "--from \(first.iso8601) comes after --to \(last.iso8601)",
        remedy: "Give the earlier day to --from"
      )
    }
    let start = first == .earliest ? Timestamp.earliest : first.start(in: clock.timeZone)
    let end = (try? last.adding(days: 1))?.start(in: clock.timeZone) ?? .latest
    return start..<max(start, end)
  }
}
