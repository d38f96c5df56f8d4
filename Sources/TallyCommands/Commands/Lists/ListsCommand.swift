import ArgumentParser
import Tally

/// `tally lists`: alone it shows the lists.
struct ListsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "lists",
    abstract: "Show the lists, or add, rename, recolour, reorder and delete them.",
    usage: """
      tally lists [<options>]
      tally lists <subcommand> ...
      """,
    discussion: """
      With --plain, a line has these columns: \(TaskList.columns.joined(separator: ", ")).

      EXAMPLES
        tally lists add Work --color FF9500
        tally lists move Work --before Home
      """,
    subcommands: withGlobalOptions([
      AddListCommand.self, RenameListCommand.self, ColorListCommand.self, MoveListCommand.self, DeleteListCommand.self,
    ])
  )

  func run(in session: Session) throws {
    let lists = try session.read { try $0.lists() }
    try session.answer(["lists": .array(lists.map(\.facts))], plain: .records([("lists", TaskList.columns)])) {
      try session.output.write(lists.map { Self.line(of: $0, session) }.joined())
    }
    if lists.isEmpty { session.hint("There are no lists yet. Lists group tasks; create one: tally lists add Work") }
  }

  private static func line(of list: TaskList, _ session: Session) -> String {
    let colour = "  \(list.colorHex)"
    let width = (session.width ?? .max) - 4 - colour.count
    let name = list.name.escapedForDisplay().truncated(toWidth: max(8, width))
    return "  \(session.painter.paint("▪", colorHex: list.colorHex)) \(name)"
      + session.painter.paint(colour, .detail) + "\n"
  }
}
