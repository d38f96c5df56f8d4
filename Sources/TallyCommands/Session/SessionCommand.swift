import ArgumentParser

/// A command that is run with a session: clock, calendar, store and streams made ready.
protocol SessionCommand: ParsableCommand {
  var global: GlobalOptions { get }

  func run(in session: Session) throws
}
