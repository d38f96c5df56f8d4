import ArgumentParser

/// `tally active`.
struct ActiveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "active",
    abstract: "Show the tasks being worked on.",
    usage: "tally active [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.active)
  }
}
