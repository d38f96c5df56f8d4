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

      A task is named by its handle, the short code every view shows beside it; a longer tail of its id, or the whole \
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
    groupedSubcommands: [
      group(
        "Viewing tasks",
        [AgendaCommand.self] + ViewCommands.all
          + [
            DueCommand.self, FindCommand.self, CountCommand.self, FilterCommand.self, SearchCommand.self,
            CompletedCommand.self, ListCommand.self, ShowCommand.self, HistoryCommand.self, StatsCommand.self,
          ]
      ),
      group(
        "Changing tasks",
        [
          AddCommand.self, QuickCommand.self, LogCommand.self, EditCommand.self, StartCommand.self, DoneCommand.self,
          ReopenCommand.self,
          MoveCommand.self, DeleteCommand.self, UndoCommand.self, RedoCommand.self, OpenCommand.self,
        ]
      ),
      group("Reminders", [RemindersCommand.self, SnoozeCommand.self, RemindCommand.self]),
      group("Lists, tags and filters", [ListsCommand.self, TagsCommand.self, FiltersCommand.self]),
      group(
        "The store",
        [
          ExportCommand.self, ImportCommand.self, BackupCommand.self, RestoreCommand.self, VerifyCommand.self,
          CompactCommand.self, InfoCommand.self, ValuesCommand.self, ConfigCommand.self,
        ]
      ),
    ],
    defaultSubcommand: WithGlobalOptions<AgendaCommand>.self
  )

  private static func group(_ name: String, _ commands: [any SessionCommand.Type]) -> CommandGroup {
    CommandGroup(name: name, subcommands: withGlobalOptions(commands))
  }

  @OptionGroup
  var global: GlobalOptions
}
