import ArgumentParser
import Tally

/// `tally open URL`.
struct OpenCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Follow a link: add a task, or show one.",
    usage: "tally open <url> [--scheme <scheme>] [<options>]",
    discussion: """
      Links are tally://create-task?title=TEXT&list=NAME, where the list is optional, and tally://open-task?id=UUID. \
      Texts are percent-encoded; anything else is refused.
      """
  )

  @Argument(help: ArgumentHelp("The link.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The scheme of the link; applications have their own.", valueName: "scheme"))
  var scheme: String = TaskLink.defaultScheme

  func run(in session: Session) throws {
    switch try TaskLink(url, scheme: scheme) {
    case .createTask(let title, let list):
      try session.write(for: list == nil ? .adding : .changing) { transaction in
        let listID = try list.map { try transaction.list(named: $0).id }
        return try session.added(try transaction.add(title) { $0.listID = listID }, in: transaction)
      }
    case .openTask(let id):
      try session.showSheet { try $0.task(named: id.text) }
    }
  }
}
