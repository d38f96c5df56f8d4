import ArgumentParser
import Tally
import TallySync

/// `tally conflicts restore ID`.
struct RestoreConflictCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Write a value that lost a race again.",
    usage: "tally conflicts restore <id> [<options>]"
  )

  @Argument(help: ArgumentHelp("The number of the conflict.", valueName: "id"))
  var id: UInt64

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let conflict = try session.wait { [id] in try await StoreSync(store).restoreConflict(id) }
    try session.answer(["conflict": conflict.facts], plain: .records([("conflict", Conflict.columns)])) {
      session.say("Restored the \(conflict.field).")
    }
  }
}
