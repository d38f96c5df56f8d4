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

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let change = try session.write { transaction in
      let before = try transaction.list(named: name)
      let after = try transaction.renameList(before.id, to: newName)
      return ChangeReport(
        from: before,
        to: after,
        "Renamed list \(before.name.quotedForMessage) to \(after.name.quotedForMessage)."
      )
    }
    try session.report(change)
  }
}

extension ChangeReport {
  /// The change of one list; if nothing changed, only a message.
  init(from before: TaskList, to after: TaskList, _ message: String) {
    if before == after {
      messages = ["No change: list \(after.name.quotedForMessage) is already like that."]
    } else {
      lists = [after]
      messages = [message]
    }
  }
}
