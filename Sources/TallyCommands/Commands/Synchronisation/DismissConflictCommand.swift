import ArgumentParser
import Tally
import TallySync

/// `tally conflicts dismiss NUMBER…`.
struct DismissConflictCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "dismiss",
    abstract: "Forget values that lost a race, on every device.",
    usage: """
      tally conflicts dismiss <number> ... [<options>]
      tally conflicts dismiss --all [<options>]
      """,
    discussion:
      "The values that won stay. With --plain, a line has these columns: \(Conflict.columns.joined(separator: ", "))."
  )

  @Argument(help: ArgumentHelp("The numbers of the conflicts.", valueName: "number"))
  var ids: [UInt64] = []

  @Flag(help: "Dismiss all of them.")
  var all = false

  func validate() throws {
    if ids.isEmpty != all { throw ValidationError("Give the numbers of conflicts, or --all.") }
  }

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let dismissed = try session.wait { [ids, all] in try await StoreSync(store).dismissConflicts(all ? nil : ids) }
    try session.answer(
      ["dismissed": .array(dismissed.map(\.facts))], plain: .records([("dismissed", Conflict.columns)])
    ) {
      session.say(
        dismissed.isEmpty
          ? "Nothing has lost a race." : "Dismissed \(dismissed.count.counted("value")), on every device.")
    }
  }
}
