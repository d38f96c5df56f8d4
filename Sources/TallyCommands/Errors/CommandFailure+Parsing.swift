import ArgumentParser

extension CommandFailure {
  /// An error the argument parser threw.
  init(parsing error: any Error, arguments: [String]) {
    if let unknown = Self.unknownCommand(in: arguments) {
      self = unknown
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

  /// The failure where the first word that is no option, or the one after `help`, is no command.
  ///
  /// The parser hands such a word to the default command, which then complains about an argument too many; after
  /// `help` it passes it over.
  static func unknownCommand(in arguments: [String]) -> CommandFailure? {
    var rest = arguments[...]
    while let argument = rest.popFirst(), argument != "--" {
      if argument.hasPrefix("-") {
        if GlobalOptions.namesWithValue.contains(argument) { rest = rest.dropFirst() }
      } else if !RootCommand.commandNames.contains(argument) {
        return CommandFailure(unknownCommand: argument)
      } else if argument != "help" {
        return nil
      }
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
