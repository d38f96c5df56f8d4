import Foundation
import SystemPackage
import Tally
import TallySystem
import Yams

/// The settings of a person for all commands; options and variables take precedence over them.
struct Settings {
  /// A setting by its name in the file, as `tally config` takes it.
  enum Key: String, CaseIterable {
    case defaultList = "default-list"
    case defaultCommand = "default-command"
    case weekStart = "week-start"
    case dayStart = "day-start"
    case timeZone = "time-zone"
    case dateOrder = "date-order"
    case color
    case hints
    case nextStarted = "next.started"
    case nextOverdue = "next.overdue"
    case nextToday = "next.today"
    case nextLeft = "next.left"
    case nextFree = "next.free"
    case nextLater = "next.later"
    case nextDue = "next.due"
    case nextPriority = "next.priority"

    /// The weight that it sets; `nil` for any other setting.
    var weight: WritableKeyPath<NextWeights, Int>? { Self.weights[self] }

    private static let weights: [Key: any WritableKeyPath<NextWeights, Int> & Sendable] = [
      .nextStarted: \.started, .nextOverdue: \.overdue, .nextToday: \.today, .nextLeft: \.left, .nextFree: \.free,
      .nextLater: \.later, .nextDue: \.due, .nextPriority: \.priority,
    ]

    /// The purpose of the key.
    var meaning: String {
      switch self {
      case .defaultList: "the list that add, quick and log use without --list"
      case .defaultCommand: "the command that 'tally' alone runs, with its options"
      case .weekStart: "the day a week starts on, unless --week-start is given"
      case .dayStart: "the time at which a day begins, as 04:00 for people who work past midnight"
      case .timeZone: "an IANA time zone, unless --time-zone or TZ is given"
      case .dateOrder: "dmy or mdy, how dates such as 3/4 are read; the locale's without it"
      case .color: "auto, always or never, unless --no-color, NO_COLOR or FORCE_COLOR is given"
      case .hints: "on or off: whether changes say how to undo them, and add that it reads no dates"
      case .nextStarted: "the weight of a task in progress in 'tally next', from 0 to 100"
      case .nextOverdue: "that of an overdue task"
      case .nextToday: "that of a task due or planned today"
      case .nextLeft: "that of a task left from an earlier day"
      case .nextFree: "that of a task planned for no day"
      case .nextLater: "that of a task planned for a later day"
      case .nextDue: "that of the due day, among tasks of one weight"
      case .nextPriority: "that of the priority, among tasks of one weight"
      }
    }
  }

  /// The prefix of the names of aliases: `alias.rent` is the command `rent`.
  static let aliasPrefix = "alias."

  private(set) var texts: [Key: String] = [:]
  /// The command lines of the aliases, by name.
  private(set) var aliases: [String: String] = [:]
  private(set) var weekStart: WeekStart?
  private(set) var dayStartInMinutes = 0
  private(set) var timeZone: NamedTimeZone?
  private(set) var dateOrder: DateOrder?

  /// Whether messages say what else a person could do.
  var hasHints: Bool { self[.hints] != "off" }
  private(set) var nextWeights = NextWeights()

  subscript(key: Key) -> String? { texts[key] }
}

extension Settings {
  /// Why a setting is refused, without its place in the file.
  struct Fault: Error {
    let message: String
    let remedy: String
  }

  /// Checks a setting and stores it.
  ///
  /// - Throws: ``Fault``.
  mutating func set(_ name: String, to value: String) throws {
    if name.hasPrefix(Self.aliasPrefix) {
      return try setAlias(String(name.dropFirst(Self.aliasPrefix.count)), to: value)
    }
    guard let key = Key(rawValue: name) else { throw Self.unknownKey(name) }
    func checked<Value>(_ value: Value?, _ kind: String, _ remedy: String = "Choose one of these") throws -> Value {
      guard let value else { throw Fault(message: "\(name) is not \(kind)", remedy: remedy) }
      return value
    }
    switch key {
    case .defaultList: break
    case .defaultCommand: _ = try Self.words(of: value, for: name)
    case .weekStart: weekStart = try checked(WeekStart(argument: value), "a day of the week", "Write it as monday")
    case .dayStart:
      let minutes = LocalClock.minutes(ofTime: value).flatMap { $0 < 12 * 60 ? $0 : nil }
      dayStartInMinutes = try checked(minutes, "a time before noon", "Write it as HH:MM, as in 04:00")
    case .timeZone:
      timeZone = try checked(NamedTimeZone(iana: value), "a time zone", "Name one, as in Europe/Istanbul")
    case .dateOrder: dateOrder = try checked(DateOrder(rawValue: value.lowercased()), "dmy or mdy")
    case .hints: _ = try checked(["on", "off"].firstIndex(of: value), "on or off")
    case .color: _ = try checked(["auto", "always", "never"].firstIndex(of: value), "auto, always or never")
    case .nextStarted, .nextOverdue, .nextToday, .nextLeft, .nextFree, .nextLater, .nextDue, .nextPriority:
      let weight = Int(value).flatMap { NextWeights.range.contains($0) ? $0 : nil }
      let known = try checked(
        weight, "a whole number from 0 to 100", "Write it as 30; the greatest weight comes first")
      if let path = key.weight { nextWeights[keyPath: path] = known }
    }
    texts[key] = value
  }

  private mutating func setAlias(_ name: String, to value: String) throws {
    let isName = !name.isEmpty && !name.hasPrefix("-") && !name.contains { $0.isWhitespace || $0 == "." }
    guard isName else {
      throw Fault(message: "An alias needs a name of one word", remedy: "Write it as alias.rent")
    }
    guard !CommandDescription.commandNames.contains(name) else {
      throw Fault(
        message: "The alias '\(name)' has the name of a command", remedy: "Give it a name that no command has")
    }
    _ = try Self.words(of: value, for: Self.aliasPrefix + name)
    aliases[name] = value
  }

  /// The words of a command line, which must begin with a command: an alias of an alias could lead in a circle.
  private static func words(of text: String, for name: String) throws -> [String] {
    guard let words = text.shellWords, let command = words.first, CommandDescription.commandNames.contains(command)
    else {
      throw Fault(
        message: "\(name) does not begin with a command of tally, or has an open quotation mark",
        remedy: "Write a command and its arguments, as in 'find +home is:open'; an alias cannot name another one")
    }
    return words
  }

  static func unknownKey(_ name: String) -> Fault {
    let near = name.nearNames(among: Key.allCases.map(\.rawValue), limit: 1).first
    let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
    return Fault(
      message: "There is no setting '\(name.truncated(toWidth: 60).escapedForDisplay())'",
      remedy: "\(near.map { "Did you mean \($0)? " } ?? "")The settings are \(names), and alias.NAME")
  }
}

extension Settings {
  /// The time zone, unless the variable of the C library names one.
  func timeZone(unlessSetIn environment: EnvironmentVariables) throws -> NamedTimeZone? {
    try environment.value(of: "TZ") == nil ? timeZone : nil
  }

  /// The arguments with an alias in its full form, and with the default command where none is named.
  func expanding(_ arguments: [String]) -> [String] {
    guard let index = GlobalOptions.indexOfCommand(in: arguments) else {
      let isComplete = GlobalOptions.areQuestion(arguments) || arguments.contains { $0 == "--" || $0.hasPrefix("---") }
      return (isComplete ? [] : self[.defaultCommand]?.shellWords ?? []) + arguments
    }
    let words = (aliases[arguments[index]]?.shellWords ?? [arguments[index]]) + arguments[(index + 1)...]
    // Directly after the command: an alias may have a `--`.
    return arguments[..<index] + words.prefix(1) + listOption(for: words) + words.dropFirst()
  }

  /// The default list as an option, for commands that capture a task and name neither a list nor a parent.
  private func listOption(for words: [String]) -> [String] {
    guard let list = self[.defaultList], words.first == "add" || words.first == "log" else { return [] }
    let options = words.prefix { $0 != "--" }
    let isNamed = options.contains { word in
      ["--list", "--parent"].contains { word == $0 || word.hasPrefix($0 + "=") }
    }
    return isNamed ? [] : ["--list=\(list)"]
  }
}

/// The file of the settings: YAML, one `key: value` per line.
struct SettingsFile {
  let path: FilePath
  let text: String
  let settings: Settings
  /// The lines on which keys begin, counted from one.
  private let lines: [String: Int]

  /// The file's path: `$XDG_CONFIG_HOME/tally/config.yaml`, else `~/.config/tally/config.yaml`.
  ///
  /// - Throws: ``CommandFailure`` if there is no home directory.
  static func path(environment: EnvironmentVariables) throws -> FilePath? {
    try environment.ownDirectory(in: "XDG_CONFIG_HOME", belowHome: ".config")?.appending("config.yaml")
  }

  /// Reads the file; one that does not exist sets nothing.
  ///
  /// - Throws: ``CommandFailure`` if it cannot be read, is not YAML or sets something that is refused.
  init(at path: FilePath) throws {
    self.path = path
    text = try Self.read(path)
    (settings, lines) = try Self.parse(text, path)
  }

  private static func read(_ path: FilePath) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try WholeFile.read(path, atMost: mostBytes)
    } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
      return ""
    } catch {
      throw CommandFailure.unreadable(
        "'\(path.string.escapedForDisplay())' cannot", error,
        remedy: "Check what the file is and its permissions, or remove it")
    }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let fault = Settings.Fault(message: "It is not UTF-8", remedy: "Convert it, for example with iconv")
    throw CommandFailure(inSettings: path, line: nil, fault)
  }

  /// More bytes than any person's settings and aliases take.
  private static let mostBytes = 1 << 20

  /// The parser's basic resolver leaves every value the text that it is: `no` is not false, and `04:00` not a number.
  private static func parse(_ text: String, _ path: FilePath) throws -> (Settings, [String: Int]) {
    var (settings, lines) = (Settings(), [String: Int]())
    // Most people have no file, and the parser's start is a fortieth of that of the program.
    if text.isEmpty { return (settings, lines) }
    do {
      guard let root = try Yams.compose(yaml: text, .basic) else { return (settings, lines) }
      guard let mapping = root.mapping else {
        throw CommandFailure(inSettings: path, line: root.mark?.line, .notASetting)
      }
      for (key, value) in mapping {
        guard let name = key.scalar?.string, let value = value.scalar?.string else {
          throw CommandFailure(inSettings: path, line: key.mark?.line, .notASetting)
        }
        lines[name] = key.mark?.line
        do {
          try settings.set(name, to: value)
        } catch let fault as Settings.Fault {
          throw CommandFailure(inSettings: path, line: key.mark?.line, fault)
        }
      }
    } catch let error as YamlError {
      throw CommandFailure(inSettings: path, error)
    }
    return (settings, lines)
  }
}

extension SettingsFile {
  /// Writes the file with another value of a key.
  ///
  /// Everything else, comments included, stays; `nil` removes the key.
  ///
  /// - Throws: ``CommandFailure`` if the value is refused or the file cannot be written.
  func write(_ value: String?, for name: String) throws {
    let changed = try replacing(name, with: value)
    // The line is found by the parser's marks; a file of another form than ours may not allow that.
    let (result, _) = try Self.parse(changed, path)
    var wanted = Settings()
    for (key, text) in settings.all where key != name { try wanted.set(key, to: text) }
    if let value { try wanted.set(name, to: value) }
    guard result.all == wanted.all else {
      throw CommandFailure(
        .badData, code: "malformedSettings", "'\(path.string.escapedForDisplay())' has a form that is not changed here",
        remedy: "Edit it, so that each setting is on a line of its own")
    }
    // A link, for example into a collection of such files, stays a link even if its file does not exist yet.
    let target = try CommandFailure.replacing({ CommandFailure(writingSettings: path, $0) }) {
      try SystemCalls.resolvingLinksToWrite(path)
    }
    try CommandFailure.replacing({ CommandFailure(writingSettings: target, $0) }) {
      try SystemCalls.createDirectories(upTo: target.parentOrCurrent, permissions: .ownerReadWriteExecute)
      let file = try AtomicFile(replacing: target)
      _ = try file.descriptor.writeAll(changed.utf8)
      try file.publish()
    }
  }

  private func replacing(_ name: String, with value: String?) throws -> String {
    var rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if rows.last == "" { rows.removeLast() }
    let line = try value.map { try Yams.dump(object: [name: $0], width: -1, allowUnicode: true) }
    let new = line.map { [$0.trimmingCharacters(in: .newlines)] } ?? []
    guard let start = lines[name].map({ $0 - 1 }) else { return (rows + new).map { $0 + "\n" }.joined() }
    var end = lines.values.filter { $0 - 1 > start }.min().map { $0 - 1 } ?? rows.count
    while end > start + 1, rows[end - 1].isEmpty || rows[end - 1].hasPrefix("#") { end -= 1 }
    rows.replaceSubrange(start..<end, with: new)
    return rows.map { $0 + "\n" }.joined()
  }
}

extension Settings {
  /// Everything that is set, by its name in the file.
  var all: [String: String] {
    let known = texts.map { ($0.key.rawValue, $0.value) }
    return Dictionary(uniqueKeysWithValues: known + aliases.map { (Self.aliasPrefix + $0.key, $0.value) })
  }

  /// The names of all settings, set or not, then of the aliases.
  var names: [String] { Key.allCases.map(\.rawValue) + aliases.keys.sorted().map { Self.aliasPrefix + $0 } }
}

extension Settings.Fault {
  fileprivate static let notASetting = Settings.Fault(
    message: "It does not consist of settings", remedy: "Write each as key: value, as in week-start: monday")
}

extension CommandFailure {
  /// The failure of a file that says something that is refused.
  fileprivate init(inSettings path: FilePath, line: Int?, _ fault: Settings.Fault) {
    let place = line.map { ", line \($0)" } ?? ""
    self.init(
      .badData, code: "malformedSettings", "'\(path.string.escapedForDisplay())'\(place): \(fault.message)",
      remedy: fault.remedy)
  }

  fileprivate init(inSettings path: FilePath, _ error: YamlError) {
    let fault: (line: Int?, problem: String) =
      switch error {
      case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
        .composer(_, let problem, let mark, _):
        (mark.line, problem)
      case .duplicatedKeysInMapping(let keys, let context):
        (context.mark.line, "\(keys.joined(separator: ", ")) is set twice")
      case .reader(let problem, _, _, _): (nil, problem)
      default: (nil, "\(error)")
      }
    self.init(
      inSettings: path, line: fault.line,
      Settings.Fault(
        message: "It is not YAML: \(fault.problem.escapedForDisplay())",
        remedy: "Write each setting as key: value; put quotation marks around a value with special characters"))
  }

  fileprivate init(writingSettings path: FilePath, _ error: any Error) {
    self.init(
      .outputNotCreated, code: "outputNotCreated",
      "The settings '\(path.string.escapedForDisplay())' cannot be written: \(error)",
      remedy: "Check the directory's permissions and free space")
  }
}

extension Settings {
  /// The settings of the person who runs the program.
  ///
  /// - Throws: as reading the file.
  init(of environment: EnvironmentVariables) throws {
    // If the name of the directory cannot be read there are no settings; only 'tally config' reports an error.
    let path = (try? SettingsFile.path(environment: environment)) ?? nil
    self = try path.map { try SettingsFile(at: $0).settings } ?? Settings()
  }
}
