import ArgumentParser
import Tally
import TallySync

/// `tally sync members`.
struct SyncMembersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "Show the devices of the space, this one first, or rename one.",
    usage: """
      tally sync members [<options>]
      tally sync members rename [<device>] <name> [<options>]
      """,
    discussion: """
      Behind its name, each has a handle, which distinguishes devices of one name, and six digits, which are the same on \
      every device. Compare those after a device has joined: if they differ, another device has taken its name. A store \
      that was copied or restored becomes a new device. Its former identity is marked; after a copy, the original goes on \
      with it, and takes the mark away.

      With --plain, a line has these columns: \(SyncStatus.Member.columns.joined(separator: ", ")).
      """,
    subcommands: withGlobalOptions([RenameMemberCommand.self])
  )

  private static func formerWords(_ member: SyncStatus.Member, _ members: [SyncStatus.Member]) -> String {
    guard let successor = member.successor, successor != members.first?.replica,
      let now = members.first(where: { $0.replica == successor })
    else { return "this store, before it was copied or restored" }
    return "a former identity of \(members.label(of: now).escapedForDisplay())"
  }

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
            ? Self.formerWords(member, members)
            : member.lastSeen.map(session.clock.relativeName) ?? "never"
        try session.output.write(
          "  \(name)  \(session.painter.paint("\(member.handle)  \(member.shownCode ?? "")  \(seen)  \(member.replica)", .detail))\n"
        )
      }
    }
  }
}
