import ArgumentParser
import Foundation
import Tally

/// The options every command takes, before or after its name.
///
/// The root command and every command below it hold this group. The parser gives a child the values that its parent
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

  /// Options that print nothing beside a result, without the parser.
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

extension GlobalOptions: PlainOptions {
  /// Takes the options from plain arguments.
  mutating func take(from arguments: inout PlainArguments) {
    let isJSON = arguments.takeFlag("--json")
    let isPlain = arguments.takeFlag("--plain")
    let directory = arguments.takeValue(of: "--store")
    let names = arguments.takeValue(of: "--columns")
    // The parser says which column there is not.
    arguments.require(names == nil)
    columns = nil
    let dayText = arguments.takeValue(of: "--week-start")
    let day = dayText.flatMap { WeekStart(argument: $0) }
    arguments.require(!isJSON || !isPlain)
    arguments.require(directory != "")
    arguments.require((dayText == nil) == (day == nil))
    json = isJSON
    plain = isPlain
    store = directory
    weekStart = day
    noColor = arguments.takeFlag("--no-color")
    quiet = arguments.takeFlag("--quiet")
    now = arguments.takeValue(of: "--now")
    timeZone = arguments.takeValue(of: "--time-zone")
  }
}

/// The first day of a week, numbered as Foundation's calendars count.
enum WeekStart: Int, CaseIterable, ExpressibleByArgument {
  case monday = 2, tuesday, wednesday, thursday, friday, saturday
  case sunday = 1

  static let allValueStrings = allCases.map { "\($0)" }

  /// Takes the day's name or its first three letters, as every argument that names a day does.
  init?(argument: String) {
    guard let number = WeekdayName.number(of: argument) else { return nil }
    self = Self.allCases[number - 1]
  }
}

extension WeekStart {
  /// The first weekday of the locale's week as Foundation's calendars count.
  ///
  /// A calendar created by its identifier starts its weeks on Sunday, and Foundation on Linux ignores the variables that
  /// name the locale there. "C" and "POSIX" name none; ISO 8601's Monday is used then.
  ///
  /// - Throws: ``CommandFailure`` if the variable that decides is not UTF-8.
  static func firstWeekday(environment: EnvironmentVariables) throws -> Int {
    var calendar = Calendar(identifier: .gregorian)
    if let name = try localeName(environment: environment) {
      calendar.locale = Locale(identifier: name)
    } else {
      #if canImport(Darwin)
        calendar.locale = .current
      #else
        // The current locale is that of the variables, of whatever form.
        return WeekStart.monday.rawValue
      #endif
    }
    return calendar.firstWeekday
  }

  /// How people of the locale write dates in digits; `nil` if the variables name no locale.
  ///
  /// Without Foundation's locale, whose data takes longer to load than most commands run.
  static func dateOrder(environment: EnvironmentVariables) -> DateOrder? {
    guard let name = try? localeName(environment: environment) else { return nil }
    let parts = name.split(separator: "_").map(String.init)
    // The script, if there is one, has four letters.
    return DateOrder(language: parts.first, region: parts.dropFirst().first { $0.utf8.count < 4 })
  }

  /// The locale that the variables name; `nil` for "C", "POSIX" and what is no name.
  private static func localeName(environment: EnvironmentVariables) throws -> String? {
    let name =
      try environment.nonEmptyValue(of: "LC_ALL") ?? environment.nonEmptyValue(of: "LC_TIME")
      ?? environment.nonEmptyValue(of: "LANG")
    return name.map { $0.prefix { $0 != "." && $0 != "@" } }.flatMap { isLocale($0) ? String($0) : nil }
  }

  /// Whether a name has the form of a locale's, such as `tr`, `tr_TR` or `zh_Hant_TW`; "C" and "POSIX" do not.
  ///
  /// ICU ends the process over others, such as one with a language of twelve letters.
  private static func isLocale(_ name: Substring) -> Bool {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isPlain && (1...3).contains(parts.count) && (2...3).contains(parts[0].count)
      && parts.dropFirst().allSatisfy { (2...8).contains($0.count) }
  }
}

/// How results are printed.
enum OutputFormat {
  case human, plain, json
}

extension GlobalOptions {
  /// What the help of a command says of these options.
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
