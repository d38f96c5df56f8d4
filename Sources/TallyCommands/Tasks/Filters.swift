import ArgumentParser
import Tally

/// `tally filters`: alone it shows the saved filters.
struct FiltersCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "filters", "Show the saved filters, or add and delete them.",
    discussion: """
      'tally filter NAME' shows the tasks that a saved filter finds.

      With --plain, a line has these columns: \(SavedFilter.columns.joined(separator: ", ")).

      EXAMPLES
        tally filters add Chores +home is:open
        tally filter Chores
      """,
    subcommands: [AddFilterCommand.self, DeleteFilterCommand.self])

  func run(in session: Session) throws {
    let filters = try session.read { try $0.savedFilters() }
    try session.answer("filters", filters.map(\.facts), columns: SavedFilter.columns) {
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

/// `tally filter NAME`.
struct FilterCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "filter", "Show the tasks that a saved filter finds.", usage: "<name> [--sort <order>] [--waiting] [--limit <n>]",
    discussion: SharedHelp.taskRecord)

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  @OptionGroup var page: QueryOptions

  /// Only the store knows the filter.
  var countsWeeks: Bool { true }

  func run(in session: Session) throws {
    try session.show { transaction in
      let saved = try transaction.filter(named: name)
      return page.description(
        of: try saved.filter, title: saved.name.escapedForDisplay(),
        emptyHint: "No tasks match the filter \(saved.name.quotedForMessage): \(saved.text.quotedForMessage).")
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The saved filter of a name, however written.
  ///
  /// - Throws: ``CommandFailure`` if there is none.
  func filter(named name: String) throws -> SavedFilter {
    if let filter = try savedFilter(named: name) { return filter }
    let near = name.nearNames(among: try savedFilters().map(\.name)).map(\.quotedForMessage)
    throw CommandFailure(
      .notFound, code: "filterNotFound", "There is no filter \(name.quotedForMessage)",
      remedy: near.isEmpty
        ? "See the filters with 'tally filters'; save one with 'tally filters add NAME FILTER'"
        : "Did you mean \(near.joined(separator: " or "))?")
  }
}

/// `tally filters add NAME FILTER`.
struct AddFilterCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "filters add", "Save a filter under a name.", usage: "<name> <filter> ... [--force]",
    discussion: """
      \(FilterOptions.help)

      Dates stay relative: a saved due<=today always means the current day.

      EXAMPLES
        tally filters add 'Due soon' is:open due.by:today+3d
      """)

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  @OptionGroup var filter: FilterOptions

  @Flag(help: "Replace an existing filter of that name.")
  var force = false

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  func validate(with global: GlobalOptions) throws {
    if filter.words.isEmpty { throw ValidationError("Missing filter: write its conditions after the name.") }
  }

  func run(in session: Session) throws {
    let filter = try filter.filter
    try session.write(for: .adding) { transaction in
      let old = try transaction.savedFilter(named: name)
      guard old == nil || force || old?.text == filter.text else {
        throw CommandFailure.usage(
          "A filter named \(name.quotedForMessage) already exists", code: "filterExists",
          remedy: "Add --force to replace it, or choose another name")
      }
      let new = try transaction.saveFilter(filter, as: name)
      if let old, old == new { return ChangeReport(messages: ["No change: the filter is already saved like this."]) }
      let verb = old == nil ? "Saved" : "Replaced"
      return ChangeReport(filters: [new], messages: ["\(verb) filter \(new.name.quotedForMessage)."])
    }
  }
}

/// `tally filters delete NAME`.
struct DeleteFilterCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "filters delete", "Delete a saved filter; the tasks that it finds stay.", usage: "<name>")

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let filter = try transaction.filter(named: name)
      try transaction.deleteFilter(named: filter.name)
      return ChangeReport(deletedFilters: [filter.name], messages: ["Deleted filter \(filter.name.quotedForMessage)."])
    }
  }
}
