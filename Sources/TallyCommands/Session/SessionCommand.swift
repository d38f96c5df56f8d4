import ArgumentParser

/// A command that is run with a session: clock, calendar, store and streams made ready.
protocol SessionCommand: ParsableCommand {
  var global: GlobalOptions { get }
  /// Whether an argument is text that people choose, as a title or a list's name, and may begin with a dash.
  static var takesText: Bool { get }

  func run(in session: Session) throws
}

extension SessionCommand {
  static var takesText: Bool { false }
}
