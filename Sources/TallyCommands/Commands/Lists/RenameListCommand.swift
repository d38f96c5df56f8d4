import ArgumentParser
import Tally

/// `tally lists rename NAME NEW`.
struct RenameListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Rename a list.",
    usage: "tally lists rename <name> <new> [<options>]"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new"))
  var newName: String

  func run(in session: Session) throws {
    try session.changeList(name) { before, transaction in
      let after = try transaction.renameList(before.id, to: newName)
      return (after, "Renamed list \(before.name.quotedForMessage) to \(after.name.quotedForMessage).")
    }
  }
}
