import ArgumentParser
import HubStorage
import TallySync

/// `tally-hub move`.
struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a space to another PostgreSQL database.",
    discussion: """
      First without an option: the space is frozen and copied, and its devices wait. Then add a line for it to the map of all \
      hubs, and send them SIGHUP. At last with --finish, which deletes it from the old database. --cancel thaws a space that \
      was not copied.
      """)

  @Argument(help: "The id of the space.") var space: String
  @Option(help: "The connection string of the database that has it.") var from: String
  @Option(help: "The connection string of the database that gets it.") var to: String
  @Flag(help: "Delete it from the old database.") var finish = false
  @Flag(help: "Thaw it in the old database.") var cancel = false

  func validate() throws {
    guard !(finish && cancel) else { throw ValidationError("Give --finish or --cancel, not both.") }
  }

  func run() throws {
    guard let id = SpaceID(space) else { throw ValidationError("'\(space)' is not the id of a space.") }
    let move = try PostgreSQLMove(of: id, from: from, to: to)
    if finish {
      try move.finish()
      print("The space is now only in the new database.")
    } else if cancel {
      try move.cancel()
      print("The space is in use again in the old database.")
    } else {
      try move.copy()
      print("The space is copied. Add this line to the map of all hubs, and send them SIGHUP:\n\(id) \(to)")
    }
  }
}
