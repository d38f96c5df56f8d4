import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallyFormats
import TallySystem

/// `tally import FILE|-`.
struct ImportCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import the tasks of a file, all of them or none.",
    usage: "tally import <file>|- [--format <format>] [--dry-run] [--lenient] [--overwrite] [<options>]",
    discussion: """
      Tasks are matched by id: new ones are added, older ones are changed, the rest is left alone. The newer change of a \
      task wins, a completion is never undone, and a deletion here after the file was written stands; \
      --overwrite does as the file says. --dry-run lists each task that would change or would be kept. Nothing is \
      deleted. In ndjson only the text is required; a task without an id is added each time.

      FORMAT is json, ndjson, taskwarrior, todotxt, ical, csv, markdown or todoist. Without --format, it is guessed from \
      the file's extension and contents. Formats without ids are matched by their contents, so that importing a file \
      twice changes nothing.

      With --plain, prints a line with these columns: \(ImportReport.columns.joined(separator: ", ")).

      EXAMPLES
        tally import backup.json --dry-run
        task export | tally import -
        curl -s https://example.com/tasks.ndjson | tally import - --format ndjson
      """
  )

  @Argument(help: ArgumentHelp("The file, or '-' for standard input.", valueName: "file"), completion: .file())
  var file: String

  @Option(help: DocumentFormat.help)
  var format: DocumentFormat?

  @Flag(help: "Report what would change, and change nothing.")
  var dryRun = false

  @Flag(help: "Ignore keys that the format does not define.")
  var lenient = false

  @Flag(help: "Do as the file says, even where the store has something newer.")
  var overwrite = false

  func run(in session: Session) throws {
    let input = file == "-" ? session.invocation.input : try Self.open(FilePath(file))
    defer { if file != "-" { try? input.close() } }
    // Opened after the input, so that a mistake in a file's name creates no store.
    if dryRun {
      try importDocument(input, into: session.openStore(for: .reading), session)
    } else {
      // A pipe may be slow, and Ctrl-C also ends the program that writes to it. So the pipe is read to its end before the
      // store is created: an interruption would leave a store without tasks.
      let hasStore = FileManager.default.fileExists(atPath: session.storePath.appending("data.mdb").string)
      let document = try hasStore ? nil : ReplayableInput(input, copyingPipesTo: Self.temporaryDirectory)
      try session.withStoreForAdding { store, isNew in
        let run = { try importDocument(document?.descriptor ?? input, into: store, session) }
        // An interrupted import removes the store that it created.
        try isNew && document != nil ? Signals.deferringInterruption(run) : run()
      }
      withExtendedLifetime(document) {}
    }
  }

  private func importDocument(_ input: FileDescriptor, into store: TaskStore, _ session: Session) throws {
    var affected: [ImportedRecord] = []
    let summary = try session.withProgress(dryRun ? "Reading" : "Importing") { progress in
      try store.importDocument(
        from: input,
        as: format,
        named: file,
        options: ImportOptions(
          isDryRun: dryRun, isLenient: lenient, overwrites: overwrite, actionName: session.commandName),
        progress: progress,
        report: { affected.append($0) }
      )
    }
    try ImportReport(summary: summary, affected: affected).print(in: session, store)
    if !dryRun { try updateSearchIndex(of: store, session) }
  }

  /// Makes searches as fast as before: otherwise they would be slow until some hundred changes have followed.
  private func updateSearchIndex(of store: TaskStore, _ session: Session) throws {
    do {
      try session.wait { try await TaskStore.perform { try store.updateSearchIndex() } }
    } catch let error as TallyError where error.code == .cancelled {
      // The import has succeeded all the same.
    }
  }
}

extension ImportCommand {
  private static var temporaryDirectory: FilePath { FilePath(FileManager.default.temporaryDirectory.path) }

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
}
