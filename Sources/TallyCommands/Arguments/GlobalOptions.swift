import ArgumentParser
import Foundation
import Tally

/// The options every command takes, before or after its name.
///
/// The root command and every command below it have this group. The parser passes to a child the values that its parent
/// found, and the parent looks at all arguments; so both places work, as a test checks.
struct GlobalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store's directory. Default: $TALLY_STORE, else $XDG_DATA_HOME/tally, else ~/.local/share/tally.",
      valueName: "dir"
    ),
    completion: .directory
  )
  var store: String?

  @Flag(help: "Print JSON with stable keys.")
  var json = false

  @Flag(help: "Print one record per line, tab-separated, without colour or wrapping.")
  var plain = false

  @Option(help: ArgumentHelp("With --plain: the columns of tasks, as in handle,title,dueDay.", valueName: "names"))
  var columns: String?

  @Option(
    help: ArgumentHelp("Answer as of this ISO 8601 instant, and record changes with it.", valueName: "instant")
  )
  var now: String?

  @Option(help: ArgumentHelp("The IANA time zone days are counted in. Default: the system's.", valueName: "id"))
  var timeZone: String?

  @Option(help: ArgumentHelp("The day a week starts on. Default: the locale's.", valueName: "day"))
  var weekStart: WeekStart?

  @Flag(name: .customLong("no-color"), help: "Use no colour, as with NO_COLOR; FORCE_COLOR turns it on.")
  var noColor = false

  @Flag(help: "Print no messages about changes.")
  var quiet = false

  /// Options for a session that prints no messages, created without the parser.
  static func quiet(store: String?) -> GlobalOptions {
    var options = GlobalOptions()
    (options.store, options.now, options.timeZone, options.weekStart) = (store, nil, nil, nil)
    options.columns = nil
    (options.json, options.plain, options.noColor, options.quiet) = (true, false, false, true)
    return options
  }

  func validate() throws {
    if json, plain { throw ValidationError("Give only one of --json and --plain.") }
    if columns != nil, !plain { throw ValidationError("Add --plain, as --columns chooses the columns of that form.") }
    if let unknown = taskColumns?.first(where: { !NamedTask.allColumns.contains($0) }) {
      throw ValidationError(
        "--columns: There is no column '\(unknown.escapedForDisplay())'. "
          + "The columns are \(NamedTask.allColumns.joined(separator: ", ")).")
    }
    if let store, store.isEmpty { throw ValidationError("--store needs a directory.") }
  }
}

/// How results are printed.
enum OutputFormat {
  case human, plain, json
}

extension GlobalOptions {
  /// The line about these options in the help of a command.
  static let helpLine = """
    Every command also takes --store, --json, --plain, --columns, --now, --time-zone, --week-start, --no-color and --quiet, which \
    'tally --help --all' explains.
    """

  /// The columns of tasks with `--plain`, if they were chosen.
  var taskColumns: [String]? {
    columns?.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
  }

  var format: OutputFormat { json ? .json : plain ? .plain : .human }

  /// The options of the group that are followed by a value.
  private static let namesWithValue = ["--store", "--columns", "--now", "--time-zone", "--week-start"]

  /// Whether arguments ask for help or the version, wherever they do so before `--`.
  static func areQuestion(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains { ["--help", "-h", "--version"].contains($0) }
      || indexOfCommand(in: arguments).map { arguments[$0] } == "help"
  }

  /// The index of the first argument that is neither an option of the group nor its value: the command.
  static func indexOfCommand(in arguments: [String]) -> Int? {
    var index = 0
    while index < arguments.count, arguments[index] != "--" {
      guard arguments[index].hasPrefix("-") else { return index }
      index += namesWithValue.contains(arguments[index]) ? 2 : 1
    }
    return nil
  }
}
