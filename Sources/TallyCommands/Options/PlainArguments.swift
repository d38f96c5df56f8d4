import ArgumentParser

/// Arguments in their commonest form: options by their whole names, each with its value as the next word, before, after
/// and between other words.
///
/// The parser finds out what a command takes by reflection, and each type that it looks at for the first time makes the
/// runtime search all conformances of the program. That takes longer than most commands do. So the commands that people
/// and prompts run all day read plain arguments themselves, and leave all else to the parser: abbreviations, `--name=value`,
/// values that begin with a dash, and everything that is to be refused. A test compares both.
struct PlainArguments {
  private let words: [String]
  private var isTaken: [Bool]
  /// Whether the parser has to look at the arguments.
  private(set) var needsParser = false

  /// - Parameter words: The arguments without the command's name.
  init(_ words: [String]) {
    self.words = words
    isTaken = Array(repeating: false, count: words.count)
  }

  /// Whether a flag is given.
  mutating func takeFlag(_ name: String) -> Bool {
    let indices = words.indices.filter { words[$0] == name }
    for index in indices { take(index) }
    if indices.count > 1 { needsParser = true }
    return !indices.isEmpty
  }

  /// The value of an option; `nil` if it is not given.
  mutating func takeValue(of name: String) -> String? {
    let values = takeValues(of: name)
    if values.count > 1 { needsParser = true }
    return values.first
  }

  /// The values of an option that may be given several times.
  mutating func takeValues(of name: String) -> [String] {
    words.indices.filter { words[$0] == name }.map { index in
      take(index)
      guard index + 1 < words.count, !words[index + 1].hasPrefix("-") else {
        needsParser = true
        return ""
      }
      take(index + 1)
      return words[index + 1]
    }
  }

  /// The words that belong to no option; called last.
  mutating func takeRest() -> [String] {
    let rest = words.indices.filter { !isTaken[$0] }.map { words[$0] }
    if rest.contains(where: { $0.hasPrefix("-") }) { needsParser = true }
    isTaken = Array(repeating: true, count: words.count)
    return rest
  }

  /// Leaves the arguments to the parser if a condition does not hold.
  mutating func require(_ condition: Bool) {
    if !condition { needsParser = true }
  }

  private mutating func take(_ index: Int) {
    // A word that two options claim.
    if isTaken[index] { needsParser = true }
    isTaken[index] = true
  }
}

/// Arguments that can be read without the parser.
protocol PlainOptions: ParsableArguments {
  /// Sets each option to what the arguments say; of no use where they need the parser.
  ///
  /// Each, as a property that is read and was not set ends the process. Not an initializer, in which an assignment would
  /// define the property with another default (Swift 6.3).
  mutating func take(from arguments: inout PlainArguments)
}

extension PlainOptions {
  static func taken(from arguments: inout PlainArguments) -> Self {
    var options = Self()
    options.take(from: &arguments)
    return options
  }
}

/// A command that can do without the parser.
typealias PlainCommand = PlainOptions & SessionCommand

/// The commands that read plain arguments.
enum PlainCommands {
  /// The command of a name with its options; `nil` if the parser has to look.
  static func read(_ words: [String], for name: String) -> ParsedCommand? {
    guard let type = command(named: name) else { return nil }
    var arguments = PlainArguments(words)
    let global = GlobalOptions.taken(from: &arguments)
    let own: any SessionCommand = type.taken(from: &arguments)
    arguments.require(arguments.takeRest().isEmpty)
    return arguments.needsParser ? nil : ParsedCommand(words: [name], own: own, global: global)
  }

  /// The command of a name.
  ///
  /// A `switch`, as a table would make the runtime look at every type in it.
  private static func command(named name: String) -> (any PlainCommand.Type)? {
    switch name {
    case "agenda": AgendaCommand.self
    case "today": ViewCommand<TodayView>.self
    case "inbox": ViewCommand<InboxView>.self
    case "upcoming": ViewCommand<UpcomingView>.self
    case "past": ViewCommand<PastView>.self
    case "overdue": ViewCommand<OverdueView>.self
    case "active": ViewCommand<ActiveView>.self
    case "next": ViewCommand<NextView>.self
    case "all": ViewCommand<AllView>.self
    case "find": FindCommand.self
    case "count": CountCommand.self
    case "add": AddCommand.self
    case "start": StartCommand.self
    case "done": DoneCommand.self
    case "reopen": ReopenCommand.self
    default: nil
    }
  }

  /// Whether the arguments ask for the version and for nothing else.
  static func isVersion(_ words: [String]) -> Bool {
    var arguments = PlainArguments(words)
    guard arguments.takeFlag("--version") else { return false }
    _ = GlobalOptions.taken(from: &arguments)
    return arguments.takeRest().isEmpty && !arguments.needsParser
  }
}
