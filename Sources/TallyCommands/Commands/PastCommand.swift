import ArgumentParser

/// `tally past`.
struct PastCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "past",
    abstract: "Show open tasks whose day has gone by, newest day first.",
    usage: "tally past [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.past)
  }
}
