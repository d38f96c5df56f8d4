import ArgumentParser
import Tally
import TallySync

/// `tally sync status`.
struct SyncStatusCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show when this store last synchronised, and what waits.",
    usage: "tally sync status [<options>]",
    discussion: "With --plain, a line has these columns: \(SyncStatus.columns.joined(separator: ", "))."
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let status = try session.wait { try await sync.status() }
    try session.answer(status.facts, plain: .record(SyncStatus.columns)) {
      for line in lines(of: status, session) { try session.output.write("  \(line)\n") }
      for remedy in Set(status.blocked.compactMap(\.remedy)).sorted() { session.hint(remedy) }
      if let words = status.unsentTexts.unsentTextWords { session.note(words) }
    }
    if session.options.format != .json { for words in status.clocks.words { session.note(words) } }
  }

  private func lines(of status: SyncStatus, _ session: Session) -> [String] {
    let name = { (time: Timestamp?) in time.map(session.clock.relativeName) ?? "never" }
    let waiting = status.oldestPending.map { "\(status.pending.counted("change")), since \(name($0))" } ?? "nothing"
    let others = status.members.map { member in
      "\(status.members.label(of: member, besides: status.name).escapedForDisplay()), last change \(name(member.lastSeen))"
        + (member.behind > 0 ? ", \(member.behind.counted("segment")) not merged" : "")
        + (member.isRevoked ? ", revoked" : member.isFormer ? ", a former identity" : "")
    }
    return [
      "\(SyncPlace(status.place).isHub ? "Hub   " : "Folder")         \(status.place.escapedForDisplay())\(status.isStopped ? " (stopped)" : "")",
      "This device    \(status.name.escapedForDisplay())\(status.isRevoked ? " (revoked)" : "")",
      "Last sent      \(name(status.lastSent))",
      "Last received  \(name(status.lastReceived))", "Waiting        \(waiting)",
      "Conflicts      \(status.conflicts)",
    ]
      + (status.isRecoveryCodeOutdated
        ? ["Recovery code  outdated: 'tally sync recovery-code' shows the new one"] : [])
      + (status.refused.map { ["Refused        \($0.escapedForDisplay())"] } ?? [])
      + others.map { "Device         \($0)" } + status.blocked.map { $0.words(session.clock) }
  }
}
