import ArgumentParser
import Tally
import TallySync

/// `tally sync role`.
struct SyncRoleCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "role",
    abstract: "Change what another device may do at the hub.",
    usage: "tally sync role <device> owner|writer|reader [<options>]",
    discussion: """
      An owner reads, writes, invites and revokes; a writer reads and writes; a reader reads. Only an owner may do this, and not \
      with itself. A space with two owners goes on when one of them is lost.

      With --plain, a line has these columns: replica, role.
      """
  )

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
