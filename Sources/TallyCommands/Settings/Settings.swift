import Tally

/// What a person has set once for all commands; options and variables win over it.
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
    var weight: WritableKeyPath<NextWeights, Int>? {
      switch self {
      case .nextStarted: \.started
      case .nextOverdue: \.overdue
      case .nextToday: \.today
      case .nextLeft: \.left
      case .nextFree: \.free
      case .nextLater: \.later
      case .nextDue: \.due
      case .nextPriority: \.priority
      default: nil
      }
    }

    /// What the key is for.
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
  /// The command lines that aliases stand for, by the name of the alias.
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
  /// A setting that is refused, without its place.
  struct Fault: Error {
    let message: String
    let remedy: String
  }

  /// Sets what a line of the file says, after a check.
  ///
  /// - Throws: ``Fault``.
  mutating func set(_ name: String, to value: String) throws {
    if name.hasPrefix(Self.aliasPrefix) {
      return try setAlias(String(name.dropFirst(Self.aliasPrefix.count)), to: value)
    }
    guard let key = Key(rawValue: name) else { throw Self.unknownKey(name) }
    switch key {
    case .defaultList: break
    case .defaultCommand: _ = try Self.words(of: value, for: name)
    case .weekStart:
      weekStart = WeekStart(argument: value)
      if weekStart == nil { throw Fault(message: "\(name) is not a day of the week", remedy: "Write it as monday") }
    case .dayStart:
      guard let time = LocalClock.timeOfDay(value), time.hour < 12 else {
        throw Fault(message: "\(name) is not a time before noon", remedy: "Write it as HH:MM, as in 04:00")
      }
      dayStartInMinutes = 60 * time.hour + time.minute
    case .timeZone:
      timeZone = NamedTimeZone(iana: value)
      guard timeZone != nil else {
        throw Fault(message: "\(name) is not a time zone", remedy: "Name one, as in Europe/Istanbul")
      }
    case .dateOrder:
      dateOrder = DateOrder(rawValue: value.lowercased())
      if dateOrder == nil { throw Fault(message: "\(name) is not dmy or mdy", remedy: "Choose one of these") }
    case .hints:
      guard ["on", "off"].contains(value) else {
        throw Fault(message: "\(name) is not on or off", remedy: "Choose one of these")
      }
    case .color:
      guard ["auto", "always", "never"].contains(value) else {
        throw Fault(message: "\(name) is not auto, always or never", remedy: "Choose one of these")
      }
    case .nextStarted, .nextOverdue, .nextToday, .nextLeft, .nextFree, .nextLater, .nextDue, .nextPriority:
      guard let weight = Int(value), NextWeights.range.contains(weight), let path = key.weight else {
        throw Fault(
          message: "\(name) is not a whole number from 0 to 100",
          remedy: "Write it as 30; the greatest weight comes first")
      }
      nextWeights[keyPath: path] = weight
    }
    texts[key] = value
  }

  private mutating func setAlias(_ name: String, to value: String) throws {
    let isName = !name.isEmpty && !name.hasPrefix("-") && !name.contains { $0.isWhitespace || $0 == "." }
    guard isName else {
      throw Fault(message: "An alias needs a name of one word", remedy: "Write it as alias.rent")
    }
    guard !RootCommand.commandNames.contains(name) else {
      throw Fault(
        message: "The alias '\(name)' has the name of a command", remedy: "Give it a name that no command has")
    }
    _ = try Self.words(of: value, for: Self.aliasPrefix + name)
    aliases[name] = value
  }

  /// The words of a command line, which must begin with a command: an alias of an alias could lead in a circle.
  private static func words(of text: String, for name: String) throws -> [String] {
    guard let words = text.shellWords, let command = words.first, RootCommand.commandNames.contains(command) else {
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

extension String {
  /// The words of a command line as a shell splits it, without expanding anything; `nil` with an open quotation mark.
  var shellWords: [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in self {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        (quote, word) = (character, word ?? "")
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return quote == nil && !isEscaped ? words : nil
  }
}
