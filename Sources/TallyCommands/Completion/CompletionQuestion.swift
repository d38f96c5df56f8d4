/// What the word at the cursor can be, by the words before it.
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
  /// The options that the words have already.
  private var given: Set<String> = []
  /// What comes before the value in the same word: `--list=`.
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
    unknownOption = findUnknownOption(in: rest)
    wanted = understand(rest.filter { $0 != "--" }, isText: rest.contains("--"))
  }

  /// Finds out what may follow the words after the command; after `--` there are no options.
  private mutating func understand(_ words: [String], isText: Bool) -> [Wanted] {
    if !isText, let option = words.last.flatMap(valueOption) { return [.value(option)] }
    if !isText, let equals = prefix.firstIndex(of: "="), let option = valueOption(String(prefix[..<equals])) {
      start = String(prefix[...equals])
      prefix = String(prefix[prefix.index(after: equals)...])
      return [.value(option)]
    }
    given = Set(words.filter { $0.hasPrefix("-") })
    if !isText, prefix.hasPrefix("-") { return [.option] }
    let count = positionalCount(of: words)
    let hasCommands = count == 0 && !CommandDescription.commands(below: commandPath).isEmpty
    let positionals = arguments.filter { $0.kind == .positional }
    let last = positionals.last.flatMap { $0.isRepeating ? $0 : nil }
    let argument = count < positionals.count ? positionals[count] : last
    return (hasCommands ? [.command] : []) + (argument.map { [.value($0)] } ?? [])
  }

  /// Whether the word can be one of a filter's, and not the value of an option.
  var wantsFilter: Bool {
    wanted.contains { wanted in
      guard case .value(let argument) = wanted else { return false }
      return argument.kind == .positional && argument.valueName == "filter"
    }
  }

  /// The options that may still be given.
  var options: [CommandDescription.Argument] {
    arguments.filter { argument in
      argument.kind != .positional && (argument.isRepeating || given.isDisjoint(with: argument.spellings))
    }
  }

  /// Follows the names of commands; returns the other words.
  private mutating func findCommand(in words: [String]) -> [String] {
    guard let index = GlobalOptions.indexOfCommand(in: words) else { return words }
    var rest = words
    if rest[index] == "help" { rest.remove(at: index) }
    while index < rest.count, CommandDescription(of: commandPath + [rest[index]]) != nil {
      commandPath.append(rest.remove(at: index))
    }
    return rest
  }

  /// The names of the command's options.
  var optionNames: [String] { arguments.flatMap(\.spellings) }

  private func findUnknownOption(in words: [String]) -> String? {
    var isValue = false
    for word in words {
      if !isValue, word.hasPrefix("-"), word.count > 1 {
        let name = String(word.hasPrefix("--") ? word.prefix { $0 != "=" } : word.prefix(2))
        if !optionNames.contains(name), !Self.parserOptions.contains(name) { return name }
      }
      isValue = !isValue && valueOption(word) != nil
    }
    return nil
  }

  /// What the parser itself understands.
  private static let parserOptions: Set = [
    "-h", "--help", "--help-hidden", "--version", "--experimental-dump-help", CompletionScript.option,
  ]

  private func valueOption(_ word: String) -> CommandDescription.Argument? {
    arguments.first { $0.kind == .option && $0.spellings.contains(word) }
  }

  private func positionalCount(of words: [String]) -> Int {
    var (count, isValue) = (0, false)
    for word in words {
      if isValue {
        isValue = false
      } else if word.hasPrefix("-"), word != "-" {
        isValue = valueOption(word) != nil
      } else {
        count += 1
      }
    }
    return count
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
