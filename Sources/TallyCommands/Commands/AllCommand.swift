import ArgumentParser

/// `tally all`.
struct AllCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Show every task, by creation.",
    usage: "tally all [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.all)
  }
}
