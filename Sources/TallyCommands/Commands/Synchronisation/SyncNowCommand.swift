import ArgumentParser
import Tally
import TallySync

/// `tally sync now`.
struct SyncNowCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "now",
    abstract: "Send and fetch changes until nothing is left.",
    usage: "tally sync now [<options>]",
    discussion: """
      Ends with status 75 if the folder or hub cannot be reached or refuses: nothing is lost, and changes wait. So it does \
      while changes of another device are known to exist and have not arrived: the rest has been exchanged.

      With --plain, a line has these columns: \(SyncReport.columns.joined(separator: ", ")).
      """
  )

  func run(in session: Session) throws {
    let sync = try session.sync(session.openStore(for: .changing))
    let report = try session.wait { try await sync.synchronise() }
    try session.answer(report.facts, plain: .record(SyncReport.columns)) {
      session.say(report.words)
      for blocked in report.blocked where !blocked.isIncomplete {
        session.note(([blocked.words(session.clock)] + [blocked.remedy].compactMap(\.self)).joined(separator: " "))
      }
      if let words = report.unsentTexts.unsentTextWords { session.note(words) }
      if report.isMassDeletion {
        let trash = try session.wait { try await sync.trash() }
        if let words = report.massDeletionWords(restorableFrom: trash) { session.note(words) }
      }
      if report.conflicts > 0 {
        session.hint(
          "There \(report.conflicts == 1 ? "is" : "are") \(report.conflicts.counted("conflict")). To see, restore or dismiss: tally conflicts"
        )
      }
    }
    if session.options.format != .json { session.sayWhatNeedsAttention(after: report) }
    if let failure = CommandFailure(incomplete: report.incomplete, session.clock) { throw failure }
  }
}
