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
