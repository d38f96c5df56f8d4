import ArgumentParser
import SystemPackage
import Tally
import TallyFormats

/// `tally export`.
struct ExportCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "export", "Write tasks to a file, in Tally's format or another one.",
    usage: "[<filter> ...] [-o <file>|-] [--format <format>] [--plain-lines]",
    discussion: """
      Without a filter, writes everything; with one, the tasks that it finds, with their ancestors and lists ('tally find \
      --help' has the words of a filter). The file is replaced as a whole or not at all, and only its owner may read it. \
      Its path is printed; without -o the file is Tally-Tasks-Export-YYYY-MM-DD in the current directory, with the \
      format's extension. With '-', writes to standard output.

      FORMAT is json (everything in the store), ndjson (the same as lines), taskwarrior, todotxt, ical, csv or markdown. \
      Without --format, the file's extension chooses: .json .ndjson .txt .ics .csv .md. The other programs' formats have a \
      part of Tally's own for what they cannot say; --plain-lines leaves it out, and names what is lost, \
      by field.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally export
        tally export +home is:open -o home.ics
        tally export -o - --format ndjson | grep -c completed
      """)

  private static let columns = ["file", "tasks", "lists", "completions", "bytes"]

  @Option(
    name: .customShort("o"), help: ArgumentHelp("The file, or '-' for standard output.", valueName: "file"),
    completion: .file())
  var file: String?

  @Option(help: ExportedFormat.help)
  var format: ExportedFormat?

  @Flag(help: "Write only what the format itself can say, and name what is lost.")
  var plainLines = false

  @OptionGroup var filter: FilterOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.filter.words }

  var countsWeeks: Bool { filter.countsWeeks }

  func validate(with global: GlobalOptions) throws {
    guard let format = format?.format else { return }
    guard format.isExported else {
      throw ValidationError("The format \(format.rawValue) can be imported only.")
    }
    guard let name = file.flatMap({ FilePath($0).extension }) else { return }
    guard format.accepts(fileExtension: name) else {
      throw ValidationError("The extension .\(name) does not belong to the format \(format.rawValue).")
    }
  }

  /// The format that was asked for, or that of the file's extension.
  private var chosenFormat: DocumentFormat {
    format?.format ?? file.flatMap { FilePath($0).extension }.flatMap { DocumentFormat(fileExtension: $0) } ?? .json
  }

  func run(in session: Session) throws {
    let format = chosenFormat
    let selection = filter.words.isEmpty ? nil : try filter.filter
    let store = try session.openStore(for: .copying)
    if file == "-" {
      let summary = try exportToOutput(store, format, selection, session)
      session.say("Exported \(summary.inWords).")
      return summary.account.forEach { session.report($0.inWords) }
    }
    let path = file ?? format.defaultFileName(on: session.clock.today)
    let summary = try Signals.deferringInterruption {
      try session.withProgress("Exporting") {
        try store.export(
          to: FilePath(path), as: format, matching: selection, formatOptions: FormatOptions(isPlain: plainLines),
          progress: $0)
      }
    }
    let facts: Facts = [
      "file": .text(path), "format": .text(format.rawValue), "tasks": .count(summary.taskCount),
      "lists": .count(summary.listCount), "completions": .count(summary.completionCount),
      "filters": .count(summary.filterCount), "bytes": .integer(summary.byteCount),
      Facts.Name("account", onlyIn: .json): .array(summary.account.map(\.facts)),
    ]
    try session.answer(facts, plain: .record(Self.columns)) {
      try session.output.write(path.escapedForDisplay() + "\n")
      session.say("Exported \(summary.inWords).")
      for remark in summary.account { session.report(remark.inWords) }
    }
  }

  /// Writes to standard output, and reports its failures as every other command does.
  private func exportToOutput(
    _ store: TaskStore, _ format: DocumentFormat, _ filter: TaskFilter?, _ session: Session
  ) throws -> ExportSummary {
    do {
      return try session.withProgress("Exporting", resultIsShown: true) {
        try store.export(
          to: session.invocation.output, as: format, matching: filter,
          formatOptions: FormatOptions(isPlain: plainLines), progress: $0)
      }
    } catch let error as TallyError where [.outputNotCreated, .diskFull].contains(error.code) {
      throw CommandFailure(writing: error.cause ?? error)
    }
  }
}

extension ExportRemark {
  /// A line for people, like those of what an import does not understand.
  fileprivate var inWords: String {
    let example = example.escapedForDisplay()
    let field = count == 1 ? "\(kind) of" : "\(count.grouped)× \(kind), as of"
    return "Not written: \(field) “\(example)”"
  }

  fileprivate var facts: Facts { ["kind": .text(kind), "count": .count(count), "example": .text(example)] }
}

extension ExportSummary {
  fileprivate var inWords: String {
    let lists = listCount == 0 ? "" : " and \(listCount.counted("list"))"
    return taskCount.counted("task") + lists
  }
}
