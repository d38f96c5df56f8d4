import ArgumentParser
import Tally
import TallySync

/// `tally conflicts restore NUMBER`.
struct RestoreConflictCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Write a value that lost a race again, or all of them.",
    usage: """
      tally conflicts restore <number> [<options>]
      tally conflicts restore --all [<options>]
      """,
    discussion: """
      The other devices forget the value, too. With --all, of several values of one field the last one is written; the \
      others stay, and so do those of deleted tasks and those that this store refuses.
      """
  )

  @Argument(help: ArgumentHelp("The number of the conflict.", valueName: "number"))
  var id: UInt64?

  @Flag(help: "Restore all of them, in one change.")
  var all = false

  func validate() throws {
    if (id == nil) != all { throw ValidationError("Give the number of a conflict, or --all.") }
  }

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    guard let id else { return try restoreAll(sync, session) }
    let conflict = try session.wait { try await sync.restoreConflict(id) }
    try session.answer(["conflict": conflict.facts], plain: .records([("conflict", Conflict.columns)])) {
      session.say("Restored the \(conflict.field).")
    }
  }

  private func restoreAll(_ sync: StoreSync, _ session: Session) throws {
    let (restored, kept) = try session.wait {
      (try await sync.restoreAllConflicts(), try await sync.conflicts())
    }
    try session.answer(
      ["restored": .array(restored.map(\.facts)), "kept": .array(kept.map(\.facts))],
      plain: .records([("restored", Conflict.columns)])
    ) {
      session.say(restored.isEmpty ? "Nothing was restored." : "Restored \(restored.count.counted("value")).")
      if !kept.isEmpty {
        session.note(
          "\(kept.count.counted("value")) stayed: of deleted tasks, refused by this store (tally conflicts restore NUMBER says why), or earlier than another value of the same field."
        )
      }
    }
  }
}
