import ArgumentParser

/// A command: its own arguments, and what it does with a session.
protocol SessionCommand: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  /// Whether an argument is free text, such as a title or a list's name, which may begin with a dash.
  static var takesText: Bool { get }
  /// Whether the store must know with which day a week begins.
  ///
  /// Loading the locale to know would cost every command milliseconds.
  var countsWeeks: Bool { get }

  /// The argument that takes any number of words; `nil` for a command without one.
  static var manyWords: WritableKeyPath<Self, [String]>? { get }

  /// Checks what several arguments decide together.
  ///
  /// Called once all arguments are known to exist: the parser's own `validate()` would complain before it names an unknown
  /// option.
  ///
  /// - Throws: `ValidationError`.
  func validate(with global: GlobalOptions) throws
  func run(in session: Session) throws
}

extension SessionCommand {
  static var takesText: Bool { false }
  var countsWeeks: Bool { false }
  static var manyWords: WritableKeyPath<Self, [String]>? { nil }
  func validate(with global: GlobalOptions) throws {}
}

/// A command that was given: its own arguments, and the options that every command takes.
struct ParsedCommand {
  /// The words that name it.
  let words: [String]
  let own: any SessionCommand
  let global: GlobalOptions
}

/// A command as the parser knows it.
protocol CompleteCommand: ParsableCommand {
  associatedtype Own: SessionCommand
  var own: Own { get }
  var global: GlobalOptions { get }
}

extension CompleteCommand {
  var parsed: ParsedCommand { ParsedCommand(words: RootCommand.words(naming: Self.self), own: own, global: global) }
}

/// A command's own arguments, then the options that every command takes.
struct WithGlobalOptions<Own: SessionCommand>: CompleteCommand {
  static var configuration: CommandConfiguration { Own.configuration }

  @OptionGroup
  var own: Own

  // Named in one line below the command's own options (see `GlobalOptions.helpLine`).
  @OptionGroup(visibility: .hidden)
  var global: GlobalOptions
}

/// The commands, each with the options that every command takes.
func withGlobalOptions(_ commands: [any SessionCommand.Type]) -> [any ParsableCommand.Type] {
  func complete<Own: SessionCommand>(_ command: Own.Type) -> any ParsableCommand.Type { WithGlobalOptions<Own>.self }
  return commands.map { complete($0) }
}
