import ArgumentParser
import Tally
import TallySync

/// `tally sync stop`.
struct SyncStopCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "Stop synchronising until the next 'tally sync now'; changes wait.",
    usage: "tally sync stop [<options>]"
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    try session.wait { try await sync.stop() }
    try session.answer(["stopped": .flag(true)], plain: .record(["stopped"])) {
      session.say("Stopped. Changes wait until you run 'tally sync now'.")
    }
  }
}
