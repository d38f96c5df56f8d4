import ArgumentParser
import Tally
import TallySync

/// `tally sync leave`.
struct SyncLeaveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave",
    abstract: "Leave the space; this store keeps all tasks.",
    usage: "tally sync leave [<options>]",
    discussion: "Changes that were not sent stay in this store only: synchronise first if others need them."
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let pending = try session.wait {
      let pending = try await sync.status().pending
      try await sync.leave()
      return pending
    }
    try session.answer(["left": .flag(true), "pending": .count(pending)], plain: .record(["left", "pending"])) {
      session.say("Left the space. This store keeps all tasks.")
      if pending > 0 { session.note("\(pending.counted("change")) had not been sent.") }
    }
  }
}
