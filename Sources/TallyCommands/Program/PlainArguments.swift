import ArgumentParser
import Tally
import TallyFormats

/// Arguments in their commonest form: options by their whole names, each with its value as the next word, before, after
/// and between other words.
///
/// The parser finds the arguments of a command by reflection, and each type that it looks at for the first time makes
/// the runtime search all conformances of the program. That takes longer than most commands do. The table holds the
/// parser's results, so plain arguments are read by the table, and a command decodes itself from them. All else is left
/// to the parser: `--name=value`, values that begin with a dash, and everything that is to be refused. A test compares
/// both for all commands.
struct PlainArguments {
  /// An argument that a command takes, and the words that were given for it.
  fileprivate typealias ArgumentWords = (argument: CommandDescription.Argument, words: [String])

  /// The arguments that the command takes, in the order in which its properties are declared.
  private let all: [ArgumentWords]

  /// Assigns words, without the command's name, to the arguments; `nil` if only the parser can read them.
  private init?(_ words: [String], for arguments: [CommandDescription.Argument]) {
    var given = arguments.map { (argument: $0, words: [String]()) }
    var rest: [String] = []
    var next = words.startIndex
    while next < words.endIndex {
      let word = words[next]
      next += 1
      guard word.hasPrefix("-") else {
        rest.append(word)
        continue
      }
      guard let index = arguments.firstIndex(where: { $0.spellings.contains(word) }) else { return nil }
      if arguments[index].kind == .option {
        guard next < words.endIndex, !words[next].hasPrefix("-") else { return nil }
        given[index].words.append(words[next])
        next += 1
      } else {
        given[index].words.append(word)
      }
    }
    var left = rest[...]
    for index in arguments.indices where arguments[index].kind == .positional {
      given[index].words = Array(left.prefix(arguments[index].isRepeating ? left.count : 1))
      left = left.dropFirst(given[index].words.count)
    }
    guard left.isEmpty else { return nil }
    all = given
  }

  /// The command with its options; `nil` if only the parser can read them.
  static func read<Own: SessionCommand>(
    _ command: Own.Type, named name: String, from words: [String]
  ) -> ParsedCommand? {
    guard let description = CommandDescription(of: [name]), let program = CommandDescription(of: []),
      let arguments = PlainArguments(words, for: description.ownArguments + program.ownArguments)
    else { return nil }
    let properties = PlainProperties(arguments.all)
    guard let own = try? properties.options(Own.self), let global = try? properties.options(GlobalOptions.self),
      properties.areRead
    else { return nil }
    return ParsedCommand(words: [name], own: own, global: global)
  }

  /// Whether the arguments ask for the version and for nothing else.
  static func isVersion(_ words: [String]) -> Bool {
    if words == ["--version"] { return true }
    guard words.contains("--version"), let program = CommandDescription(of: []),
      let arguments = PlainArguments(words, for: [.version] + program.ownArguments), arguments.all[0].words.count == 1
    else { return false }
    return (try? PlainProperties(Array(arguments.all.dropFirst())).options(GlobalOptions.self)) != nil
  }
}

/// Decodes each property of a command from the words that were given for it.
///
/// Properties are decoded in the order of their declaration, which is the table's. A property of a type that is missing
/// below needs the parser, and so does its command.
private final class PlainProperties: Decoder {
  /// The arguments cannot be read without the parser.
  private struct NeedsParser: Error {}

  fileprivate typealias ArgumentWords = PlainArguments.ArgumentWords

  private var rest: ArraySlice<ArgumentWords>
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ given: [ArgumentWords]) { rest = given[...] }

  /// Whether every argument has become a property.
  var areRead: Bool { rest.isEmpty }

  /// Options with their properties, if they are valid.
  func options<Options: ParsableArguments>(_ type: Options.Type) throws -> Options {
    var options = try Options(from: self)
    try options.validate()
    return options
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container(properties: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NeedsParser() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NeedsParser() }

  /// The next property.
  ///
  /// By the types themselves: asking for a protocol would search the conformances of the program.
  fileprivate func property(_ type: Any.Type) throws -> Any {
    switch type {
    case is Flag<Bool>.Type: try flag()
    case is Option<String>.Type: try option(String.self)
    case is Option<String?>.Type: try optionalOption(String.self)
    case is Option<[String]>.Type: try options(String.self)
    case is Option<Int?>.Type: try optionalOption(Int.self)
    case is Option<UInt16?>.Type: try optionalOption(UInt16.self)
    case is Option<WeekStart?>.Type: try optionalOption(WeekStart.self)
    case is Option<TaskOrder>.Type: try option(TaskOrder.self)
    case is Option<Series.Unit>.Type: try option(Series.Unit.self)
    case is Option<DateOrder?>.Type: try optionalOption(DateOrder.self)
    case is Option<DocumentFormat?>.Type: try optionalOption(DocumentFormat.self)
    case is Option<ExportedFormat?>.Type: try optionalOption(ExportedFormat.self)
    case is Argument<String>.Type: try argument(String.self)
    case is Argument<String?>.Type: try optionalArgument(String.self)
    case is Argument<[String]>.Type: try arguments(String.self)
    case is OptionGroup<FieldOptions>.Type: try group(FieldOptions.self)
    case is OptionGroup<TaskSelection>.Type: try group(TaskSelection.self)
    case is OptionGroup<FilterOptions>.Type: try group(FilterOptions.self)
    case is OptionGroup<CompletionOptions>.Type: try group(CompletionOptions.self)
    case is OptionGroup<ViewOptions>.Type: try group(ViewOptions.self)
    case is OptionGroup<LimitOption>.Type: try group(LimitOption.self)
    case is OptionGroup<QueryOptions>.Type: try group(QueryOptions.self)
    case is OptionGroup<WaitingOption>.Type: try group(WaitingOption.self)
    default: throw NeedsParser()
    }
  }
}

extension PlainProperties {
  private func filled<Property>(_ property: Property, _ fill: (inout Property) throws -> Void) rethrows -> Property {
    var property = property
    try fill(&property)
    return property
  }

  private func group<Options: ParsableArguments>(_ type: Options.Type) throws -> OptionGroup<Options> {
    try filled(OptionGroup()) { $0.wrappedValue = try options(type) }
  }

  private func flag() throws -> Flag<Bool> {
    let words = try next(.flag).words
    guard words.count <= 1 else { throw NeedsParser() }
    return filled(Flag(wrappedValue: false)) { $0.wrappedValue = !words.isEmpty }
  }

  private func option<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Option<Value> {
    try filled(Option()) { $0.wrappedValue = try required(value(of: next(.option))) }
  }

  private func optionalOption<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Option<Value?> {
    try filled(Option()) { $0.wrappedValue = try value(of: next(.option)) }
  }

  private func options<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Option<[Value]> {
    try filled(Option()) { $0.wrappedValue = try values(of: next(.option)) }
  }

  private func argument<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Argument<Value> {
    try filled(Argument()) { $0.wrappedValue = try required(value(of: next(.positional))) }
  }

  private func optionalArgument<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Argument<Value?> {
    try filled(Argument()) { $0.wrappedValue = try value(of: next(.positional)) }
  }

  private func arguments<Value: ExpressibleByArgument>(_ type: Value.Type) throws -> Argument<[Value]> {
    try filled(Argument()) { $0.wrappedValue = try values(of: next(.positional)) }
  }

  private func next(_ kind: CommandDescription.Argument.Kind) throws -> ArgumentWords {
    guard let next = rest.popFirst(), next.argument.kind == kind else { throw NeedsParser() }
    return next
  }

  /// The value that was given once, or the default; `nil` without either.
  private func value<Value: ExpressibleByArgument>(of given: ArgumentWords) throws -> Value? {
    guard given.words.count <= 1 else { throw NeedsParser() }
    guard let text = given.words.first ?? given.argument.defaultValue else { return nil }
    return try required(Value(argument: text))
  }

  private func values<Value: ExpressibleByArgument>(of given: ArgumentWords) throws -> [Value] {
    guard !given.words.isEmpty || !given.argument.isRequired else { throw NeedsParser() }
    return try given.words.map { try required(Value(argument: $0)) }
  }

  private func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw NeedsParser() }
    return value
  }

  /// The properties of a command or of a group of options, whose types are all wrappers of the parser.
  private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let properties: PlainProperties

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func decode<Property: Decodable>(_ type: Property.Type, forKey key: Key) throws -> Property {
      guard let property = try properties.property(type) as? Property else { throw NeedsParser() }
      return property
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { throw NeedsParser() }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw NeedsParser() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw NeedsParser() }
    func superDecoder() throws -> any Decoder { throw NeedsParser() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw NeedsParser() }
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
  private static let mostWithoutDividing = 128
  /// More options than anybody writes.
  private static let mostForParser = 1_024

  /// - Parameter arguments: All arguments, with the command's name.
  /// - Throws: ``CommandFailure`` for more options than the parser can read.
  init(_ arguments: [String]) throws {
    few = arguments
    guard arguments.count > Self.mostWithoutDividing else { return }
    divide(arguments)
    guard few.count <= Self.mostForParser else {
      throw CommandFailure.usage(
        "There are \(few.count) arguments that are not plain words, more than \(Self.mostForParser)",
        remedy: "Run the command several times, with some of them each")
    }
  }

  /// Adds the words that were set aside to the parsed command, which takes many words.
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
    guard let name = GlobalOptions.indexOfCommand(in: arguments), arguments[name] != "help" else { return }
    let question = CompletionQuestion(words: Array(arguments.prefix(name + 2)), prefix: "")
    guard question.positionals.last?.isRepeating == true, RootCommand.takesManyWords(question.commandPath) else {
      return
    }
    var left = question.positionals.count
    let start = name + question.commandPath.count
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
      isValue = isOption && question.takesValue(word)
    }
  }
}
