import ArgumentParser
import Tally
import TallySync

/// `tally sync invite`.
struct SyncInviteCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Print an invitation for another device.",
    usage: "tally sync invite [--valid <duration>] [--role owner|writer|reader] [<options>]",
    discussion: """
      Everyone who has it can read the tasks until the space gets a new key. It names the space, not the folder: \
      'join' takes that with --at. That of a hub names the hub, too, and is for one device.

      With --plain, a line has this column: invitation.
      """
  )

  @Option(help: ArgumentHelp("How long it can be used, 24h unless given.", valueName: "duration"))
  var valid: String?

  @Option(help: ArgumentHelp("What it may do at a hub: owner, writer (unless given) or reader.", valueName: "role"))
  var role: String?

  func validate() throws {
    if let role, InvitedRole(rawValue: role) == nil {
      throw ValidationError("The role is owner, writer or reader.")
    }
  }

  func run(in session: Session) throws {
    let end = try valid.map { try session.clock.instant($0, of: "--valid", bareDay: .end) }
    let seconds = end.map { ($0.microsecondsSince1970 - session.clock.now.microsecondsSince1970) / 1_000_000 } ?? 86_400
    guard seconds > 0 else {
      throw CommandFailure.usage("The invitation would already have expired", remedy: "Give a duration such as 2h")
    }
    let sync = try session.sync(session.openStore(for: .changing))
    let client = session.invocation.hubClient
    guard try role == nil || session.wait(for: { try await sync.place().isHub }) else {
      throw CommandFailure.usage("A folder has no roles", remedy: "Leave out --role")
    }
    let text = try session.wait { [role] in
      guard let client, try await sync.place().isHub else { return try await sync.invite(for: .seconds(seconds)) }
      return try await client.invite(sync, as: role.flatMap(InvitedRole.init) ?? .writer, validInSeconds: seconds)
    }
    try session.answer(["invitation": .text(text)], plain: .record(["invitation"])) {
      try session.output.write(text + "\n")
    }
  }
}

/// `tally sync recovery-code`.
struct SyncRecoveryCodeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery-code",
    abstract: "Show the recovery code again: the key of the space, to be kept on paper.",
    usage: "tally sync recovery-code [<options>]",
    discussion: """
      Everyone who has it can read all tasks. After a device was revoked, the code is another one.

      With --plain, a line has this column: recoveryCode.
      """
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let code = try session.wait { try await sync.recoveryCode() }
    try session.answer(["recoveryCode": .text(code)], plain: .record(["recoveryCode"])) {
      try session.output.write(code + "\n")
    }
  }
}
