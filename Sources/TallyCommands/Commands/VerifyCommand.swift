import ArgumentParser
import Tally

/// `tally verify`.
struct VerifyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that nothing in the store contradicts itself.",
    usage: "tally verify [<options>]",
    discussion: """
      Compares every index, the history of completions and every counter with the tasks, and checks each page of the \
      file. Others may use the store meanwhile. Exits with 65 where something disagrees.

      With --plain, prints a disagreement a line with these columns: kind, table, id.
      """
  )

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let report = try session.withVerificationProgress("Verifying") { progress in
      try TaskStore.verify(at: session.storePath, configuration: session.configuration, progress: progress)
    }
    try session.print(VerificationText(report: report))
    guard report.isSound else { throw CommandFailure(report) }
  }
}

extension Session {
  func print(_ text: VerificationText) throws {
    switch options.format {
    case .json: try output.write(text.json)
    case .plain: try output.write(text.records)
    case .human: try output.write(text.human(painter: painter))
    }
  }
}

extension CommandFailure {
  /// What a verification found, named by its first fault.
  init(_ report: VerificationReport) {
    let first = report.faults.first.map(\.description) ?? ""
    let more = report.faultCount > 1 ? ", and \((report.faultCount - 1).counted("more fault"))" : ""
    self.init(
      .badData,
      code: TallyError.Code.damagedStore.description,
      "The store contradicts itself: \(first)\(more)",
      remedy: "Restore a backup, or keep an export of what can be read"
    )
  }
}
