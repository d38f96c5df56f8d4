import ArgumentParser
import Tally

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
    let message = Self.unknownOption(in: arguments) ?? Self.inOneSentence(RootCommand.message(for: error))
    self = .usage(
      message.isEmpty ? "The arguments cannot be parsed" : message,
      remedy: "\(Self.dashedText(in: arguments, refusedBy: message))Run '\(help)' for more information\(usage)")
  }

  /// An error that a command found in its arguments.
  init(refusing command: ParsedCommand, _ error: any Error) {
    let words = (["tally"] + command.words).joined(separator: " ")
    let usage = type(of: command.own).configuration.usage?.split(separator: "\n").first.map { "; usage: \($0)" } ?? ""
    self = .usage(
      (error as? ValidationError)?.message ?? "\(error)",
      remedy: "Run '\(words) --help' for more information\(usage)")
  }

  /// The message with the values of an option in a row; the parser lists them below each other.
  private static func inOneSentence(_ message: String) -> String {
    let parts = message.split(separator: "\n  - ").map(String.init)
    guard parts.count > 2, let last = parts.last, let end = parts[0].firstRange(of: "Please provide one of") else {
      return message
    }
    return "\(parts[0][..<end.lowerBound])Write \(parts[1..<(parts.count - 1)].joined(separator: ", ")) or \(last)"
  }

  /// The message about an unknown option, where the parser complains about something else first: in `tally add --urgent`,
  /// where the title is missing as well, and in `tally edit 7f3a --owner me`, where two things are.
  private static func unknownOption(in arguments: [String]) -> String? {
    let arguments = FilterOptions.spelledOut(arguments)
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    let question = CompletionQuestion(words: Array(arguments[..<end]), prefix: "")
    guard let option = question.unknownOption else { return nil }
    // Two letters are near to any other two.
    let names = option.hasPrefix("--") ? question.optionNames : []
    let near = option.nearNames(among: names, limit: 1).first.map { ". Did you mean '\($0)'?" } ?? ""
    return "\(unknownOptionMessage) '\(option.escapedForDisplay())'\(near)"
  }

  /// The remedy for an unknown option that the command would take as text.
  private static func dashedText(in arguments: [String], refusedBy message: String) -> String {
    guard message.hasPrefix(unknownOptionMessage) else { return "" }
    // Each attempt parses all arguments. People who write more dashed words have not just forgotten the two dashes.
    let text = arguments.indices.filter { arguments[$0].hasPrefix("-") }.prefix(8).first { index in
      var others = arguments
      let word = others.remove(at: index)
      let command = try? RootCommand.parseAsRoot(others + ["--", word]) as? any CompleteCommand
      return command?.own is any TextCommand
    }
    return text.map { "If '\(arguments[$0].escapedForDisplay())' is text, put it after '--'. " } ?? ""
  }

  private static let unknownOptionMessage = "Unknown option"

  private init(unknownCommand word: String) {
    let meant = CommandSynonyms.meanings[word.lowercased(), default: []]
    let near = meant.isEmpty ? word.nearNames(among: CommandDescription.commandNames) : meant
    let guess = near.isEmpty ? "" : "Did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))? "
    self = .usage(
      "There is no command '\(word.escapedForDisplay())'", code: "unknownCommand",
      remedy: "\(guess)Run 'tally --help --all' for the list of commands")
  }

  /// The failure where the first word that is not an option, or the one after `help`, is not a command.
  ///
  /// The parser passes such a word to the default command, which then complains about an unexpected argument; after
  /// `help` it ignores it.
  static func unknownCommand(in arguments: [String]) -> CommandFailure? {
    guard let index = GlobalOptions.indexOfCommand(in: arguments) else { return nil }
    guard CommandDescription.commandNames.contains(arguments[index]) else {
      return CommandFailure(unknownCommand: arguments[index])
    }
    return arguments[index] == "help" ? unknownCommand(in: Array(arguments[(index + 1)...])) : nil
  }
}

/// Commands with their arguments, by the words that other programs and people use for them.
enum CommandSynonyms {
  static let meanings: [String: [String]] = [
    "abandon": ["cancel"], "abort": ["cancel"],
    "annotate": ["edit HANDLE --notes TEXT"], "append": ["edit HANDLE --notes TEXT"], "begin": ["start"],
    "cal": ["upcoming", "due DAY"], "calendar": ["upcoming", "due DAY"],
    "check": ["verify", "done"], "close": ["done", "cancel"],
    "complete": ["done"], "context": ["filter NAME", "config default-list"], "copy": ["add"], "create": ["add"],
    "defer": ["edit HANDLE --wait DAY", "snooze"], "del": ["delete"], "drop": ["cancel"], "dump": ["export"],
    "duplicate": ["add"],
    "erase": ["delete"],
    "finish": ["done"], "finished": ["completed"], "fsck": ["verify"], "grep": ["search"], "late": ["overdue"],
    "load": ["import"], "ls": ["list", "lists"], "mark": ["done"], "modify": ["edit"], "mv": ["move"], "new": ["add"],
    "note": ["edit HANDLE --notes TEXT"],
    "notify": ["remind"], "plan": ["move"], "postpone": ["snooze"], "preferences": ["config"], "project": ["list"],
    "projects": ["lists"], "query": ["find"], "remove": ["delete"], "report": ["stats"],
    "restart": ["reopen"], "revert": ["undo"], "rm": ["delete"], "save": ["export", "backup"], "schedule": ["move"],
    "set": ["edit", "config"], "settings": ["config"],
    "someday": ["edit HANDLE --wait someday"], "stop": ["reopen"], "summary": ["stats"], "task": ["show"],
    "tick": ["done"],
    "todo": ["add"], "trash": ["delete"], "uncomplete": ["reopen"], "undone": ["reopen"], "vacuum": ["compact"],
    "version": ["--version"],
    "view": ["show"], "wait": ["edit HANDLE --wait DAY", "snooze"], "week": ["upcoming"],
    "wontdo": ["cancel"],
  ]
}
