import ArgumentParser
import Tally
import TallySync

/// `tally sync revoke`.
struct SyncRevokeCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Shut a device out of a space at a hub.",
    usage: "tally sync revoke <replica> [<options>]",
    discussion: """
      The hub takes no more changes of the device and gives it none; those that it has sent stay. Only an owner of the space \
      may do this. The device keeps its tasks and the key, with which it can read what it has.

      With --plain, a line has this column: revoked.
      """
  )

  @Argument(help: ArgumentHelp("The replica, as 'tally sync members' shows it.", valueName: "replica"))
  var replica: String

  func run(in session: Session) throws {
    guard let replica = ReplicaID(replica) else {
      throw CommandFailure.usage(
        "The replica must have 32 hexadecimal digits", remedy: "Copy it from 'tally sync members'")
    }
    let sync = try session.sync(session.openStore(for: .changing))
    guard try session.wait(for: { try await sync.place().isHub }) else {
      throw CommandFailure.usage(
        "Nobody can be shut out of a folder", remedy: "Take the folder from that device, or create a new space")
    }
    let client = try session.hubClient
    try session.wait { try await client.revoke(replica, sync) }
    try session.answer(["revoked": .text("\(replica)")], plain: .record(["revoked"])) {
      session.say("Revoked the device. Its changes are refused from now on.")
    }
  }
}
