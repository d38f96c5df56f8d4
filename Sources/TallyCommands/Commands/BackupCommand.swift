import ArgumentParser
import SystemPackage
import Tally

/// `tally backup FILE`.
struct BackupCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the whole store into one file.",
    usage: "tally backup <file> [<options>]",
    discussion: """
      Other processes can use the store meanwhile. The copy is verified before it replaces a file of that name; only \
      its owner may read it. Use 'tally restore' to restore it.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally backup ~/backups/tasks.mdb
      """
  )

  private static let columns = ["file"] + BackupSummary.columns

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var file: String

  func run(in session: Session) throws {
    let store = try session.openStore(for: .copying)
    let summary = try Signals.deferringInterruption {
      try session.withVerificationProgress { try store.backup(to: FilePath(file), progress: $0) }
    }
    let facts = (["file": .text(file)] as Facts).adding(summary.facts)
    try session.answer(facts, plain: .record(Self.columns)) {
      try session.output.write(file.escapedForDisplay() + "\n")
      session.say("Backed up \(summary.inWords).")
      session.say(session.offer(.init(purpose: "To restore it", command: "restore \(file.shellQuoted)")))
    }
  }
}

extension BackupSummary {
  /// The columns of a record of `--plain`.
  static let columns = ["storeID", "sequence", "tasks", "lists", "completions", "bytes"]

  var facts: Facts {
    [
      "storeID": .id(storeID), "sequence": .integer(Int64(sequence)), "tasks": .count(taskCount),
      "lists": .count(listCount), "completions": .count(completionCount), "bytes": .integer(sizeInBytes),
    ]
  }

  /// Its contents, for a person.
  var inWords: String {
    "\(taskCount.counted("task")), \(listCount.counted("list")) and \(completionCount.counted("completion"))"
  }
}
