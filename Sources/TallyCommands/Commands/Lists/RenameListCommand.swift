import ArgumentParser
import Tally

/// `tally lists rename NAME NEW`.
struct RenameListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Rename a list.",
    usage: "tally lists rename <name> <new> [--force] [<options>]"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new"))
  var newName: String

  @Flag(help: "Rename it even if another list has this name.")
  var force = false

  func run(in session: Session) throws {
    try TaskList.checkNotReserved(newName)
    try session.changeList(name) { before, transaction in
      let others = try transaction.lists().filter { $0.id != before.id }.map(\.name)
      try TaskList.check(newName, isNotAmong: others, unless: force || newName == before.name)
      let after = try transaction.renameList(before.id, to: newName)
      return (after, "Renamed list \(before.name.quotedForMessage) to \(after.name.quotedForMessage).")
    }
  }
}
