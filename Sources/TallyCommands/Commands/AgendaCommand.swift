import ArgumentParser
import Tally

/// `tally agenda`, and `tally` alone.
struct AgendaCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "agenda",
    abstract: "Show what asks for attention today; 'tally' alone does the same.",
    usage: """
      tally [--limit <n>] [<options>]
      tally agenda [--limit <n>] [<options>]
      """,
    discussion: """
      Shows tasks that are overdue, due today, planned for today or left from yesterday, each once, and counts what else \
      waits. People see at most \(AgendaReport.yesterdayCount) tasks of yesterday; 'tally past' shows all that are left.

      With --plain, a line has these columns: \(AgendaReport.columns.joined(separator: ", ")).
      """
  )

  @OptionGroup var limited: LimitOption

  func run(in session: Session) throws {
    let report = try session.read { transaction in
      let agenda = try transaction.agenda()
      var lists: KnownLists = [:]
      var rest = limited.limit ?? .max
      let sections = try AgendaReport.Kind.allCases.map { kind in
        let tasks = kind.tasks(of: agenda).prefix(rest)
        rest -= tasks.count
        return (kind, try tasks.map { try transaction.name($0, knowing: &lists) })
      }
      let handleLength = sections.flatMap(\.1).map(\.handle.utf8.count).max() ?? 0
      let named = sections.map { ($0, $1.map { $0.withHandle(ofLength: handleLength) }) }
      return AgendaReport(agenda: agenda, sections: named, taskCount: try transaction.taskCount)
    }
    try session.answer(
      report.facts(in: session), plain: .records([("sections.tasks", AgendaReport.columns)])
    ) { try session.output.write(report.text(in: session)) }
    if report.agenda.tasks.isEmpty {
      session.hint("Nothing is due or planned for today. Plan a task: tally add Buy milk --today")
    }
  }
}

extension AgendaCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    limited = .taken(from: &arguments)
  }
}
