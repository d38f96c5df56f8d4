import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// `tally sync move PLACE`.
struct SyncMoveCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Go on with the space in another folder or at a hub.",
    usage: """
      tally sync move <folder> [<options>]
      tally sync move <address> [--account-file <file>] [--hub-secret-file <file>] [--insecure] [<options>]
      tally sync move <invitation to a hub> [--insecure] [<options>]
      """,
    discussion: """
      For a folder that was renamed or moved, or another one: what the old folder has and the new one lacks is copied if \
      the old one is still there. This store stays the device that it is, and changes that wait are sent to the new \
      place. Each other device moves as well. At a hub, the first device creates the space with its address, and invites \
      the others.

      With --plain, a line has these columns: space, replica, at, copied, lacksOwnSegments.
      """
  )

  @Argument(help: ArgumentHelp("The folder, the address of a hub, or an invitation to one.", valueName: "folder"))
  var place: String

  @Option(help: ArgumentHelp("Use the account of a hub whose token is a file's first line.", valueName: "file"))
  var accountFile: String?

  @Option(help: ArgumentHelp("Create an account with the hub's secret in a file's first line.", valueName: "file"))
  var hubSecretFile: String?

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if accountFile != nil, hubSecretFile != nil {
      throw ValidationError("Give only one of --account-file and --hub-secret-file.")
    }
  }

  func run(in session: Session) throws {
    guard !place.isEmpty else { throw CommandFailure.usage("The folder has no name", remedy: "Name a folder") }
    try insecure.check(place)
    let sync = StoreSync(try session.openStore(for: .changing), connector: session.invocation.hubClient)
    let client = SyncPlace(place).isHub ? try session.hubClient : nil
    let account: HubAccountChoice
    if let accountFile {
      account = .token(try session.secret("token of the account", inFile: accountFile))
    } else {
      account = .new(secret: try hubSecretFile.map { try session.secret("secret of the hub", inFile: $0) })
    }
    let move = try session.wait { [place] in
      guard let client else { return try await sync.move(to: FilePath(place)) }
      return try await client.move(sync, to: place, as: account)
    }
    session.synchroniseFirst(sync)
    let status = try session.wait { try await sync.status() }
    let facts: Facts = [
      "space": .text(status.space.description), "replica": .text(status.replica.description),
      "at": .text(move.place), "copied": .integer(move.copied.map { Int64($0) }),
      "lacksOwnSegments": .flag(move.lacksOwnSegments),
    ]
    try session.answer(facts, plain: .record(["space", "replica", "at", "copied", "lacksOwnSegments"])) {
      session.say("Moved to \(move.place.escapedForDisplay()).")
      if move.lacksOwnSegments {
        session.note(
          "It lacks what this device had sent\(move.copied == nil ? ", and the old place cannot be reached" : ""): all that this store has is sent as a snapshot."
        )
      }
      session.hint("Each other device that used the old place moves, too: tally sync move PLACE")
    }
  }
}
