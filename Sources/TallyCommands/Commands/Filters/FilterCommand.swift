import ArgumentParser
import Tally

/// `tally filter NAME`.
struct FilterCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter",
    abstract: "Show the tasks that a saved filter finds.",
    usage: "tally filter <name> [--sort <order>] [--limit <n>] [<options>]",
    discussion: SharedHelp.taskRecord
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  @OptionGroup
  var page: QueryOptions

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
