import ArgumentParser

/// `tally overdue`.
struct OverdueCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "overdue",
    abstract: "Show open tasks whose due time has gone by, oldest first.",
    usage: "tally overdue [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.overdue)
  }
}
