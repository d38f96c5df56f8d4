import ArgumentParser
import Tally

/// `tally filters delete NAME`.
struct DeleteFilterCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a saved filter; the tasks that it finds stay.",
    usage: "tally filters delete <name> [<options>]"
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let filter = try transaction.filter(named: name)
      try transaction.deleteFilter(named: filter.name)
      return ChangeReport(deletedFilters: [filter.name], messages: ["Deleted filter \(filter.name.quotedForMessage)."])
    }
  }
}
