import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// `tally sync join`.
struct SyncJoinCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join the space of another device.",
    usage: """
      tally sync join <invitation> --at <folder> [--name <device>] [<options>]
      tally sync join <invitation to a hub> [--insecure] [--name <device>] [<options>]
      tally sync join <recovery code> --at <address> [--insecure] [--name <device>] [<options>]
      tally sync join --at <folder> --passphrase-file <file> [--name <device>] [<options>]
      """,
    discussion: """
      Takes an invitation or the recovery code; '-' reads it from standard input. Tasks that this store has are added to those of the space. \
      With the recovery code and the address of a hub, this device becomes an owner of the space there: revoke the lost one next.
      Ends with status 75 if changes of other devices are known to exist and have not arrived; this device has joined all the same.

      With --plain, a line has these columns: space, replica.
      """
  )

  @Argument(help: ArgumentHelp("The invitation or the recovery code.", valueName: "invitation"))
  var invitation: String?

  @Option(
    help: ArgumentHelp("The folder on this device, or with a recovery code the address of a hub.", valueName: "folder"))
  var at: String?

  @Option(help: ArgumentHelp("Join with the passphrase in a file's first line.", valueName: "file"))
  var passphraseFile: String?

  @Option(help: ArgumentHelp("The name of this device.", valueName: "device"))
  var name: String?

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if at == nil, invitation.map({ $0 == "-" || SyncPlace($0).isHub }) != true {
      throw ValidationError("Name the folder with --at, or with a recovery code the address of the hub.")
    }
    if invitation == nil, passphraseFile == nil {
      throw ValidationError("Give an invitation, or a passphrase with --passphrase-file.")
    }
  }

  /// The invitation from standard input.
  private func readInvitation(_ session: Session) throws -> String {
    // The program that reaches hubs reads it by itself: it can be read once.
    if at == nil { _ = try session.hubClient }
    let text = try session.readLines().first?.text ?? ""
    guard SyncPlace(text).isHub == (at == nil) else {
      throw at == nil
        ? CommandFailure.usage("The invitation is for a folder, not for a hub", remedy: "Name the folder with --at")
        : CommandFailure.usage("The invitation is for a hub, not for a folder", remedy: "Leave out --at")
    }
    return text
  }

  func run(in session: Session) throws {
    let hub = at.flatMap { SyncPlace($0).isHub ? $0 : nil }
    if hub != nil { _ = try session.hubClient }
    let invitation = try invitation == "-" ? readInvitation(session) : invitation
    try [invitation, hub].compactMap { $0 }.forEach(insecure.check)
    guard hub == nil || passphraseFile == nil else {
      throw CommandFailure.usage("A hub takes no passphrase", remedy: "Join with the recovery code or an invitation")
    }
    let passphrase = try passphraseFile.map(session.passphrase(inFile:))
    let folder = FilePath(at ?? "")
    let (status, code, report) = try session.withStoreForAdding { store, _ in
      let sync = StoreSync(store, connector: session.invocation.hubClient)
      let client = try hub != nil || invitation.map { SyncPlace($0).isHub } == true ? session.hubClient : nil
      try session.wait { [name] in
        if let client, let hub, let invitation {
          try await client.restore(sync, at: hub, by: invitation, deviceName: name ?? Session.deviceName)
        } else if let client, let invitation {
          try await client.join(sync, by: invitation, deviceName: name ?? Session.deviceName)
        } else if let invitation {
          try await sync.join(invitation, in: folder, deviceName: name ?? Session.deviceName)
        } else if let passphrase {
          try await sync.join(passphrase: passphrase, in: folder, deviceName: name ?? Session.deviceName)
        }
      }
      let report = session.synchroniseFirst(sync)
      return try session.wait { (try await sync.status(), try await sync.members().first?.shownCode, report) }
    }
    try session.answer(
      ["space": .text(status.space.description), "replica": .text(status.replica.description)],
      plain: .record(["space", "replica"])
    ) {
      session.say(hub == nil ? "Joined the space." : "Joined the space. This device is an owner of it.")
      if hub != nil {
        session.hint("Revoke the lost device: find it with 'tally sync members', then run 'tally sync revoke DEVICE'.")
      }
      if let code { session.hint("Check that 'tally sync members' on another device shows \(code) for this one.") }
    }
    if let report, session.options.format != .json { session.sayWhatNeedsAttention(after: report) }
    if let report, let failure = CommandFailure(incomplete: report.incomplete, session.clock) { throw failure }
  }
}
