import ArgumentParser
import Tally
import TallySync

/// `tally sync recovery-code`.
struct SyncRecoveryCodeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery-code",
    abstract: "Show the recovery code again: the key of the space, to be kept on paper.",
    usage: "tally sync recovery-code [<options>]",
    discussion: """
      Everyone who has it can read all tasks. After a device was revoked, the code is another one.

      With --plain, a line has this column: recoveryCode.
      """
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let code = try session.wait { try await sync.recoveryCode() }
    try session.answer(["recoveryCode": .text(code)], plain: .record(["recoveryCode"])) {
      try session.output.write(code + "\n")
    }
  }
}
