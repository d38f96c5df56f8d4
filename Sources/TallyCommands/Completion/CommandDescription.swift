/// A command and its arguments, as far as completion needs them.
///
/// The parser describes a command by reflection, as JSON: that takes longer than the rest of a completion. So
/// ``table`` keeps the descriptions, and a test compares them with the parser's.
struct CommandDescription: Equatable {
  struct Argument: Equatable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    let kind: Kind
    let isRepeating: Bool
    /// The names with their dashes, the long ones first.
    let spellings: [String]
    /// What the help calls the value.
    let valueName: String
    /// The only values there are; empty if others are allowed.
    let values: [String]
    let abstract: String
  }

  /// The words that name the command; none for the program and the options that every command takes.
  let path: [String]
  let abstract: String
  let arguments: [Argument]

  /// The description of a command; `nil` if the program does not have it.
  init?(of path: [String]) {
    let start = path.joined(separator: " ") + ":"
    guard let text = Self.table.first(where: { $0.hasPrefix(start) }) else { return nil }
    self.init(text: text)
  }

  /// The commands whose names are one word longer, in the order of the help.
  static func commands(below path: [String]) -> [CommandDescription] {
    table.filter { Self.path(of: $0).count == path.count + 1 && Self.path(of: $0).starts(with: path) }
      .map(CommandDescription.init(text:))
  }
}

extension CommandDescription {
  init(path: [String], abstract: String, arguments: [Argument]) {
    (self.path, self.abstract, self.arguments) = (path, abstract, arguments)
  }

  /// Reads an entry of the table: the command's name and abstract, then a line for each argument.
  private init(text: String) {
    let lines = text.split(separator: "\n")
    path = Self.path(of: text)
    abstract = String((lines.first ?? "").dropFirst(path.joined(separator: " ").count + 2))
    arguments = lines.dropFirst().compactMap(Argument.init) + [.help]
  }

  private static func path(of text: String) -> [String] {
    text.prefix { $0 != ":" }.split(separator: " ").map(String.init)
  }

  /// An entry of the table, without the argument that every command has.
  var text: String {
    let lines = arguments.filter { $0 != .help }.map(\.line)
    return (["\(path.joined(separator: " ")): \(abstract)"] + lines).joined(separator: "\n")
  }
}

extension CommandDescription.Argument {
  /// The last one of every command.
  fileprivate static let help = Self(
    kind: .flag, isRepeating: false, spellings: ["--help", "-h"], valueName: "", values: [],
    abstract: "Show help information.")

  /// Reads a line such as `option | --list -l | name | | Put it into this list.`; an asterisk follows the kind of one
  /// that may be given several times.
  fileprivate init?(line: Substring) {
    let fields = line.split(separator: " | ", maxSplits: 4, omittingEmptySubsequences: false)
    guard fields.count == 5, let kind = Kind(rawValue: String(fields[0].prefix { $0 != "*" })) else { return nil }
    self.init(
      kind: kind, isRepeating: fields[0].hasSuffix("*"), spellings: fields[1].split(separator: " ").map(String.init),
      valueName: String(fields[2]), values: fields[3].split(separator: " ").map(String.init),
      abstract: String(fields[4]))
  }

  fileprivate var line: String {
    let fields = [
      kind.rawValue + (isRepeating ? "*" : ""), spellings.joined(separator: " "), valueName,
      values.joined(separator: " "), abstract,
    ]
    return fields.joined(separator: " | ")
  }
}
