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
    usage: """
      tally import <file>|- [--format <format>] [--dry-run] [--strict] [--overwrite] [--source <name>] \
      [--date-order <order>] [--completed-on <day>] [<options>]
      """,
    discussion: """
      Tasks are matched by id: new ones are added, older ones are changed, the rest is left alone. The newer change of a \
      task wins, a completion is never undone, and a deletion here after the file was written stands; \
      --overwrite does as the file says. --dry-run lists each task that would change or would be kept. Nothing is \
      deleted. In ndjson only the text is required; a task without an id is added each time.

      FORMAT is json, ndjson, taskwarrior, todotxt, ical, csv, markdown, todoist, ticktick or org. Without --format, it \
      is guessed from the file's extension and contents. Formats without ids are matched by their contents and the \
      file's name, so that importing a file twice changes nothing; --source gives another name than the file's, as when \
      it was renamed.

      A value of another program that is not understood costs only itself: it is kept as an attribute where that is \
      possible, and the import ends with what was not understood, by kind, with an example and its line. \
      --strict refuses the file instead. Dates such as 3/4/2026 are read by --date-order, by the setting date-order or \
      by the locale. A task done without a date does not count in recent statistics, or counts on the day of --completed-on.

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

  @Option(help: ArgumentHelp("The name of the source. Default: the file's.", valueName: "name"))
  var source: String?

  @Option(help: ArgumentHelp("How 3/4/2026 is read: dmy or mdy.", valueName: "order"))
  var dateOrder: DateOrder?

  @Option(help: ArgumentHelp("When tasks were completed that are done without a date.", valueName: "day"))
  var completedOn: String?

  @Flag(help: "Ignore keys that the format does not define.")
  var lenient = false

  @Flag(help: "Refuse a file of another program for anything that is not understood.")
  var strict = false

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
    let formatOptions = FormatOptions(
      source: source, dateOrder: dateOrder, usualDateOrder: session.clock.dateOrder(),
      completedOn: try completedOn.map { try session.clock.day($0, of: "--completed-on", looking: .backward) })
    let summary = try session.withProgress(dryRun ? "Reading" : "Importing") { progress in
      try store.importDocument(
        from: input,
        as: format,
        named: file == "-" ? nil : file,
        options: ImportOptions(
          isDryRun: dryRun, isLenient: lenient, overwrites: overwrite, actionName: session.commandName,
          isStrict: strict),
        formatOptions: formatOptions,
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
