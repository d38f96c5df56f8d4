import ArgumentParser
import Tally
import TallySync

/// `tally conflicts`: alone it shows them.
struct ConflictsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Show values that lost a race between devices, or restore them.",
    usage: """
      tally conflicts [<options>]
      tally conflicts restore <id> [<options>]
      """,
    discussion: """
      Two devices wrote the same field, neither knowing of the other: the later value stays, the other one is kept here \
      for 90 days.

      With --plain, a line has these columns: \(Conflict.columns.joined(separator: ", ")).
      """,
    subcommands: withGlobalOptions([RestoreConflictCommand.self])
  )

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let conflicts = try session.wait { try await StoreSync(store).conflicts() }
    try session.answer(
      ["conflicts": .array(conflicts.map(\.facts))], plain: .records([("conflicts", Conflict.columns)])
    ) {
      let ids = conflicts.map { "\($0.id)" }.numberColumn
      for (id, conflict) in zip(ids, conflicts) {
        let name = try store.read { transaction in
          try transaction.task(conflict.objectID)?.title ?? transaction.list(conflict.objectID)?.name
        }
        let lost = conflict.lost.isEmpty ? "(empty)" : conflict.lost.quotedForMessage
        try session.output.write(
          "  \(id)  \((name ?? "deleted").escapedForDisplay())  "
            + session.painter.paint("\(conflict.field) was \(lost)", .detail) + "\n")
      }
    }
    if conflicts.isEmpty { session.hint("Nothing has lost a race.") }
  }
}

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
