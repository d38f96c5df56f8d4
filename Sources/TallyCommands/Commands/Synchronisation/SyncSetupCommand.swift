import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem

/// `tally sync setup`.
struct SyncSetupCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Create a space in a folder or at a hub, with all that this store has.",
    usage: """
      tally sync setup <folder> [--passphrase-file <file>] [--no-encryption] [--name <device>] [<options>]
      tally sync setup <address> [--account-file <file>] [--hub-secret-file <file>] [--insecure] [--no-encryption] \
      [--name <device>] [<options>]
      """,
    discussion: """
      Prints an invitation, with which another device joins within a day, and a recovery code. Both open all tasks: give \
      the invitation only to yourself, and keep the code on paper. At a hub this device is the owner, who alone invites and \
      revokes. The code makes another device an owner when this one is lost; a second owner needs no code.

      With --plain, a line has these columns: space, replica, invitation, recoveryCode.
      """
  )

  @Argument(help: ArgumentHelp("A folder that all devices share, or the address of a hub.", valueName: "folder"))
  var folder: String

  @Option(help: ArgumentHelp("Let devices join with the passphrase in a file's first line.", valueName: "file"))
  var passphraseFile: String?

  @Option(help: ArgumentHelp("Use the account of a hub whose token is a file's first line.", valueName: "file"))
  var accountFile: String?

  @Option(help: ArgumentHelp("Create an account with the hub's secret in a file's first line.", valueName: "file"))
  var hubSecretFile: String?

  @Flag(help: "Do not encrypt: everyone who sees the folder can read the tasks.")
  var noEncryption = false

  @Option(help: ArgumentHelp("The name of this device.", valueName: "device"))
  var name: String?

  @OptionGroup var insecure: InsecureOption

  func validate() throws {
    if noEncryption, passphraseFile != nil {
      throw ValidationError("Give only one of --passphrase-file and --no-encryption.")
    }
    if accountFile != nil, hubSecretFile != nil {
      throw ValidationError("Give only one of --account-file and --hub-secret-file.")
    }
  }

  private func account(_ session: Session) throws -> HubAccountChoice {
    if let accountFile { return .token(try session.secret("token of the account", inFile: accountFile)) }
    return .new(secret: try hubSecretFile.map { try session.secret("secret of the hub", inFile: $0) })
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
    let account = try account(session)
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
      session.synchroniseFirst(StoreSync(store, connector: client))
      return setup
    }
    try session.answer(setup.facts, plain: .record(["space", "replica", "invitation", "recoveryCode"])) {
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
