import ArgumentParser

/// `tally list NAME`.
struct ListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Show the tasks of a list.",
    usage: "tally list <name> [<options>]",
    discussion: SharedHelp.taskRecord
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show { .list(try $0.list(named: name)) }
  }
}
