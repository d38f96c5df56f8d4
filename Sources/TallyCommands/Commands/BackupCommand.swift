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
      Others may use the store meanwhile. The copy is verified before it takes the file's name, and the place of an \
      older one; only its owner may read it. 'tally restore' takes it back.

      With --plain, prints a line with these columns: file, storeID, sequence, tasks, lists, completions, bytes.

      EXAMPLES
        tally backup ~/backups/tasks.mdb
      """
  )

  @Argument(help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
  var file: String

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let store = try session.existingStoreForReading()
    let summary = try Signals.deferringInterruption {
      try session.withVerificationProgress("Verifying") { try store.backup(to: FilePath(file), progress: $0) }
    }
    switch session.options.format {
    case .json:
      try session.output.write(
        TerminalSafeJSON.line { json in
          json.object { json in
            json.member("file", file)
            json.members(of: summary)
          }
        }
      )
    case .plain: try session.output.write(PlainRecords.line([file] + summary.plainFields))
    case .human:
      try session.output.write(file.escapedForDisplay() + "\n")
      session.say("Backed up \(summary.inWords); take it back with 'tally restore'.")
    }
  }
}

extension BackupSummary {
  /// The fields of a record of `--plain`.
  var plainFields: [String] {
    [storeID.text, String(sequence)] + [taskCount, listCount, completionCount].map { String($0) }
      + [String(sizeInBytes)]
  }

  /// What is in it, for a person.
  var inWords: String {
    "\(taskCount.counted("task")), \(listCount.counted("list")) and \(completionCount.counted("completion"))"
  }
}

extension JSONWriter {
  /// Writes the members that tell what a backup holds.
  mutating func members(of summary: BackupSummary) {
    member("storeID", summary.storeID)
    member("sequence", Int64(summary.sequence))
    member("tasks", summary.taskCount)
    member("lists", summary.listCount)
    member("completions", summary.completionCount)
    member("bytes", summary.sizeInBytes)
  }
}
