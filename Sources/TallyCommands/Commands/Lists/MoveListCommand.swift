import ArgumentParser
import Tally

/// `tally lists move NAME`.
struct MoveListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move a list before or after another list.",
    usage: "tally lists move <name> --before <name> | --after <name> [<options>]"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @Option(help: ArgumentHelp("Put it before this list.", valueName: "name"))
  var before: String?

  @Option(help: ArgumentHelp("Put it after this list.", valueName: "name"))
  var after: String?

  func validate(with global: GlobalOptions) throws {
    if (before == nil) == (after == nil) { throw ValidationError("Give either --before or --after.") }
  }

  func run(in session: Session) throws {
    try session.changeList(name) { list, transaction in
      let anchor = try transaction.list(named: before ?? after ?? "")
      guard list.id != anchor.id else {
        throw CommandFailure.usage("A list cannot be moved next to itself", remedy: "Name two lists")
      }
      let (moved, side) =
        before != nil
        ? (try transaction.moveList(list.id, before: anchor.id), "before")
        : (try transaction.moveList(list.id, after: anchor.id), "after")
      return (moved, "Moved list \(list.name.quotedForMessage) \(side) \(anchor.name.quotedForMessage).")
    }
  }
}
