import ArgumentParser

/// `tally`: alone it shows today's tasks.
struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tally",
    abstract: "Keep tasks, see them, and count what got done.",
    discussion: """
      Without a command, shows today's tasks.

      A task is named by its handle, the short code every view shows beside it; a longer tail of its id, or the whole \
      id, works too. A list is named by its name or its id.

      DAY is today, tomorrow, yesterday, a weekday or YYYY-MM-DD. WHEN is a DAY, a DAY and HH:MM in local time \
      ('friday 14:00'), or an ISO 8601 instant.

      EXAMPLES
        tally add Buy milk --today
        tally add 'Send the report' --list Work --due 'friday 17:00'
        tally done 7f3a
        tally upcoming --json
        tally export -o backup.json

      COMPLETION
        bash:  tally --generate-completion-script bash > ~/.local/share/bash-completion/completions/tally
        zsh:   tally --generate-completion-script zsh > a directory of $fpath, as the file _tally
        fish:  tally --generate-completion-script fish > ~/.config/fish/completions/tally.fish

      EXIT STATUS
        0 success; 1 not found or ambiguous; 64 usage; 65 bad data; 66 input unreadable; 70 internal error; \
      73 output cannot be created; 74 storage failed; 75 busy, try again; 76 newer format; 130 interrupted.
      """,
    version: TallyCommandLine.version,
    groupedSubcommands: [],
    defaultSubcommand: nil
  )

  @OptionGroup(title: "Options of every command")
  var global: GlobalOptions
}
