import ArgumentParser
import Tally

/// `tally list NAME`.
struct ListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Show the tasks of a list, or the lists.",
    usage: "tally list [<name>] [--open] [--tree] [--limit <n>] [<options>]",
    discussion: "Without a name, shows the lists, as 'tally lists' does.\n\n\(SharedHelp.taskRecord)"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String?

  @OptionGroup
  var options: ViewOptions

  func run(in session: Session) throws {
    guard let name else { return try ListsCommand().run(in: session) }
    try session.show { transaction in
      let list = try transaction.list(named: name)
      return options.applied(
        to: ViewDescription(
          view: .list(list.id),
          title: list.name.escapedForDisplay(),
          emptyHint: "The list \(list.name.quotedForMessage) is empty. "
            + "Add a task to it: tally add Buy milk --list \(list.name.shellQuoted)",
          list: list,
          isPlace: true,
          hiding: [.list]
        ))
    }
  }
}
