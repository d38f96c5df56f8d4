import ArgumentParser

extension CommandFailure {
  /// An error the argument parser threw.
  init(parsing error: any Error, arguments: [String]) {
    if let word = Self.unknownCommand(in: arguments) {
      self.init(unknownCommand: word)
      return
    }
    let lines = RootCommand.fullMessage(for: error).split(separator: "\n")
    let usage = lines.first { $0.hasPrefix("Usage: ") }.map { "; usage: \($0.dropFirst(7))" } ?? ""
    // The parser ends with "See 'tally add --help' for more information."
    let help = lines.last { $0.contains("See '") }?.split(separator: "'").dropFirst().first ?? "tally --help"
    let message = RootCommand.message(for: error)
    self = .usage(
      message.isEmpty ? "The arguments cannot be understood" : message,
      remedy: "Run '\(help)' for more information\(usage)"
    )
  }

  private init(unknownCommand word: String) {
    let near = word.nearNames(among: RootCommand.commandNames)
    let guess = near.isEmpty ? "" : "Did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))? "
    self.init(
      .usage,
      code: "unknownCommand",
      "There is no command '\(word.escapedForDisplay())'",
      remedy: "\(guess)Run 'tally --help' for the list of commands"
    )
  }

  /// The first word that is no option, where it is no command either.
  ///
  /// The parser hands it to the default command, which then complains about an argument too many.
  private static func unknownCommand(in arguments: [String]) -> String? {
    var rest = arguments[...]
    while let argument = rest.popFirst(), argument != "--" {
      guard argument.hasPrefix("-") else { return RootCommand.commandNames.contains(argument) ? nil : argument }
      if GlobalOptions.namesWithValue.contains(argument) { rest = rest.dropFirst() }
    }
    return nil
  }
}

extension RootCommand {
  /// The names the first argument may have.
  static var commandNames: [String] {
    configuration.subcommands.map { $0._commandName } + ["help"]
  }
}
