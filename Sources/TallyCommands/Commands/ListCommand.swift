import ArgumentParser
import Tally

/// `tally list NAME`.
struct ListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Show the tasks of a list.",
    usage: "tally list <name> [--open] [--tree] [--limit <n>] [<options>]",
    discussion: SharedHelp.taskRecord
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @OptionGroup
  var options: ViewOptions

  func run(in session: Session) throws {
    try session.show { transaction in
      let list = try transaction.list(named: name)
      return options.applied(
        to: ViewDescription(
          view: .list(list.id),
          title: list.name.escapedForDisplay(),
          emptyHint: "The list \(list.name.quotedForMessage) is empty. "
            + "Add a task to it: tally add Buy milk --list \(list.name.shellQuoted)",
          isPlace: true,
          hiding: [.list]
        ))
    }
  }
}
