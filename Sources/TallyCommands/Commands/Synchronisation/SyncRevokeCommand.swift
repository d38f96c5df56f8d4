import ArgumentParser
import Tally
import TallySync

/// `tally sync revoke`.
struct SyncRevokeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke a device and give the space a new key.",
    usage: "tally sync revoke <device> [--passphrase-file <file>] [<options>]",
    discussion: """
      What the device has sent stays; nothing that it writes afterwards is taken. Other devices get a new key by themselves, \
      and what they write with it the device cannot read; it keeps its tasks. Invitations and recovery codes from before are \
      worthless. A hub refuses the device, too; only an owner of the space may do this there. In a folder that it still \
      reaches, a device can delete files: take the folder from it. Former identities of the device go with it, as it has \
      their keys, too, unless they have written something since.

      With --plain, a line has these columns: revoked, recoveryCode.
      """
  )

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
        session.note(
          "\(former == 1 ? "A former identity of it was" : "\(former) former identities of it were") revoked, too.")
      }
      for replica in revoked?.doubtfulReplicas ?? [] {
        let name = members.first { $0.replica == replica }.map { members.label(of: $0) } ?? "\(replica)"
        session.note(
          "The device \(name.quotedForMessage) is marked as a former identity of it, but may be in use: it was not revoked."
        )
      }
      if revoked != nil {
        session.hint("Keep the new recovery code on paper. The old one does not open anything written from now on.")
      }
      if revoked?.isPassphraseDeleted == true {
        session.note("Nobody can join with the passphrase any more. To allow it, revoke again with --passphrase-file.")
      }
    }
  }
}
