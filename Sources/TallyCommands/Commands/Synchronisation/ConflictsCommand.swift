import ArgumentParser
import Tally
import TallySync

/// `tally conflicts`: alone it shows them.
struct ConflictsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Show values that lost a race between devices, restore or dismiss them.",
    usage: """
      tally conflicts [<options>]
      tally conflicts restore <number> | --all [<options>]
      tally conflicts dismiss <number> ... | --all [<options>]
      """,
    discussion: """
      Two devices wrote the same field, neither knowing of the other: the later value stays, the other one is kept here \
      for 90 days, or until somebody restores or dismisses it on any device.

      With --plain, a line has these columns: \(Conflict.columns.joined(separator: ", ")).
      """,
    subcommands: withGlobalOptions([RestoreConflictCommand.self, DismissConflictCommand.self])
  )

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let conflicts = try session.wait { try await StoreSync(store).conflicts() }
    try session.answer(
      ["conflicts": .array(conflicts.map(\.facts))], plain: .records([("conflicts", Conflict.columns)])
    ) {
      let ids = conflicts.map { "\($0.id)" }.numberColumn
      let members = try session.wait { try await StoreSync(store).members() }
      for (id, conflict) in zip(ids, conflicts) {
        let name = try store.read { transaction in
          try transaction.task(conflict.objectID)?.title ?? transaction.list(conflict.objectID)?.name
        }
        let lost = conflict.lost.isEmpty ? "(empty)" : conflict.lost.quotedForMessage
        try session.output.write(
          "  \(id)  \((name ?? "deleted").escapedForDisplay())  "
            + session.painter.paint(
              "\(conflict.field) was \(lost)\(Self.author(of: conflict, members)), "
                + session.clock.relativeName(of: conflict.lostAt), .detail) + "\n")
      }
      if !conflicts.isEmpty {
        session.hint(
          "To keep one: tally conflicts restore NUMBER. To forget it on every device: tally conflicts dismiss NUMBER")
      }
    }
    if conflicts.isEmpty { session.hint("Nothing has lost a race.") }
  }

  /// Which device wrote the value that lost.
  private static func author(of conflict: Conflict, _ members: [SyncStatus.Member]) -> String {
    guard let member = members.first(where: { $0.replica == conflict.lostReplica }) else { return "" }
    return " by \(members.label(of: member).escapedForDisplay())"
  }
}
