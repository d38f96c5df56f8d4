import ArgumentParser

/// What `tally --help` prints: the commands for a start; `tally --help --all` has the others, as the parser describes them.
struct StartHelp {
  /// The commands, in the order in which a newcomer needs them.
  static let commandNames = [
    "quick", "add", "today", "next", "upcoming", "list", "find", "done", "edit", "move", "undo", "stats",
  ]

  /// The help, if the arguments ask for that of the program and not for all of it.
  init?(askedForBy arguments: [String]) {
    let options = arguments.prefix { $0 != "--" }
    let asks = options.contains("--help") || options.contains("-h")
    let command = GlobalOptions.indexOfCommand(in: arguments)
    let isOfProgram = command.map { arguments[$0] == "help" && $0 == arguments.count - 1 } ?? asks
    guard isOfProgram, !options.contains("--all"), !options.contains("--help-hidden") else { return nil }
  }

  /// The arguments without `--all` behind a question for help, which the parser answers with everything.
  static func withoutAll(_ arguments: [String]) -> [String] {
    let command = GlobalOptions.indexOfCommand(in: arguments).map { arguments[$0] }
    let asks = GlobalOptions.areQuestion(arguments) && (command == nil || command == "help")
    return asks ? arguments.filter { $0 != "--all" } : arguments
  }

  /// The help in lines of at most some columns.
  func text(width: Int) -> String {
    let width = max(20, width)
    let paragraphs = [
      "OVERVIEW: \(RootCommand.configuration.abstract)",
      "USAGE: tally [<command>] [<options>]",
      "Without a command, shows the agenda: tasks that are overdue, due today or planned for today. A task is named by its "
        + "handle, the short code that every view shows beside it.",
      "COMMANDS FOR A START:\n" + commands(width: width),
      "EXAMPLES:\n" + Self.examples.map { "  \($0)" }.joined(separator: "\n"),
      "All commands, options and exit codes: tally --help --all\nOne command: tally help <command>\n"
        + "A tutorial, and the grammars of filters and dates: man tally",
    ]
    return paragraphs.map { $0.wrapped(toWidth: width, cuttingWords: false).joined(separator: "\n") + "\n" }
      .joined(separator: "\n")
  }

  private static let examples = [
    "tally quick Pay rent tomorrow 9am +home p:high every month", "tally add Buy milk --today",
    "tally done 7f3a", "tally find +home due.before:friday",
  ]

  /// The commands with their descriptions beside them, or below where there is no room.
  private func commands(width: Int) -> String {
    let column = 11
    let commands = RootCommand.groups.flatMap { $0.commands }.map { $0.configuration }
    return Self.commandNames.compactMap { name in commands.first { $0.commandName == name } }.map { command in
      let name = command.commandName ?? ""
      guard width >= 40 else { return "  \(name)\n    \(command.abstract)" }
      let lines = command.abstract.wrapped(toWidth: width - 2 - column)
      let margin = String(repeating: " ", count: 2 + column)
      return "  " + name.padded(toWidth: column) + lines.joined(separator: "\n" + margin)
    }.joined(separator: "\n")
  }
}
