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
