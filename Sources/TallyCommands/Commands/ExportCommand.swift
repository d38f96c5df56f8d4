import ArgumentParser
import SystemPackage
import Tally

/// `tally export`.
struct ExportCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all tasks to a file.",
    usage: "tally export [-o <file>|-] [--format <format>] [<options>]",
    discussion: """
      The file is replaced as a whole or not at all, and only its owner may read it. Its path is printed; without -o \
      the file is Tally-Tasks-Export-YYYY-MM-DD.json (or .ndjson) in the current directory. With '-', writes to \
      standard output. The ndjson format leaves out lists and the history of deleted tasks.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally export
        tally export -o backup.json
        tally export -o - --format ndjson | grep -c completed
      """
  )

  private static let columns = ["file", "tasks", "lists", "completions", "bytes"]

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("The file, or '-' for standard output.", valueName: "file"),
    completion: .file()
  )
  var file: String?

  @Option(help: InterchangeFormat.help)
  var format: InterchangeFormat?

  func run(in session: Session) throws {
    let format = format ?? InterchangeFormat(of: file)
    let store = try session.openStore(for: .copying)
    if file == "-" {
      let summary = try Self.exportToOutput(store, format, session)
      return session.say("Exported \(summary.inWords).")
    }
    let path = file ?? format.defaultFileName(on: session.clock.today)
    let summary = try Signals.deferringInterruption {
      try session.withProgress("Exporting") { try store.export(to: FilePath(path), format: format, progress: $0) }
    }
    let facts: Facts = [
      "file": .text(path), "format": .text(format.rawValue), "tasks": .count(summary.taskCount),
      "lists": .count(summary.listCount), "completions": .count(summary.completionCount),
      "bytes": .integer(summary.byteCount),
    ]
    try session.answer(facts, plain: .record(Self.columns)) {
      try session.output.write(path.escapedForDisplay() + "\n")
      session.say("Exported \(summary.inWords).")
    }
  }

  /// Writes to standard output, and reports its failures as every other command does.
  private static func exportToOutput(
    _ store: TaskStore, _ format: InterchangeFormat, _ session: Session
  ) throws -> ExportSummary {
    do {
      return try session.withProgress("Exporting", resultIsShown: true) {
        try store.export(to: session.invocation.output, format: format, progress: $0)
      }
    } catch let error as TallyError where [.outputNotCreated, .diskFull].contains(error.code) {
      throw CommandFailure(writing: error.cause ?? error)
    }
  }
}

extension ExportSummary {
  fileprivate var inWords: String {
    let lists = listCount == 0 ? "" : " and \(listCount.counted("list"))"
    return taskCount.counted("task") + lists
  }
}
