import ArgumentParser

/// A command: its own arguments, and what it does with a session.
protocol SessionCommand: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  /// Whether an argument is free text, such as a title or a list's name, which may begin with a dash.
  static var takesText: Bool { get }

  /// Checks what only the options of all commands and its own decide together.
  func validate(with global: GlobalOptions) throws
  func run(in session: Session) throws
}

extension SessionCommand {
  static var takesText: Bool { false }
  func validate(with global: GlobalOptions) throws {}
}

/// A command as the parser knows it.
protocol CompleteCommand: ParsableCommand {
  associatedtype Own: SessionCommand
  var own: Own { get }
  var global: GlobalOptions { get }
}

/// A command's own arguments, then the options that every command takes.
struct WithGlobalOptions<Own: SessionCommand>: CompleteCommand {
  static var configuration: CommandConfiguration { Own.configuration }

  @OptionGroup
  var own: Own

  @OptionGroup
  var global: GlobalOptions

  func validate() throws { try own.validate(with: global) }
}

/// The commands, each with the options that every command takes.
func withGlobalOptions(_ commands: [any SessionCommand.Type]) -> [any ParsableCommand.Type] {
  func complete<Own: SessionCommand>(_ command: Own.Type) -> any ParsableCommand.Type { WithGlobalOptions<Own>.self }
  return commands.map { complete($0) }
}
