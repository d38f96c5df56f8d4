import ArgumentParser
import Tally

/// `tally info`.
struct InfoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show where the store is, how large it is and who reads it.",
    usage: "tally info [<options>]",
    discussion: """
      Lag is how many commits a reader's snapshot is behind; the space of what was replaced since cannot be used again.

      With --plain, prints a field a line: its name, a tab, its value.
      """
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let information = try session.openStore(for: .reading).information()
    let report = InfoReport(information: information, path: session.storePath)
    try session.answer(report.facts, plain: .fields) {
      try session.output.write(report.text(painter: session.painter))
    }
  }
}
