import ArgumentParser
import SystemPackage
import Tally

/// `tally verify`.
struct VerifyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check the store for inconsistencies.",
    usage: "tally verify [--repair] [<options>]",
    discussion: """
      Compares every index, the history of completions and every counter with the tasks, and checks each page of the \
      file; in a store that synchronises, also what it keeps for that. Other processes can use the store meanwhile. \
      Exits with 65 if something disagrees.

      With --repair, rebuilds indexes and counters from the tasks and the history. No other process may have the store \
      open; the previous store is kept in a file whose path is printed. A task whose list is gone goes to the inbox; \
      a record that cannot be read is set aside. Exits with 65 if something still disagrees.

      With --plain, prints one fault per line with these columns: kind, table, id.
      """
  )

  @Flag(help: "Repair what disagrees, after keeping a copy of the store.")
  var repair = false

  func run(in session: Session) throws {
    if repair { return try repair(in: session) }
    var report = try session.withVerificationProgress { progress in
      try TaskStore.verify(at: session.storePath, configuration: session.configuration, progress: progress)
    }
    // What synchronisation keeps follows from the rest.
    if report.isSound { for fault in try session.synchronisationFaults() { report.add(fault) } }
    try session.print(VerificationText(report: report))
    if let words = try session.unsentTexts().unsentTextWords { session.note(words) }
    guard report.isSound else { throw CommandFailure(report) }
  }
}

extension VerifyCommand {
  private func repair(in session: Session) throws {
    var report = try Signals.deferringInterruption {
      try session.withVerificationProgress { progress in
        try TaskStore.repair(at: session.storePath, configuration: session.configuration, progress: progress)
      }
    }
    if report.after.isSound { for fault in try session.repairSynchronisation() { report.before.add(fault) } }
    try session.print(VerificationText(report: report.after, repair: report))
    let repairedCount = max(0, report.before.faultCount - report.after.faultCount)
    if repairedCount > 0 { session.say("Repaired \(repairedCount.counted("fault")).") }
    if let kept = report.safetyCopy?.string {
      if repairedCount == 0 { session.say("None of these faults can be repaired.") }
      // Not to be restored: it is damaged, and would be refused.
      session.say("Kept the previous store: \(kept.escapedForDisplay())")
    }
    guard report.after.isSound else {
      throw CommandFailure(report.after, remedy: "Edit or delete the named records, or restore a backup")
    }
  }
}

extension Session {
  fileprivate func print(_ text: VerificationText) throws {
    try answer(text.facts, plain: .records([("faults", ["kind", "table", "id"])])) { try output.write(text.text) }
  }
}

extension CommandFailure {
  /// The failure of a verification, named by its first fault.
  init(
    _ report: VerificationReport,
    remedy: String = "Run 'tally verify --repair', restore a backup, or keep an export of what can be read"
  ) {
    let first = report.faults.first.map(\.description) ?? ""
    let more = report.faultCount > 1 ? ", and \((report.faultCount - 1).counted("more fault"))" : ""
    self.init(
      .badData,
      code: TallyError.Code.damagedStore.description,
      "The store is inconsistent: \(first)\(more)",
      remedy: remedy
    )
  }
}
