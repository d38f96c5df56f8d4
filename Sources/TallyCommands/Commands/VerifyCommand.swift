import ArgumentParser
import SystemPackage
import Tally

/// `tally verify`.
struct VerifyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that nothing in the store contradicts itself.",
    usage: "tally verify [--repair] [<options>]",
    discussion: """
      Compares every index, the history of completions and every counter with the tasks, and checks each page of the \
      file. Others may use the store meanwhile. Exits with 65 where something disagrees.

      With --repair, indexes and counters are made anew from the tasks and the history. Nobody may have the store \
      open; the store as it was is kept in a file whose path is printed. A task whose list is gone goes to the inbox; \
      a record that cannot be read is set aside. Exits with 65 if something still disagrees.

      With --plain, prints a disagreement a line with these columns: kind, table, id.
      """
  )

  @Flag(help: "Mend what disagrees, after keeping the store as it was.")
  var repair = false

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    if repair { return try mend(in: session) }
    let report = try session.withVerificationProgress("Verifying") { progress in
      try TaskStore.verify(at: session.storePath, configuration: session.configuration, progress: progress)
    }
    try session.print(VerificationText(report: report))
    guard report.isSound else { throw CommandFailure(report) }
  }
}

extension VerifyCommand {
  private func mend(in session: Session) throws {
    let report = try session.withVerificationProgress("Verifying") { progress in
      try TaskStore.repair(at: session.storePath, configuration: session.configuration, progress: progress)
    }
    try session.print(VerificationText(report: report.after, repair: report))
    if let kept = report.keptFile?.string {
      let mendedCount = max(0, report.before.faultCount - report.after.faultCount)
      session.say(mendedCount > 0 ? "Mended \(mendedCount.counted("fault"))." : "Nothing of this can be mended here.")
      // Not to be restored: it is damaged, and would be refused.
      session.say("The store as it was: \(kept.escapedForDisplay())")
    }
    guard report.after.isSound else {
      throw CommandFailure(report.after, remedy: "Edit or delete what is named, or restore a backup")
    }
  }
}

extension Session {
  fileprivate func print(_ text: VerificationText) throws {
    try answer(text.facts, plain: .records([("faults", ["kind", "table", "id"])])) { try output.write(text.text) }
  }
}

extension CommandFailure {
  /// What a verification found, named by its first fault.
  init(
    _ report: VerificationReport,
    remedy: String = "Run 'tally verify --repair', restore a backup, or keep an export of what can be read"
  ) {
    let first = report.faults.first.map(\.description) ?? ""
    let more = report.faultCount > 1 ? ", and \((report.faultCount - 1).counted("more fault"))" : ""
    self.init(
      .badData,
      code: TallyError.Code.damagedStore.description,
      "The store contradicts itself: \(first)\(more)",
      remedy: remedy
    )
  }
}
