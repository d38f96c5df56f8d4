import ArgumentParser

/// `tally upcoming`.
struct UpcomingCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "upcoming",
    abstract: "Show the tasks planned after today, by day.",
    usage: "tally upcoming [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.upcoming)
  }
}
