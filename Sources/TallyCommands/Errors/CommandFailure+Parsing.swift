import ArgumentParser

extension CommandFailure {
  /// An error the argument parser threw.
  init(parsing error: any Error, arguments: [String]) {
    if let unknown = Self.unknownCommand(in: arguments) {
      self = unknown
      return
    }
    let error = Self.unknownOption(in: arguments, hiddenBy: error) ?? error
    let lines = RootCommand.fullMessage(for: error).split(separator: "\n")
    let usage = lines.first { $0.hasPrefix("Usage: ") }.map { "; usage: \($0.dropFirst(7))" } ?? ""
    // The parser ends with "See 'tally add --help' for more information."
    let help = lines.last { $0.contains("See '") }?.split(separator: "'").dropFirst().first ?? "tally --help"
    let message = RootCommand.message(for: error)
    self = .usage(
      message.isEmpty ? "The arguments cannot be parsed" : message,
      remedy: "\(Self.dashedText(in: arguments, refusedBy: message))Run '\(help)' for more information\(usage)")
  }

  /// The error of an unknown option, where the parser complains about a missing argument first: in `tally add --urgent`
  /// the option is what is wrong.
  private static func unknownOption(in arguments: [String], hiddenBy error: any Error) -> (any Error)? {
    guard RootCommand.message(for: error).hasPrefix("Missing expected argument") else { return nil }
    do {
      _ = try RootCommand.parseAsRoot(arguments + ["argument"])
      return nil
    } catch {
      return RootCommand.message(for: error).hasPrefix(unknownOptionMessage) ? error : nil
    }
  }

  /// What to do about an unknown option that the command would take as text.
  private static func dashedText(in arguments: [String], refusedBy message: String) -> String {
    guard message.hasPrefix(unknownOptionMessage) else { return "" }
    let text = arguments.indices.first { index in
      var others = arguments
      let word = others.remove(at: index)
      guard word.hasPrefix("-"), let command = try? RootCommand.parseAsRoot(others + ["--", word]) else { return false }
      return (command as? any CompleteCommand).map { type(of: $0.own).takesText } ?? false
    }
    return text.map { "If '\(arguments[$0].escapedForDisplay())' is text, put it after '--'. " } ?? ""
  }

  private static let unknownOptionMessage = "Unknown option"

  private init(unknownCommand word: String) {
    let near = word.nearNames(among: RootCommand.commandNames)
    let guess = near.isEmpty ? "" : "Did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))? "
    self = .usage(
      "There is no command '\(word.escapedForDisplay())'", code: "unknownCommand",
      remedy: "\(guess)Run 'tally --help' for the list of commands")
  }

  /// The failure where the first word that is not an option, or the one after `help`, is not a command.
  ///
  /// The parser passes such a word to the default command, which then complains about an unexpected argument; after
  /// `help` it ignores it.
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
  /// The names that the first argument may have.
  static var commandNames: [String] {
    commandPaths.filter { $0.count == 1 }.flatMap(\.self) + ["help"]
  }

  /// The words that name each command: one, or two for a subcommand.
  static var commandPaths: [[String]] {
    configuration.subcommands.flatMap { command in
      [[command._commandName]] + command.configuration.subcommands.map { [command._commandName, $0._commandName] }
    }
  }
}
