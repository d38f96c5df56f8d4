import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem

/// The account of a hub, for commands that may create a space there.
struct HubAccountOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Use the account of a hub whose token is a file's first line.", valueName: "file"))
  var accountFile: String?

  @Option(help: ArgumentHelp("Create an account with the hub's secret in a file's first line.", valueName: "file"))
  var hubSecretFile: String?

  var areGiven: Bool { accountFile != nil || hubSecretFile != nil }

  /// Refuses two accounts; the commands call it after their own checks.
  func check() throws {
    if accountFile != nil, hubSecretFile != nil {
      throw ValidationError("Give only one of --account-file and --hub-secret-file.")
    }
  }

  func choice(_ session: Session) throws -> HubAccountChoice {
    if let accountFile { return .token(try session.secret("token of the account", inFile: accountFile)) }
    return .new(secret: try hubSecretFile.map { try session.secret("secret of the hub", inFile: $0) })
  }
}

/// `tally sync setup`.
struct SyncSetupCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync setup", "Create a space in a folder or at a hub, with all that this store has.",
    usage: """
      <folder> [--passphrase-file <file>] [--no-encryption] [--name <device>]
      <address> [--account-file <file>] [--hub-secret-file <file>] [--insecure] [--no-encryption] [--name <device>]
      """,
    discussion: """
      Prints an invitation, with which another device joins within a day, and a recovery code. Both open all tasks: give \
      the invitation only to yourself, and keep the code on paper. At a hub this device is the owner, who alone invites and \
      revokes. The code makes another device an owner when this one is lost; a second owner needs no code.

      With --plain, a line has these columns: space, replica, invitation, recoveryCode.
      """)

  @Argument(help: ArgumentHelp("A folder that all devices share, or the address of a hub.", valueName: "folder"))
  var folder: String

  @Option(help: ArgumentHelp("Let devices join with the passphrase in a file's first line.", valueName: "file"))
  var passphraseFile: String?

  @OptionGroup var account: HubAccountOptions

  @Flag(help: "Do not encrypt: everyone who sees the folder can read the tasks.")
  var noEncryption = false

  @Option(help: ArgumentHelp("The name of this device.", valueName: "device"))
  var name: String?

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if noEncryption, passphraseFile != nil {
      throw ValidationError("Give only one of --passphrase-file and --no-encryption.")
    }
    try account.check()
  }

  func run(in session: Session) throws {
    let isHub = SyncPlace(folder).isHub
    guard isHub || !folder.contains("://") else {
      throw CommandFailure.usage(
        "The address is not that of a hub", remedy: "Give a folder, or an address that begins with https://")
    }
    guard !isHub || passphraseFile == nil else {
      throw CommandFailure.usage(
        "A hub takes no passphrase", remedy: "Leave out --passphrase-file; other devices join with an invitation")
    }
    try insecure.check(folder)
    let account = try account.choice(session)
    let client = isHub ? try session.hubClient : nil
    guard !folder.isEmpty else { throw CommandFailure.usage("The folder has no name", remedy: "Name a folder") }
    let passphrase = try passphraseFile.map(session.passphrase(inFile:))
    let setup = try session.withStoreForAdding { store, _ in
      let setup = try session.wait { [folder, name, noEncryption] in
        let (sync, deviceName) = (StoreSync(store, connector: client), name ?? Session.deviceName)
        if let client {
          return try await client.setUp(
            sync, at: folder, as: account, deviceName: deviceName, isEncrypted: !noEncryption)
        }
        return try await sync.setUp(
          in: FilePath(folder), deviceName: deviceName, isEncrypted: !noEncryption, passphrase: passphrase)
      }
      session.synchronizeFirst(StoreSync(store, connector: client))
      return setup
    }
    let facts: Facts = [
      "space": .text(setup.space.description), "replica": .text(setup.replica.description),
      "invitation": .text(setup.invitation), "recoveryCode": .text(setup.recoveryCode),
    ]
    try session.answer(facts, plain: .record(["space", "replica", "invitation", "recoveryCode"])) {
      try session.output.write("Invitation: \(setup.invitation)\n")
      if let code = setup.recoveryCode { try session.output.write("Recovery code: \(code)\n") }
      session.say("Created a space. On another device: tally sync join INVITATION\(isHub ? "" : " --at FOLDER")")
      guard isHub else { return }
      session.hint(
        "Make a second device an owner, in case you lose this one: after it has joined, run 'tally sync role DEVICE owner'."
      )
    }
  }
}

/// `tally sync invite`.
struct SyncInviteCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync invite", "Print an invitation for another device.",
    usage: "[--valid <duration>] [--role owner|writer|reader]",
    discussion: """
      Everyone who has it can read the tasks until the space gets a new key. It names the space, not the folder: \
      'join' takes that with --at. That of a hub names the hub, too, and is for one device.

      With --plain, a line has this column: invitation.
      """)

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
    try session.answer("invitation", text)
  }
}

/// `tally sync recovery-code`.
struct SyncRecoveryCodeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync recovery-code", "Show the recovery code again: the key of the space, to be kept on paper.",
    discussion: """
      Everyone who has it can read all tasks. After a device was revoked, the code is another one.

      With --plain, a line has this column: recoveryCode.
      """)

  func run(in session: Session) throws {
    let code = try session.inSpace { try await $0.recoveryCode() }
    try session.answer("recoveryCode", code)
  }
}

/// `tally sync join`.
struct SyncJoinCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync join", "Join the space of another device.",
    usage: """
      <invitation> --at <folder> [--name <device>]
      <invitation to a hub> [--insecure] [--name <device>]
      <recovery code> --at <address> [--insecure] [--name <device>]
      --at <folder> --passphrase-file <file> [--name <device>]
      """,
    discussion: """
      Takes an invitation or the recovery code; '-' reads it from standard input. Tasks that this store has are added to those of the space. \
      With the recovery code and the address of a hub, this device becomes an owner of the space there: revoke the lost one next.
      Ends with status 75 if changes of other devices are known to exist and have not arrived; this device has joined all the same.

      With --plain, a line has these columns: space, replica.
      """)

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
    // Standard input can be read once only, so the program that reaches hubs must be the one that reads it.
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
      try session.wait { [name = name ?? Session.deviceName] in
        if let client, let hub, let invitation {
          try await client.restore(sync, at: hub, by: invitation, deviceName: name)
        } else if let client, let invitation {
          try await client.join(sync, by: invitation, deviceName: name)
        } else if let invitation {
          try await sync.join(invitation, in: folder, deviceName: name)
        } else if let passphrase {
          try await sync.join(passphrase: passphrase, in: folder, deviceName: name)
        }
      }
      let report = session.synchronizeFirst(sync)
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
    if let report, session.options.format != .json { session.printWarnings(after: report) }
    if let report, let failure = CommandFailure(incomplete: report.incomplete, session.clock) { throw failure }
  }
}

/// `tally sync move PLACE`.
struct SyncMoveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync move", "Continue with the space in another folder or at a hub.",
    usage: """
      <folder>
      <address> [--account-file <file>] [--hub-secret-file <file>] [--insecure]
      <invitation to a hub> [--insecure]
      """,
    discussion: """
      For a folder that was renamed or moved, or another one: if the old one is still there, changes are exchanged with it \
      a last time, and what it has and the new one lacks is copied. This store stays the device that it is, and changes that \
      wait are sent to the new place. Each other device moves as well. At a hub, the first device creates the space with its \
      address, and invites the others; '-' reads the invitation from standard input. If only the address of the hub changes, \
      move each device with --same-hub.

      With --plain, a line has these columns: \(columns.joined(separator: ", ")).
      """)

  private static let columns = [
    "space", "replica", "at", "copied", "lacksOwnSegments", "exchanged", "notCopied",
  ]

  @Argument(help: ArgumentHelp("The folder, the address of a hub, or an invitation to one.", valueName: "folder"))
  var place: String

  @OptionGroup var account: HubAccountOptions

  @Flag(help: "The address is a new address of the same hub; this device keeps its token.")
  var sameHub = false

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if sameHub, account.areGiven {
      throw ValidationError("Give --same-hub without an account: the hub knows this device.")
    }
    try account.check()
  }

  func run(in session: Session) throws {
    // Standard input can be read once only, so the program that reaches hubs must be the one that reads it.
    if self.place == "-" { _ = try session.hubClient }
    let place = try self.place == "-" ? session.readLines().first?.text ?? "" : self.place
    try check(place)
    try insecure.check(place)
    // The old place may be a hub, too, which may have changes that this device lacks.
    let sync = try session.sync(session.openStore(for: .changing))
    let client = SyncPlace(place).isHub ? try session.hubClient : nil
    let account = sameHub ? .sameHub : try account.choice(session)
    let move = try session.wait {
      guard let client else { return try await sync.move(to: FilePath(place)) }
      return try await client.move(sync, to: place, as: account)
    }
    let missing = move.changesMissing(after: session.synchronizeFirst(sync))
    let status = try session.wait { try await sync.status() }
    let facts: Facts = [
      "space": .text(status.space.description), "replica": .text(status.replica.description),
      "at": .text(move.place), "copied": .integer(move.copied.map { Int64($0) }),
      "lacksOwnSegments": .flag(move.lacksOwnSegments), "exchanged": .flag(move.hasExchanged),
      "notCopied": .count(move.notCopied), .init("blocked", onlyIn: .json): .array(missing.map(\.facts)),
    ]
    try session.answer(facts, plain: .record(Self.columns)) {
      session.say("Moved to \(move.place.escapedForDisplay()).")
      if move.lacksOwnSegments {
        session.report(
          "The new place lacks changes that this device had sent\(move.copied == nil ? ", and the old place could not be reached" : ""), so this device sends a snapshot of everything it has."
        )
      }
      for words in move.leftBehindWords { session.report(words) }
      if let failure = CommandFailure(incomplete: missing, session.clock) {
        session.report("\(failure.message). They arrive when those devices move.")
      }
      if let hint = hint(afterMoveTo: place) { session.hint(hint) }
    }
  }

  /// The next step on the other devices; `nil` if the device that invited this one has shown it.
  private func hint(afterMoveTo place: String) -> String? {
    guard SyncPlace(place).isHub else {
      return "Move each other device that used the old place: tally sync move PLACE"
    }
    if sameHub { return "On each other device, run 'tally sync move ADDRESS --same-hub'." }
    if place.contains("#") { return nil }
    return "Invite each other device that used the old place with 'tally sync invite', and run "
      + "'tally sync move INVITATION' there."
  }

  private func check(_ place: String) throws {
    let remedy = "Name a folder, the address of a hub, or an invitation to a hub"
    guard !place.isEmpty else { throw CommandFailure.usage("The folder has no name", remedy: remedy) }
    guard !place.hasPrefix("tally-invite-"), !place.hasPrefix("tally-recovery-") else {
      throw CommandFailure.usage("An invitation to a folder or a recovery code is not a place", remedy: remedy)
    }
    if let type = try? FilePath(place).stat().type, type != .directory {
      throw CommandFailure.usage("\(place.quotedForMessage) is not a folder", remedy: remedy)
    }
    let hasAccount = sameHub || account.areGiven
    guard !hasAccount || !SyncPlace(place).isHub || !place.contains("#") else {
      throw CommandFailure.usage(
        "An invitation needs neither an account nor --same-hub", remedy: "Give the invitation alone")
    }
    guard !sameHub || SyncPlace(place).isHub else {
      throw CommandFailure.usage("--same-hub needs the address of a hub", remedy: "Give its new address")
    }
  }
}

extension PlaceMove {
  /// The devices whose changes are known to exist and are not at the new place, as far as this store knows after an exchange.
  fileprivate func changesMissing(after report: SyncReport?) -> [BlockedReplica] {
    guard let report else { return incomplete }
    // A file that was not copied, or that a hub does not have, is unknown at the new place.
    guard SyncPlace(place).isHub || notCopied > 0 else { return report.incomplete }
    let found = Set(report.incomplete.map(\.replica))
    return report.incomplete + incomplete.filter { !found.contains($0.replica) }
  }

  /// Sentences about changes that may have stayed at the old place.
  fileprivate var leftBehindWords: [String] {
    var words: [String] = []
    if !hasExchanged {
      words.append(
        "The old place could not be reached or read. Changes that are only there arrive when the devices that made them move."
      )
    }
    if notCopied > 0 {
      words.append(
        "\(notCopied.counted("file")) of the old place could not be read, so the new place lacks what is in \(notCopied == 1 ? "it" : "them"). It arrives when the devices that wrote it move."
      )
    }
    return words
  }
}

/// `tally sync leave`.
struct SyncLeaveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "sync leave", "Leave the space; this store keeps all tasks.",
    discussion: "Changes that were not sent stay in this store only: synchronise first if others need them.")

  func run(in session: Session) throws {
    let pending = try session.inSpace { sync in
      let pending = try await sync.status().pending
      try await sync.leave()
      return pending
    }
    try session.answer(["left": .flag(true), "pending": .count(pending)], plain: .record(["left", "pending"])) {
      session.say("Left the space. This store keeps all tasks.")
      if pending > 0 { session.report("\(pending.counted("change")) had not been sent.") }
    }
  }
}
