import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem

/// `tally import FILE|-`.
struct ImportCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import the tasks of a file, all of them or none.",
    usage: "tally import <file>|- [--format <format>] [--dry-run] [--lenient] [<options>]",
    discussion: """
      Tasks are matched by id: new ones are added, different ones are changed, equal ones are left alone. Nothing is \
      deleted. In ndjson only the text is required; a task without an id is added each time.

      With --plain, prints a line with these columns: added, changed, unchanged, the same three for lists, dryRun.

      EXAMPLES
        tally import backup.json --dry-run
        curl -s https://example.com/tasks.ndjson | tally import - --format ndjson
      """
  )

  @Argument(help: ArgumentHelp("The file, or '-' for standard input.", valueName: "file"), completion: .file())
  var file: String

  @Option(help: InterchangeFormat.help)
  var format: InterchangeFormat?

  @Flag(help: "Report what would change, and change nothing.")
  var dryRun = false

  @Flag(help: "Ignore keys that the format does not define.")
  var lenient = false

  func run(in session: Session) throws {
    let input = file == "-" ? session.invocation.input : try Self.open(FilePath(file))
    defer { if file != "-" { try? input.close() } }
    // Opened after the input, so that a mistake in a file's name creates no store.
    do {
      try importDocument(input, into: session.openStore(for: dryRun ? .reading : .changing), session)
    } catch let error as TallyError where error.code == .storeMissing {
      try importIntoNewStore(input, session)
    }
  }

  /// Creates the store for the import; if the import fails, the store is removed again.
  private func importIntoNewStore(_ input: FileDescriptor, _ session: Session) throws {
    let hadDirectory = FileManager.default.fileExists(atPath: session.storePath.string)
    let store = try session.openStore(for: .adding)
    do {
      try importDocument(input, into: store, session)
    } catch {
      try? store.close()
      TaskStore.removeUnused(
        at: session.storePath, configuration: session.configuration, leavingDirectory: hadDirectory)
      throw error
    }
  }

  private func importDocument(_ input: FileDescriptor, into store: TaskStore, _ session: Session) throws {
    let summary = try session.withProgress(dryRun ? "Reading" : "Importing") { progress in
      try store.importDocument(
        from: input,
        format: format ?? InterchangeFormat(of: file),
        options: ImportOptions(isDryRun: dryRun, isLenient: lenient),
        progress: progress
      )
    }
    try report(summary, session, store)
  }
}

extension ImportCommand {
  private static func open(_ file: FilePath) throws -> FileDescriptor {
    let unreadable = { (error: any Error) in
      CommandFailure(
        .inputUnreadable, code: "inputUnreadable", "'\(file.string.escapedForDisplay())' cannot be read: \(error)",
        remedy: "Check the path and its permissions")
    }
    return try CommandFailure.replacing(unreadable) {
      try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    }
  }

  private func report(_ summary: ImportSummary, _ session: Session, _ store: TaskStore) throws {
    let columns = [
      "added", "changed", "unchanged", "lists.added", "lists.changed", "lists.unchanged", "dryRun",
    ]
    try session.answer(summary.facts, plain: .record(columns)) {
      if summary.isDryRun {
        // This is the answer, not a message about a change.
        try session.output.write(Self.inWords(summary, "would be ") + "Nothing was changed.\n")
      } else {
        session.say(Self.inWords(summary, "") + (try lastWord(summary, session, store)))
      }
    }
  }

  private func lastWord(_ summary: ImportSummary, _ session: Session, _ store: TaskStore) throws -> String {
    let changeCount = [summary.tasks, summary.lists, summary.completions].reduce(0) { $0 + $1.added + $1.changed }
    if changeCount == 0 { return "Nothing was changed." }
    // Another process may have changed something meanwhile; undo then says what it undoes.
    return try store.read { try $0.undoableChange } != nil
      ? session.offer(.undo)
      : "This import was too large to undo; --dry-run shows beforehand what an import would do."
  }

  private static func inWords(_ summary: ImportSummary, _ mood: String) -> String {
    func line(_ noun: String, _ counts: ImportSummary.Counts) -> String {
      "\(noun): \(counts.added.grouped) \(mood)added, \(counts.changed.grouped) \(mood)changed, "
        + "\(counts.unchanged.grouped) unchanged\n"
    }
    func lineIfAny(_ noun: String, _ counts: ImportSummary.Counts) -> String {
      counts.added + counts.changed + counts.unchanged == 0 ? "" : line(noun, counts)
    }
    return line("Tasks", summary.tasks) + lineIfAny("Lists", summary.lists)
      + lineIfAny("Completions of deleted or moved tasks", summary.completions)
  }
}

extension ImportSummary {
  fileprivate var facts: Facts {
    tasks.facts.adding(["lists": lists.facts, "dryRun": .flag(isDryRun)])
  }
}

extension ImportSummary.Counts {
  fileprivate var facts: Facts {
    ["added": .count(added), "changed": .count(changed), "unchanged": .count(unchanged)]
  }
}
