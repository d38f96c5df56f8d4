import ArgumentParser
import Tally

/// `tally done TASK…`.
struct DoneCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "done",
    abstract: "Complete tasks.",
    usage: "tally done <task> ... [--at <instant>] [<options>]",
    discussion: """
      EXAMPLES
        tally done 7f3a
        tally done 7f3a 91bc --at 2026-11-20T18:30:00+03:00
        tally done 7f3a --at 'yesterday 18:30'
      """
  )

  @Argument(help: SharedHelp.tasks)
  var tasks: [String]

  @Option(
    help: ArgumentHelp(
      "When they were completed: an ISO 8601 instant, or a DAY and HH:MM. A weekday is the last one.",
      valueName: "instant")
  )
  var at: String?

  func run(in session: Session) throws {
    let completedAt = try at.map { text in try CommandFailure.naming("--at") { try session.clock.offsetInstant(text) } }
    let suffix = completedAt.map { ", " + session.clock.relativeName(of: $0.instant) } ?? ""
    try session.changeTasks(tasks, "Completed", suffix) { try $1.complete($0, at: completedAt) }
  }
}

extension LocalClock {
  /// Reads an instant with its offset; one given by local day and time has the offset in force then.
  fileprivate func offsetInstant(_ text: String) throws -> OffsetTimestamp {
    // A written offset is kept; everything else is read as a WHEN, whose errors are reported.
    if let written = try? OffsetTimestamp(iso8601: text) { return written }
    return OffsetTimestamp(try instant(text, bareDay: .mustBeGiven), in: timeZone)
  }
}
