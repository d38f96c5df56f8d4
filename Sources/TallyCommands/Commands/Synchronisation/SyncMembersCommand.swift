import ArgumentParser
import Tally
import TallySync

/// `tally sync members`.
struct SyncMembersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "Show the devices of the space, this one first.",
    usage: "tally sync members [<options>]",
    discussion: """
      Each has six digits, which are the same on every device. Compare them after a device has joined: if they differ, \
      another device has taken its name. A store that was copied or restored becomes a new device. Its former identity is \
      marked; after a copy, the original still uses it.

      With --plain, a line has these columns: \(SyncStatus.Member.columns.joined(separator: ", ")).
      """
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let members = try session.wait { try await sync.members() }
    try session.answer(
      ["replicas": .array(members.map(\.factsWithCode))], plain: .records([("replicas", SyncStatus.Member.columns)])
    ) {
      for member in members {
        let name = (member.name ?? "unknown").escapedForDisplay()
        let seen =
          member.isRevoked
          ? "revoked"
          : member.isFormer
            ? "this store, before it was copied or restored"
            : member.lastSeen.map(session.clock.relativeName) ?? "never"
        try session.output.write(
          "  \(name)  \(session.painter.paint("\(member.shownCode ?? "")  \(seen)  \(member.replica)", .detail))\n")
      }
    }
  }
}
