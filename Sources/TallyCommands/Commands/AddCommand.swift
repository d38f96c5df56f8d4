import ArgumentParser

/// `tally add TEXT…`.
struct AddCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Capture a task.",
    usage: """
      tally add <text> ... [--today | --tomorrow | --on <day>] [--list <name>] [<options>]
      tally add - [<options>]
      """,
    discussion: """
      The words of the text are joined by spaces. Without a day or a list, the task goes to the inbox. With '-' as the \
      text, reads one task per line from standard input, without the blanks around it, and adds all of them or none.

      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally add Buy milk --today
        tally add 'Send the report' --list Work --due 'friday 17:00'
        tally add 'Call Ayşe' --remind 'tomorrow 10:00'
        tally add 'Pay the rent' --repeat 'every month on the 1st'
        git log --format=%s | tally add - --list Releases
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The title, or '-' to read lines from standard input.", valueName: "text"))
  var text: [String]

  @OptionGroup var fields: FieldOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func validate(with global: GlobalOptions) throws { try fields.check() }

  func run(in session: Session) throws { try session.capture(text, fields) }
}

extension AddCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    fields = .taken(from: &arguments)
    let words = arguments.takeRest()
    // The parser says that the text is missing.
    arguments.require(!words.isEmpty)
    text = words
  }
}
