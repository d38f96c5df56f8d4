import ArgumentParser
import Tally

/// `tally tags`: alone it shows the tags.
struct TagsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "tags",
    abstract: "Show the tags that tasks have, or rename and delete them.",
    usage: """
      tally tags [<options>]
      tally tags <subcommand> ...
      """,
    discussion: """
      With --plain, a line has these columns: \(TagUse.columns.joined(separator: ", ")).

      EXAMPLES
        tally tags rename house home
        tally find +home is:open
      """,
    subcommands: withGlobalOptions([RenameTagCommand.self, DeleteTagCommand.self])
  )

  func run(in session: Session) throws {
    let tags = try session.read { try $0.tags() }
    try session.answer(["tags": .array(tags.map(\.facts))], plain: .records([("tags", TagUse.columns)])) {
      let open = tags.map(\.openCount.grouped).numberColumn
      let completed = tags.map(\.completedCount.grouped).numberColumn
      let counts = zip(open, completed).map { "\($0) open, \($1) completed" }
      let room = max(8, (session.width ?? .max) - (counts.first?.count ?? 0) - 5)
      let names = tags.map { $0.tag.escapedForDisplay() }.column(ofWidthAtMost: room)
      for (name, counts) in zip(names, counts) {
        try session.output.write("  #\(name)  \(session.painter.paint(counts, .detail))\n")
      }
    }
    if tags.isEmpty { session.hint("No task has a tag. Add one: tally add Buy milk --tag home") }
  }
}

extension TagUse {
  static let columns = ["tag", "open", "completed"]

  var facts: Facts {
    ["tag": .text(tag), "open": .count(openCount), "completed": .count(completedCount)]
  }
}
