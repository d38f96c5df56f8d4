import ArgumentParser

/// `tally show TASK`.
struct ShowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one task in full.",
    usage: "tally show <task> [<options>]",
    discussion: "With --plain, prints a field a line: its name, a tab, its value."
  )

  @Argument(help: SharedHelp.task)
  var task: String

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let named = try session.read { try $0.name(try $0.task(named: task)) }
    switch session.options.format {
    case .json:
      try session.output.write(TerminalSafeJSON.line { json in json.object { $0.members(of: named) } })
    case .plain:
      try session.output.write(TaskSheet.fields(of: named).map { PlainRecords.line([$0.name, $0.value]) }.joined())
    case .human:
      try session.output.write(TaskSheet(named: named, session: session).text)
    }
  }
}
