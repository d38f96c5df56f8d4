/// A command and its arguments, as far as completion and plain arguments need them.
///
/// The parser describes a command by reflection, which takes longer than most commands do. So ``table`` has a copy of the
/// descriptions; a test writes the table from the definitions of the commands, and compares both.
struct CommandDescription: Equatable {
  struct Argument: Equatable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    let kind: Kind
    let isRepeating: Bool
    /// Whether it must be given at least once.
    let isRequired: Bool
    /// The value of an option that is not given; `nil` for none.
    let defaultValue: String?
    /// The names with their dashes, the long ones first.
    let spellings: [String]
    /// The name of the value in the help.
    let valueName: String
    /// The only values there are; empty if others are allowed.
    let values: [String]
    let abstract: String
  }

  /// The words that name the command; none for the program and the options that every command takes.
  let path: [String]
  let abstract: String
  let arguments: [Argument]

  /// The arguments without the one that every command has.
  var ownArguments: [Argument] { arguments.filter { $0 != .help } }

  /// The lines of the table that name commands.
  private static var heads: [String] { table.filter { !isArgument($0) } }

  /// The names that the first argument may have.
  static let commandNames =
    heads.map { String($0.prefix { $0 != ":" }) }.filter { !$0.isEmpty && !$0.contains(" ") } + ["help"]

  /// The commands whose names are one word longer, in the order of the help.
  static func commands(below path: [String]) -> [CommandDescription] {
    heads.map(Self.path).filter { $0.count == path.count + 1 && $0.starts(with: path) }.compactMap(Self.init(of:))
  }
}

extension CommandDescription {
  /// The description of a command; `nil` if the program does not have it.
  init?(of path: [String]) {
    let name = path.joined(separator: " ")
    guard let lines = Self.lines(of: name, in: Self.table), let head = lines.first else { return nil }
    self.path = Self.path(of: head)
    abstract = String(head.dropFirst(name.count + 2))
    arguments = lines.dropFirst().flatMap(Self.arguments) + [.help]
  }

  private static func path(of head: String) -> [String] {
    head.prefix { $0 != ":" }.split(separator: " ").map(String.init)
  }

  private static func isArgument(_ line: String) -> Bool { line.utf8.first == UInt8(ascii: " ") }

  /// The line that names a command or a group of arguments, and the lines of its arguments.
  private static func lines(of name: String, in table: [String]) -> ArraySlice<String>? {
    let start = name + ":"
    guard let index = table.firstIndex(where: { !isArgument($0) && $0.hasPrefix(start) }) else { return nil }
    return table[index...index] + table[(index + 1)...].prefix(while: isArgument)
  }

  /// The argument of a line, or those of the group that it names, as in `@ViewOptions`.
  private static func arguments(of line: String) -> [Argument] {
    let text = line.dropFirst(2)
    guard text.utf8.first == UInt8(ascii: "@") else { return [Argument(line: text)].compactMap(\.self) }
    return (lines(of: String(text.dropFirst()), in: groups) ?? []).dropFirst().flatMap(arguments)
  }
}

extension CommandDescription.Argument {
  /// The last one of every command.
  fileprivate static let help = Self(
    kind: .flag, isRepeating: false, isRequired: false, defaultValue: nil, spellings: ["--help", "-h"], valueName: "",
    values: [], abstract: "Show help information.")

  /// The one of the program alone.
  static let version = Self(
    kind: .flag, isRepeating: false, isRequired: false, defaultValue: nil, spellings: ["--version"], valueName: "",
    values: [], abstract: "Show the version.")

  /// Reads a line of the table, such as the following.
  ///
  ///     option | --list -l | name | | Put it into this list.
  ///
  /// An exclamation mark after the kind means that the argument must be given, an asterisk that it may be given several
  /// times; then comes the default, as in `option=place`.
  fileprivate init?(line: Substring) {
    // By bytes: a search for a separator of several characters takes longer than everything else here.
    let pieces = line.utf8.split(separator: UInt8(ascii: "|"), maxSplits: 4, omittingEmptySubsequences: false)
    let fields = pieces.map { piece in
      let field = piece.drop { $0 == UInt8(ascii: " ") }
      return Substring(field.last == UInt8(ascii: " ") ? field.dropLast() : field)
    }
    guard fields.count == 5 else { return nil }
    let parts = fields[0].split(separator: "=", maxSplits: 1)
    guard let start = parts.first, let kind = Kind(rawValue: String(start.prefix { $0.isLetter })) else { return nil }
    self.init(
      kind: kind, isRepeating: start.hasSuffix("*"), isRequired: start.contains("!"),
      defaultValue: parts.count > 1 ? String(parts[1]) : nil,
      spellings: fields[1].split(separator: " ").map(String.init),
      valueName: String(fields[2]), values: fields[3].split(separator: " ").map(String.init),
      abstract: String(fields[4]))
  }
}

/// The candidates for the word at the cursor, by the words before it.
struct CompletionQuestion {
  /// Something that the word can be.
  enum Wanted {
    case command
    case option
    case value(CommandDescription.Argument)
  }

  /// The words that name the command; empty for the program itself.
  private(set) var commandPath: [String] = []
  private(set) var wanted: [Wanted] = []
  private var arguments: [CommandDescription.Argument] = []
  /// The words that are neither options nor their values.
  private var positionalCount = 0
  /// The options among the words.
  private var usedOptions: Set<String> = []
  /// The part before the value in the same word: `--list=`.
  private(set) var start = ""
  private(set) var prefix: String
  /// The first option that the command does not have.
  private(set) var unknownOption: String?

  /// - Parameters:
  ///   - words: The words after the program's name and before the cursor, without their quotation marks.
  ///   - prefix: The word at the cursor, as far as it is typed.
  init(words: [String], prefix: String) {
    self.prefix = prefix
    let rest = findCommand(in: words)
    // The options of the program are those that every command takes.
    let paths = commandPath.isEmpty ? [[]] : [commandPath, []]
    arguments = paths.flatMap { CommandDescription(of: $0)?.arguments ?? [] }
    let isText = rest.contains("--")
    let others = rest.filter { $0 != "--" }
    countWords(others)
    wanted = wantedWords(after: others.last, isText: isText)
  }

  /// Finds the command that the words name; returns the other words.
  private mutating func findCommand(in words: [String]) -> [String] {
    guard let index = GlobalOptions.indexOfCommand(in: words) else { return words }
    var rest = words
    if rest[index] == "help" { rest.remove(at: index) }
    while index < rest.count, CommandDescription(of: commandPath + [rest[index]]) != nil {
      commandPath.append(rest.remove(at: index))
    }
    return rest
  }

  private mutating func countWords(_ words: [String]) {
    var isValue = false
    for word in words {
      if word.hasPrefix("-") { usedOptions.insert(word) }
      if isValue {
        isValue = false
      } else if word.hasPrefix("-"), word != "-" {
        isValue = takesValue(word)
        let name = String(word.hasPrefix("--") ? word.prefix { $0 != "=" } : word.prefix(2))
        let isKnown = optionNames.contains(name) || Self.parserOptions.contains(name)
        if unknownOption == nil, !isKnown { unknownOption = name }
      } else {
        positionalCount += 1
      }
    }
  }

  /// Adds the arguments that may follow the words after the command; after `--` there are no options.
  private mutating func wantedWords(after last: String?, isText: Bool) -> [Wanted] {
    if !isText, let option = last.flatMap(valueOption) { return [.value(option)] }
    if !isText, let equals = prefix.firstIndex(of: "="), let option = valueOption(String(prefix[..<equals])) {
      start = String(prefix[...equals])
      prefix = String(prefix[prefix.index(after: equals)...])
      return [.value(option)]
    }
    if !isText, prefix.hasPrefix("-") { return [.option] }
    let hasCommands = positionalCount == 0 && !CommandDescription.commands(below: commandPath).isEmpty
    return (hasCommands ? [.command] : []) + (positional(at: positionalCount).map { [.value($0)] } ?? [])
  }

  /// The arguments of the command that are not options.
  var positionals: [CommandDescription.Argument] { arguments.filter { $0.kind == .positional } }

  /// The argument of a word that is neither an option nor the value of one; `nil` for a word too many.
  func positional(at index: Int) -> CommandDescription.Argument? {
    let positionals = positionals
    return index < positionals.count ? positionals[index] : positionals.last.flatMap { $0.isRepeating ? $0 : nil }
  }

  /// The options that may still be given.
  var options: [CommandDescription.Argument] {
    arguments.filter { argument in
      argument.kind != .positional && (argument.isRepeating || usedOptions.isDisjoint(with: argument.spellings))
    }
  }

  /// The names of the command's options.
  var optionNames: [String] { arguments.flatMap(\.spellings) }

  /// The options of the parser itself.
  private static let parserOptions: Set = [
    "-h", "--help", "--help-hidden", "--version", "--experimental-dump-help", CompletionScript.option,
  ]

  /// Whether the next word is the value of this one.
  func takesValue(_ word: String) -> Bool { valueOption(word) != nil }

  /// The option that a word is, if the next word is its value.
  func valueOption(_ word: String) -> CommandDescription.Argument? {
    arguments.first { $0.kind == .option && $0.spellings.contains(word) }
  }

  /// The directory that `--store` names in the words.
  static func store(in words: [String]) -> String? {
    for (index, word) in words.enumerated() {
      if word.hasPrefix("--store=") { return String(word.dropFirst(8)) }
      if word == "--store", index + 1 < words.count { return words[index + 1] }
    }
    return nil
  }
}
