import ArgumentParser
import Tally

/// `tally lists`: alone it shows the lists.
struct ListsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "lists",
    abstract: "Show the lists, or add, rename, recolour, reorder, merge and delete them.",
    usage: """
      tally lists [<options>]
      tally lists <subcommand> ...
      """,
    discussion: """
      With --plain, a line has these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally lists add Work --color FF9500
        tally lists move Work --before Home
      """,
    subcommands: withGlobalOptions([
      AddListCommand.self, RenameListCommand.self, ColorListCommand.self, MoveListCommand.self, MergeListsCommand.self,
      DeleteListCommand.self,
    ])
  )

  private static let columns = TaskList.columns + ["open"]

  func run(in session: Session) throws {
    let lists = try session.read { transaction in
      try transaction.lists().map { ($0, openCount: try transaction.count(.list($0.id) && .is(.open))) }
    }
    let facts = lists.map { $0.facts.adding(["open": .count($1)]) }
    try session.answer(["lists": .array(facts)], plain: .records([("lists", Self.columns)])) {
      try session.output.write(Self.text(of: lists.map(\.0), lists.map(\.openCount), session))
    }
    if lists.isEmpty { session.hint("There are no lists yet. Lists group tasks; create one: tally lists add Work") }
  }

  private static func text(of lists: [TaskList], _ openCounts: [Int], _ session: Session) -> String {
    let details = zip(lists, openCounts.map(\.grouped).numberColumn).map { "  \($0.colorHex)  \($1) open" }
    let room = max(8, (session.width ?? .max) - 4 - (details.first?.count ?? 0))
    let names = lists.map { $0.name.escapedForDisplay() }.column(ofWidthAtMost: room)
    return lists.indices.map { index in
      "  \(session.painter.paint("▪", colorHex: lists[index].colorHex)) \(names[index])"
        + session.painter.paint(details[index], .detail) + "\n"
    }.joined()
  }
}
