import ArgumentParser
import Tally

/// `tally filters`: alone it shows the saved filters.
struct FiltersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "filters",
    abstract: "Show the saved filters, or add and delete them.",
    usage: """
      tally filters [<options>]
      tally filters <subcommand> ...
      """,
    discussion: """
      'tally filter NAME' shows the tasks that a saved filter finds.

      With --plain, a line has these columns: \(SavedFilter.columns.joined(separator: ", ")).

      EXAMPLES
        tally filters add Chores +home is:open
        tally filter Chores
      """,
    subcommands: withGlobalOptions([AddFilterCommand.self, DeleteFilterCommand.self])
  )

  func run(in session: Session) throws {
    let filters = try session.read { try $0.savedFilters() }
    try session.answer(["filters": .array(filters.map(\.facts))], plain: .records([("filters", SavedFilter.columns)])) {
      for filter in filters {
        let name = "  \(filter.name.escapedForDisplay())  "
        let room = max(8, (session.width ?? .max) - name.displayWidth)
        let text = filter.text.escapedForDisplay().truncated(toWidth: room)
        try session.output.write(name + session.painter.paint(text, .detail) + "\n")
      }
    }
    if filters.isEmpty {
      session.hint("There are no saved filters yet. Save one: tally filters add Chores +home is:open")
    }
  }
}

extension SavedFilter {
  static let columns = ["name", "filter", "updatedAt"]

  var facts: Facts {
    ["name": .text(name), "filter": .text(text), "updatedAt": .instant(updatedAt)]
  }
}
