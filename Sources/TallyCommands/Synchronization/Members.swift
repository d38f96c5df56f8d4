import ArgumentParser
import Tally
import TallySync

/// `tally sync members`.
struct SyncMembersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync members", "Show the devices of the space, this one first, or rename one.",
    usage: """

      rename [<device>] <name>
      """,
    discussion: """
      Behind its name, each has a handle, which distinguishes devices of one name, and six digits, which are the same on \
      every device. Compare those after a device has joined: if they differ, another device has taken its name. A store \
      that was copied or restored becomes a new device. Its former identity is marked; after a copy, the original goes on \
      with it, and takes the mark away.

      With --plain, a line has these columns: \(SyncStatus.Member.columns.joined(separator: ", ")).
      """,
    subcommands: [RenameMemberCommand.self])

  private static func formerWords(_ member: SyncStatus.Member, _ members: [SyncStatus.Member]) -> String {
    guard let successor = member.successor, successor != members.first?.replica,
      let now = members.first(where: { $0.replica == successor })
    else { return "a former identity of this store" }
    return "a former identity of \(members.label(of: now).escapedForDisplay())"
  }

  func run(in session: Session) throws {
    let members = try session.inSpace { try await $0.members() }
    try session.answer("replicas", members.map(\.factsWithCode), columns: SyncStatus.Member.columns) {
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

/// `tally sync members rename [DEVICE] NAME`.
struct RenameMemberCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "sync members rename", "Give a device another name, on every device.",
    usage: """
      <device> <name>
      <name>
      """,
    discussion: """
      With a name alone, this device is renamed. If two devices rename the same device at the same time, the later name \
      counts.

      With --plain, a line has these columns: replica, name.
      """)

  @Argument(
    help: ArgumentHelp(
      "The device's name, handle or replica. A single word renames this device.", valueName: "device"))
  var device: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new"))
  var name: String?

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let members = try session.wait { try await sync.members() }
    let member = name == nil ? members[0] : try members.member(named: device)
    let new = name ?? device
    let renamed = try session.wait {
      try await sync.renameMember(member.replica, to: new)
      return try await sync.members().first { $0.replica == member.replica }
    }
    try session.answer(
      ["replica": .text(member.replica.description), "name": .text(renamed?.name ?? new)],
      plain: .record(["replica", "name"])
    ) {
      let old = member.name.map { " \($0.quotedForMessage)" } ?? ""
      session.say("Renamed the device\(old) to \((renamed?.name ?? new).quotedForMessage).")
      let hasTwin = members.contains { $0.replica != member.replica && $0.name == renamed?.name && !$0.isFormer }
      if hasTwin { session.report("Another device has the same name; name one of them by its handle from then on.") }
    }
  }
}

/// `tally sync role`.
struct SyncRoleCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync role", "Change what another device may do at the hub.", usage: "<device> owner|writer|reader",
    discussion: """
      An owner reads, writes, invites and revokes; a writer reads and writes; a reader only reads. Only an owner can change \
      the role of another device. With two owners, the space keeps one if the other is lost.

      With --plain, a line has these columns: replica, role.
      """)

  @Argument(
    help: ArgumentHelp("The device's name, handle or replica, as 'tally sync members' shows it.", valueName: "device"))
  var device: String

  @Argument(help: ArgumentHelp("What it may do: owner, writer or reader.", valueName: "role"))
  var role: String

  func validate() throws {
    guard InvitedRole(rawValue: role) != nil else { throw ValidationError("The role is owner, writer or reader.") }
  }

  func run(in session: Session) throws {
    let sync = try session.sync(session.openStore(for: .changing))
    guard let role = InvitedRole(rawValue: role), try session.wait(for: { try await sync.place().isHub }) else {
      throw CommandFailure.usage("A folder has no roles", remedy: "Only a hub knows who may do what")
    }
    let client = try session.hubClient
    let replica = try session.wait(for: { try await sync.members() }).member(named: device).replica
    try session.wait { try await client.setRole(role, of: replica, sync) }
    try session.answer(
      ["replica": .text("\(replica)"), "role": .text(role.rawValue)], plain: .record(["replica", "role"])
    ) { session.say("The device is \(role == .owner ? "an owner" : "a \(role.rawValue)") now.") }
  }
}

/// `tally sync revoke`.
struct SyncRevokeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync revoke", "Revoke a device and give the space a new key.", usage: "<device> [--passphrase-file <file>]",
    discussion: """
      What the device has sent stays; nothing that it writes afterwards is taken. Other devices get a new key by themselves, \
      and what they write with it the device cannot read; it keeps its tasks. Invitations and recovery codes from before are \
      worthless. A hub refuses the device, too; only an owner of the space may do this there. In a folder that it still \
      reaches, a device can delete files: take the folder from it. Former identities of the device go with it, as it has \
      their keys, too, unless they have written something since.

      With --plain, a line has these columns: revoked, recoveryCode.
      """)

  @Argument(
    help: ArgumentHelp("The device's name, handle or replica, as 'tally sync members' shows it.", valueName: "device"))
  var device: String

  @Option(
    help: ArgumentHelp(
      "Let devices join with the passphrase in a file's first line; without this option, nobody can join with a passphrase any more.",
      valueName: "file"))
  var passphraseFile: String?

  private func facts(of replica: ReplicaID, _ revoked: RevokedReplica?) -> Facts {
    var facts: Facts = ["revoked": .text("\(replica)"), "recoveryCode": .text(revoked?.recoveryCode)]
    if let former = revoked?.formerReplicas, !former.isEmpty {
      facts = facts.adding(["formerIdentities": .array(former.map { .text("\($0)") })])
    }
    if let doubtful = revoked?.doubtfulReplicas, !doubtful.isEmpty {
      facts = facts.adding(["doubtfulIdentities": .array(doubtful.map { .text("\($0)") })])
    }
    return facts
  }

  func run(in session: Session) throws {
    let passphrase = try passphraseFile.map(session.passphrase(inFile:))
    let sync = try session.sync(session.openStore(for: .changing))
    let members = try session.wait { try await sync.members() }
    let member = try members.member(named: device)
    guard member.replica != members.first?.replica else {
      throw CommandFailure.usage(
        "A device cannot revoke itself",
        remedy: "Leave the space with 'tally sync leave', or revoke this device on another one")
    }
    let replica = member.replica
    let isHub = try session.wait { try await sync.place().isHub }
    guard !isHub || passphrase == nil else {
      throw CommandFailure.usage(
        "A hub takes no passphrase", remedy: "Leave out --passphrase-file; other devices join with an invitation")
    }
    let client = isHub ? try session.hubClient : nil
    let revoked = try session.wait { () -> RevokedReplica? in
      if let client { try await client.revoke(replica, sync) }
      do {
        return try await sync.revoke(replica, passphrase: passphrase)
      } catch let error as TallyError where client != nil && error.code == .spaceNotEncrypted {
        // The hub shuts it out; the space has no key that could change.
        return nil
      }
    }
    try session.answer(
      facts(of: replica, revoked),
      plain: .record(["revoked", "recoveryCode"])
    ) {
      if let code = revoked?.recoveryCode { try session.output.write("Recovery code: \(code)\n") }
      let name = members.label(of: member).quotedForMessage
      session.say("Revoked the device \(name). What it writes from now on is ignored.")
      if let former = revoked?.formerReplicas.count, former > 0 {
        session.report(
          "\(former == 1 ? "A former identity of it was" : "\(former) former identities of it were") revoked, too.")
      }
      for replica in revoked?.doubtfulReplicas ?? [] {
        let name = members.first { $0.replica == replica }.map { members.label(of: $0) } ?? "\(replica)"
        session.report(
          "The device \(name.quotedForMessage) is marked as a former identity of it, but may be in use: it was not revoked."
        )
      }
      if revoked != nil {
        session.hint("Keep the new recovery code on paper. The old one does not open anything written from now on.")
      }
      if revoked?.isPassphraseDeleted == true {
        session.report(
          "Nobody can join with the passphrase any more. To allow it, revoke again with --passphrase-file.")
      }
    }
  }
}
