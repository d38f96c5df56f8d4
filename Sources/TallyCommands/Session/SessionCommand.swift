import ArgumentParser

/// A command that is run with a session.
protocol SessionCommand: ParsableCommand {
  var global: GlobalOptions { get }
  /// Whether an argument is free text, such as a title or a list's name, which may begin with a dash.
  static var takesText: Bool { get }

  func run(in session: Session) throws
}

extension SessionCommand {
  static var takesText: Bool { false }
}
