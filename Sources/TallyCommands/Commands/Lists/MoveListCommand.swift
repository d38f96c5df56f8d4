import ArgumentParser
import Tally

/// `tally lists move NAME`.
struct MoveListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Put a list before or after another one.",
    usage: "tally lists move <name> --before <name> | --after <name> [<options>]"
  )

  @Argument(help: SharedHelp.list)
  var name: String

  @Option(help: ArgumentHelp("The list to stand before.", valueName: "name"))
  var before: String?

  @Option(help: ArgumentHelp("The list to stand after.", valueName: "name"))
  var after: String?

  @OptionGroup
  var global: GlobalOptions

  func validate() throws {
    if (before == nil) == (after == nil) { throw ValidationError("Give either --before or --after.") }
  }

  func run(in session: Session) throws {
    try session.report(try session.write { try move(&$0) })
  }

  private func move(_ transaction: inout StoreWriteTransaction) throws -> Change {
    let list = try transaction.list(named: name)
    let lists = try transaction.lists()
    let anchor = try transaction.list(named: before ?? after ?? "")
    guard list.id != anchor.id else {
      throw CommandFailure.usage("A list cannot be moved beside itself", remedy: "Name two lists")
    }
    let moved =
      before != nil
      ? try transaction.moveList(list.id, before: anchor.id) : try transaction.moveList(list.id, after: anchor.id)
    let side = before != nil ? "before" : "after"
    return Change(
      from: list,
      to: moved,
      "Moved the list \(list.name.quotedForMessage) \(side) \(anchor.name.quotedForMessage).",
      remedy: "lists move",
      Self.formerPlace(of: list, in: lists)
    )
  }

  /// The arguments that put a list back to where it stood.
  private static func formerPlace(of list: TaskList, in lists: [TaskList]) -> [String] {
    guard let index = lists.firstIndex(where: { $0.id == list.id }) else { return [] }
    if index + 1 < lists.count { return [list.name, "--before", lists[index + 1].name] }
    return index > 0 ? [list.name, "--after", lists[index - 1].name] : []
  }
}
