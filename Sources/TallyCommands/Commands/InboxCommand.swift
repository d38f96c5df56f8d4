import ArgumentParser

/// `tally inbox`.
struct InboxCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "inbox",
    abstract: "Show the tasks with no list and no day.",
    usage: "tally inbox [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.inbox)
  }
}
