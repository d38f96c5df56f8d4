import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// `tally sync move PLACE`.
struct SyncMoveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Continue with the space in another folder or at a hub.",
    usage: """
      tally sync move <folder> [<options>]
      tally sync move <address> [--account-file <file>] [--hub-secret-file <file>] [--insecure] [<options>]
      tally sync move <invitation to a hub> [--insecure] [<options>]
      """,
    discussion: """
      For a folder that was renamed or moved, or another one: if the old one is still there, changes are exchanged with it \
      a last time, and what it has and the new one lacks is copied. This store stays the device that it is, and changes that \
      wait are sent to the new place. Each other device moves as well. At a hub, the first device creates the space with its \
      address, and invites the others; '-' reads the invitation from standard input. If only the address of the hub changes, \
      move each device with --same-hub.

      With --plain, a line has these columns: \(columns.joined(separator: ", ")).
      """
  )

  private static let columns = [
    "space", "replica", "at", "copied", "lacksOwnSegments", "exchanged", "notCopied",
  ]

  @Argument(help: ArgumentHelp("The folder, the address of a hub, or an invitation to one.", valueName: "folder"))
  var place: String

  @Option(help: ArgumentHelp("Use the account of a hub whose token is a file's first line.", valueName: "file"))
  var accountFile: String?

  @Option(help: ArgumentHelp("Create an account with the hub's secret in a file's first line.", valueName: "file"))
  var hubSecretFile: String?

  @Flag(help: "The address is a new address of the same hub; this device keeps its token.")
  var sameHub = false

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if sameHub, accountFile != nil || hubSecretFile != nil {
      throw ValidationError("Give --same-hub without an account: the hub knows this device.")
    }
    if accountFile != nil, hubSecretFile != nil {
      throw ValidationError("Give only one of --account-file and --hub-secret-file.")
    }
  }

  func run(in session: Session) throws {
    // The program that reaches hubs reads it by itself: it can be read once.
    if self.place == "-" { _ = try session.hubClient }
    let place = try self.place == "-" ? session.readLines().first?.text ?? "" : self.place
    try check(place)
    try insecure.check(place)
    // The old place may be a hub, too, which may have changes that this device lacks.
    let sync = try session.sync(session.openStore(for: .changing))
    let client = SyncPlace(place).isHub ? try session.hubClient : nil
    let account: HubAccountChoice
    if sameHub {
      account = .sameHub
    } else if let accountFile {
      account = .token(try session.secret("token of the account", inFile: accountFile))
    } else {
      account = .new(secret: try hubSecretFile.map { try session.secret("secret of the hub", inFile: $0) })
    }
    let move = try session.wait {
      guard let client else { return try await sync.move(to: FilePath(place)) }
      return try await client.move(sync, to: place, as: account)
    }
    let missing = move.changesMissing(after: session.synchroniseFirst(sync))
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
        session.note(
          "The new place lacks changes that this device had sent\(move.copied == nil ? ", and the old place could not be reached" : ""), so this device sends a snapshot of everything it has."
        )
      }
      for words in move.leftBehindWords { session.note(words) }
      if let failure = CommandFailure(incomplete: missing, session.clock) {
        session.note("\(failure.message). They arrive when those devices move.")
      }
      if let hint = hint(afterMoveTo: place) { session.hint(hint) }
    }
  }

  /// What the other devices have to do; `nil` if the device that invited this one knows.
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
    let hasAccount = sameHub || accountFile != nil || hubSecretFile != nil
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

  /// What may have stayed at the old place, as sentences for people.
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
