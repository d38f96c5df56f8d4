import ArgumentParser
import Foundation
import Tally

/// `tally undo [N|CHANGE]`.
struct UndoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undo the last change, the last N, or one of them.",
    usage: "tally undo [<n>|<change>] [--dry-run] [<options>]",
    discussion: """
      Undoes the last change to the store, from any program: tasks, lists, their order and the statistics return to \
      their previous state. Run it again to undo the change before that; 'tally redo' reverses an undo. About a thousand \
      changes are kept; 'tally history' lists them with their numbers.

      EXAMPLES
        tally undo
        tally undo 3
        tally undo 42.0
      """
  )

  @Argument(help: ArgumentHelp("How many changes, or the number of one, see 'tally history'.", valueName: "n"))
  var what: String?

  @Flag(help: "Report what would be undone, and change nothing.")
  var dryRun = false

  func validate(with global: GlobalOptions) throws { _ = try Reversal.Extent(what) }

  func run(in session: Session) throws {
    let reversal = Reversal(
      verb: dryRun ? "Would undo" : "Undid", participle: "undone", remedy: .redo, clock: session.clock)
    let extent = try Reversal.Extent(what)
    try session.write(isDryRun: dryRun) { transaction in
      var report = try reversal.report(on: extent, in: &transaction) { try $0.undo() }
      report.details = ["dryRun": .flag(dryRun)]
      return report
    }
  }
}

/// `tally redo [N]`.
struct RedoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Redo the last undone change, or the last N.",
    usage: "tally redo [<n>] [<options>]",
    discussion: "Works until something else is changed."
  )

  @Argument(help: ArgumentHelp("How many changes.", valueName: "n"))
  var what: String?

  func validate(with global: GlobalOptions) throws { _ = try Reversal.Extent(what) }

  func run(in session: Session) throws {
    let reversal = Reversal(
      verb: "Redid", participle: "redone", remedy: .undo, clock: session.clock)
    let extent = try Reversal.Extent(what)
    guard case .last = extent else {
      throw CommandFailure.usage("'tally redo' takes a number of changes", remedy: "Give a number as in 'tally redo 2'")
    }
    try session.write { try reversal.report(on: extent, in: &$0) { try $0.redo() } }
  }
}
