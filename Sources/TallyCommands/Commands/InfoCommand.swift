import ArgumentParser
import Tally

/// `tally info`.
struct InfoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show where the store is, how large it is and which processes read it.",
    usage: "tally info [<options>]",
    discussion: """
      Lag is how many commits a reader's snapshot is behind; space freed since then cannot be reused.

      With --plain, prints one field per line: its name, a tab, its value.
      """
  )

  func run(in session: Session) throws {
    let information = try session.openStore(for: .reading).information()
    let report = InfoReport(information: information, path: session.storePath)
    try session.answer(report.facts, plain: .fields) {
      try session.output.write(report.text(painter: session.painter))
    }
  }
}
