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

/// Arguments from which the words of a command that takes any number of them are set aside.
///
/// The parser's time grows with the square of the number of words, and `xargs` passes thousands.
struct ManyWords {
  /// The arguments for the parser: all options, and the words that do not belong to the repeated argument.
  private(set) var few: [String]
  /// The words that were set aside, in order.
  private(set) var others: [String] = []

  /// The parser reads up to this many arguments fast enough.
  private static let mostWithoutLooking = 128
  /// More options than anybody gives.
  private static let mostForParser = 1_024

  /// - Parameter arguments: All arguments, with the command's name.
  /// - Throws: ``CommandFailure`` for more options than the parser can read.
  init(_ arguments: [String]) throws {
    few = arguments
    guard arguments.count > Self.mostWithoutLooking else { return }
    divide(arguments)
    guard few.count <= Self.mostForParser else {
      throw CommandFailure.usage(
        "There are \(few.count) arguments that are not plain words, more than \(Self.mostForParser)",
        remedy: "Run the command several times, with some of them each")
    }
  }

  /// Adds the words that were set aside to the parsed command.
  func completing(_ command: ParsedCommand) -> ParsedCommand {
    guard !others.isEmpty else { return command }
    func completed<Own: SessionCommand>(_ own: Own) -> any SessionCommand {
      var own = own
      if let words = Own.manyWords { own[keyPath: words] += others }
      return own
    }
    return ParsedCommand(words: command.words, own: completed(command.own), global: command.global)
  }

  private mutating func divide(_ arguments: [String]) {
    guard let name = GlobalOptions.indexOfCommand(in: arguments) else { return }
    let names = Array(arguments.dropFirst(name).prefix(2))
    let isOfTwoWords = CommandDescription(of: names) != nil && names.count == 2
    guard let command = CommandDescription(of: isOfTwoWords ? names : [names[0]]),
      let last = command.arguments.last(where: { $0.kind == .positional }), last.isRepeating
    else { return }
    var left = command.arguments.count { $0.kind == .positional }
    let options = command.arguments + (CommandDescription(of: [])?.arguments ?? [])
    let withValue = Set(options.filter { $0.kind == .option }.flatMap(\.spellings))
    let start = name + (isOfTwoWords ? 2 : 1)
    few = Array(arguments[..<start])
    var (isValue, isText) = (false, false)
    for word in arguments.dropFirst(start) {
      let isOption = !isText && !isValue && word.hasPrefix("-") && word != "-"
      if isOption || isValue {
        few.append(word)
      } else if left > 0 {
        few.append(word)
        left -= 1
      } else {
        others.append(word)
      }
      isText = isText || isOption && word == "--"
      isValue = isOption && withValue.contains(word)
    }
  }
}
