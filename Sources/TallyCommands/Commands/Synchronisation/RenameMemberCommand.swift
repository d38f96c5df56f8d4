import ArgumentParser
import Tally
import TallySync

/// `tally sync members rename [DEVICE] NAME`.
struct RenameMemberCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give a device another name, on every device.",
    usage: """
      tally sync members rename <device> <name> [<options>]
      tally sync members rename <name> [<options>]
      """,
    discussion: """
      With a name alone, this device gets it. If two devices rename one at the same time, the later name holds.

      With --plain, a line has these columns: replica, name.
      """
  )

  static let takesText = true

  @Argument(
    help: ArgumentHelp(
      "The device's name, handle or replica; this one if there is no second word.", valueName: "device"))
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
      if hasTwin { session.note("Another device has the same name; name one of them by its handle from then on.") }
    }
  }
}
