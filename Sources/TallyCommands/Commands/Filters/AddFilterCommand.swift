import ArgumentParser
import Tally

/// `tally filters add NAME FILTER`.
struct AddFilterCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Save a filter under a name.",
    usage: "tally filters add <name> <filter> ... [--force] [<options>]",
    discussion: """
      \(FilterOptions.help)

      Dates stay relative: a saved due<=today always means the current day.

      EXAMPLES
        tally filters add 'Due soon' is:open due.by:today+3d
      """
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The filter's name.", valueName: "name"))
  var name: String

  @OptionGroup
  var filter: FilterOptions

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
