import ArgumentParser

/// `tally`: alone it shows the agenda.
struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tally",
    abstract: "Manage tasks and count what got done.",
    usage: """
      tally [<command>] [<options>]
      tally help <command>
      """,
    discussion: """
      Without a command, shows the agenda: tasks that are overdue, due today or planned for today.

      You refer to a task by its handle, the short code every view shows beside it; a longer tail of its id, or the whole \
      id, works too. A list is named by its name or id.

      DAY is today, tomorrow, a weekday, YYYY-MM-DD, '25 nov', +3d, 'in 2 weeks', eow, eom or eoy. WHEN is a DAY, a \
      time or both ('friday 14:00', 5pm), a duration from now (2h), or an ISO 8601 instant.

      EXAMPLES
        tally add Buy milk --today
        tally add 'Send the report' --list Work --due 'friday 17:00'
        tally done 7f3a
        tally upcoming --json
        tally export -o backup.json

      COMPLETION
        Prints a script for bash, zsh or fish, which 'make install' installs:
        tally --generate-completion-script bash

      EXIT STATUS
        0   success
        1   what was named does not exist or is ambiguous
        64  usage: an argument is missing, unknown or refused
        65  bad data in a file
        66  an input file cannot be read
        70  internal error
        73  an output cannot be created
        74  storage failed: disk full, I/O
        75  the store is busy; try again
        76  the store's format is newer than this program
        130 interrupted
      """,
    version: TallyCommandLine.version,
    groupedSubcommands: groups.map { group in
      CommandGroup(name: group.name, subcommands: withGlobalOptions(group.commands.map { $0() }))
    },
    defaultSubcommand: WithGlobalOptions<AgendaCommand>.self
  )

  /// The commands, in the groups and the order of the help.
  static let groups: [(name: String, commands: [LazyCommand])] = [
    (
      "Viewing tasks",
      [{ AgendaCommand.self }] + ViewCommands.all + QueryCommands.all
        + [
          { FilterCommand.self }, { SearchCommand.self }, { CompletedCommand.self }, { ListCommand.self },
          { ShowCommand.self }, { HistoryCommand.self }, { StatsCommand.self }, { WebCommand.self },
        ]
    ),
    (
      "Changing tasks",
      [{ AddCommand.self }, { QuickCommand.self }, { LogCommand.self }, { EditCommand.self }] + StateCommands.all
        + [{ MoveCommand.self }, { DeleteCommand.self }, { UndoCommand.self }, { RedoCommand.self }]
        + [{ OpenCommand.self }]
    ),
    ("Reminders", [{ RemindersCommand.self }, { SnoozeCommand.self }, { RemindCommand.self }]),
    ("Lists, tags and filters", [{ ListsCommand.self }, { TagsCommand.self }, { FiltersCommand.self }]),
    ("Other devices", [{ SyncCommand.self }, { ConflictsCommand.self }, { TrashCommand.self }]),
    (
      "The store",
      [{ ExportCommand.self }, { ImportCommand.self }] + UpkeepCommands.all
        + [{ InfoCommand.self }, { ValuesCommand.self }, { ConfigCommand.self }]
    ),
  ]

  @OptionGroup var global: GlobalOptions
}

extension RootCommand {
  /// The command that arguments name, read alone, since describing all commands takes longer than most of them run.
  ///
  /// - Returns: `nil` for everything else: help, a command with commands of its own, and arguments that are refused. The
  ///   whole parser then answers, and its messages name the program.
  static func commandAlone(from arguments: [String]) -> ParsedCommand? {
    var rest = arguments
    let name = GlobalOptions.indexOfCommand(in: arguments).map { rest.remove(at: $0) } ?? "agenda"
    return command(named: name).flatMap { parsed($0, named: name, from: rest) }
  }

  /// Whether the command that words name takes any number of words as they are.
  static func takesManyWords(_ path: [String]) -> Bool {
    guard let name = path.first, let command = command(named: name) else { return false }
    // To find a command below another one, all of them are described, which takes longer than most commands do.
    guard path.count > 1 else { return command.takesManyWords }
    let subcommand = allCommands.first { $0.path == path }?.command as? any CompleteCommand.Type
    return subcommand?.takesManyWords == true
  }

  /// The command of a name of one word.
  static func command(named name: String) -> (any SessionCommand.Type)? {
    let commands = groups.flatMap(\.commands)
    // The table has the same order. To ask each command for its name would create the help of all of them.
    guard let index = CommandDescription.commandNames.firstIndex(of: name), commands.indices.contains(index) else {
      return nil
    }
    let command = commands[index]()
    assert(command.configuration.commandName == name, "the table has another order: record it again")
    return command
  }

  private static func parsed<Own: SessionCommand>(
    _ command: Own.Type, named name: String, from arguments: [String]
  ) -> ParsedCommand? {
    if let plain = PlainArguments.read(command, named: name, from: arguments) { return plain }
    guard command.configuration.subcommands.isEmpty else { return nil }
    return ((try? WithGlobalOptions<Own>.parseAsRoot(arguments)) as? WithGlobalOptions<Own>)?.parsed
  }
}

extension RootCommand {
  /// The words that name a command; none for one that the program does not have.
  static func words(naming command: any ParsableCommand.Type) -> [String] {
    allCommands.first { $0.command == command }?.path ?? []
  }

  /// All commands with the words that name them; each comes before its subcommands.
  static var allCommands: [(path: [String], command: any ParsableCommand.Type)] {
    commands(configuration.subcommands, below: [])
  }

  private static func commands(
    _ commands: [any ParsableCommand.Type], below path: [String]
  ) -> [(path: [String], command: any ParsableCommand.Type)] {
    commands.flatMap { command in
      let own = path + [command._commandName]
      return [(own, command)] + self.commands(command.configuration.subcommands, below: own)
    }
  }
}

extension CompleteCommand {
  static var takesManyWords: Bool { Own.takesManyWords }
  var parsed: ParsedCommand { ParsedCommand(words: RootCommand.words(naming: Self.self), own: own, global: global) }
}

/// The output of `tally --help`: the commands for a start; `tally --help --all` has the others, as the parser describes
/// them.
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
    let commands = RootCommand.groups.flatMap(\.commands).map { $0().configuration }
    return Self.commandNames.compactMap { name in commands.first { $0.commandName == name } }.map { command in
      let name = command.commandName ?? ""
      guard width >= 40 else { return "  \(name)\n    \(command.abstract)" }
      let lines = command.abstract.wrapped(toWidth: width - 2 - column)
      let margin = String(repeating: " ", count: 2 + column)
      return "  " + name.padded(toWidth: column) + lines.joined(separator: "\n" + margin)
    }.joined(separator: "\n")
  }
}
