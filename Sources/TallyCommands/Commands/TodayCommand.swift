import ArgumentParser

/// `tally today`.
struct TodayCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "today",
    abstract: "Show today's tasks, done ones included.",
    usage: "tally today [<options>]",
    discussion: SharedHelp.taskRecord
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    try session.show(.today(session.clock))
  }
}
