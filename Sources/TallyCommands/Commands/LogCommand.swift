import ArgumentParser
import Tally

/// `tally log TEXT…`.
struct LogCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Record something that is done already.",
    usage: """
      tally log <text> ... [--at <when>] [--list <name>] [--tag <tag>] [<options>]
      tally log - [--at <when>] [<options>]
      """,
    discussion: """
      Adds a task and completes it in one step, now or at an earlier time. Takes everything that 'tally add' takes.

      \(SharedHelp.day) \(SharedHelp.when)

      EXAMPLES
        tally log Fixed the tap --tag home
        tally log 'Wrote the minutes' --at 'yesterday 18:30' --list Work
        tally log 'Ran 5 km' --at '2 hours ago'
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The title, or '-' to read lines from standard input.", valueName: "text"))
  var text: [String]

  @Option(help: SharedHelp.completionTime)
  var at: String?

  @OptionGroup var fields: FieldOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.text }

  func validate(with global: GlobalOptions) throws { try fields.check() }

  func run(in session: Session) throws {
    let completion = try at.map { try session.clock.completion($0, of: "--at") }
    try session.capture(text, fields, as: .completed, at: completion)
  }
}
