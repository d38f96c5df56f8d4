import ArgumentParser
import SystemPackage
import Tally

/// `tally restore FILE`.
struct RestoreCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replace the store with a backup.",
    usage: "tally restore <file> [<options>]",
    discussion: """
      The file is verified first; a damaged file, or one that is not a backup, leaves the store untouched. The previous \
      store is kept beside the new one, in a file whose path is printed, and can be restored in turn. No other \
      process may have the store open.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally restore ~/backups/tasks.mdb
      """
  )

  private static let columns = ["keptFile"] + BackupSummary.columns

  @Argument(help: ArgumentHelp("A file written by 'tally backup'.", valueName: "file"), completion: .file())
  var file: String

  func run(in session: Session) throws {
    let summary = try Signals.deferringInterruption {
      try session.withVerificationProgress { progress in
        try TaskStore.restore(
          from: FilePath(file), to: session.storePath, configuration: session.configuration, progress: progress)
      }
    }
    let kept = summary.safetyCopy?.string
    let facts = (["keptFile": .text(kept)] as Facts).adding(summary.restored.facts)
    try session.answer(facts, plain: .record(Self.columns)) {
      session.say("Restored \(summary.restored.inWords).")
      guard let kept else { return }
      session.say("Kept the previous store: \(kept.escapedForDisplay())")
      session.say(session.offer(.restore(file: kept)))
    }
  }
}
