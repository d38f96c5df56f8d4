import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallyFormats
import TallySystem

/// `tally import FILE|-`.
struct ImportCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "import", "Import the tasks of a file, all of them or none.",
    usage: """
      <file>|- [--format <format>] [--dry-run] [--strict] [--overwrite] [--source <name>] [--date-order \
      <order>] [--completed-on <day>]
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
      """)

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
      // The import itself has succeeded.
    }
  }
}

extension ImportCommand {
  private static var temporaryDirectory: FilePath { FilePath(FileManager.default.temporaryDirectory.path) }

  private static func open(_ file: FilePath) throws -> FileDescriptor {
    let (name, remedy) = (file.string.escapedForDisplay(), "Check the path and its permissions")
    return try CommandFailure.replacing({ .unreadable("'\(name)' cannot", $0, remedy: remedy) }) {
      try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    }
  }
}

/// The report of `tally import`: what an import did, or would do.
struct ImportReport {
  let summary: ImportSummary
  /// The tasks, lists and filters that a dry run would change or skip.
  let affected: [ImportedRecord]

  static let columns: [String] = {
    let counts = ["added", "changed", "unchanged", "keptNewer"]
    return counts + ["completions"] + counts.map { "lists." + $0 } + ["dryRun"]
  }()

  func print(in session: Session, _ store: TaskStore) throws {
    try session.answer(facts, plain: .record(Self.columns)) {
      if summary.isDryRun {
        // This is the answer, not a message about a change.
        for record in affected { try session.writeWrapped(record.line) }
        for line in inWords("would be ") + account + ["Nothing was changed."] { try session.writeWrapped(line) }
      } else {
        for line in inWords("") { session.say(line) }
        for line in account { session.report(line) }
        if hasSkipped { session.say("To use the file's values instead, add --overwrite.") }
        if !hasChanges { session.say("Nothing was changed.") }
      }
    }
    guard !summary.isDryRun, hasChanges else { return }
    // Another process may have changed something meanwhile; undo then says what it undoes.
    if try store.read({ try $0.undoableChange }) != nil {
      session.say(session.offer(.undo))
    } else {
      session.report("This import was too large to undo; --dry-run shows beforehand what an import would do.")
    }
  }

  private var facts: Facts {
    let facts = summary.tasks.facts.adding([
      "completions": .count(summary.completions.added + summary.completions.changed),
      "lists": summary.lists.facts, "filters": summary.filters.facts, "dryRun": .flag(summary.isDryRun),
      Facts.Name("account", onlyIn: .json): .array(summary.account.map(\.facts)),
    ])
    guard summary.isDryRun else { return facts }
    return facts.adding([Facts.Name("affected", onlyIn: .json): .array(affected.map(\.facts))])
  }

  private var hasChanges: Bool {
    [summary.tasks, summary.lists, summary.completions, summary.filters].contains { $0.added + $0.changed > 0 }
  }

  private var hasSkipped: Bool {
    [summary.tasks, summary.lists, summary.filters].contains { $0.keptNewer > 0 }
  }

  /// A line for each kind of record; that of the tasks is always there.
  private func inWords(_ mood: String) -> [String] {
    func line(_ noun: String, _ counts: ImportSummary.Counts) -> String {
      "\(noun): \(counts.added.grouped) \(mood)added, \(counts.changed.grouped) \(mood)changed, "
        + "\(counts.unchanged.grouped) unchanged"
        + (counts.keptNewer == 0
          ? "" : ", \(counts.keptNewer.grouped) skipped (the store has a newer change or a deletion)")
    }
    var lines = [line("Tasks", summary.tasks)]
    if summary.lists.total > 0 { lines.append(line("Lists", summary.lists)) }
    if summary.filters.total > 0 { lines.append(line("Filters", summary.filters)) }
    if summary.completions.total > summary.completions.unchanged {
      lines.append(line("Completions without their task", summary.completions))
    }
    return lines
  }
}

extension ImportReport {
  /// The values that were not understood, a line for each kind.
  private var account: [String] {
    summary.account.map { remark in
      let count = remark.count == 1 ? "" : "\(remark.count.grouped)× "
      let line = remark.line.map { " (line \($0))" } ?? ""
      let example = remark.example.escapedForDisplay()
      return "Not understood: \(count)\(remark.kind)\(remark.count == 1 ? " " : ", as ")“\(example)”\(line)"
    }
  }
}

extension ImportRemark {
  fileprivate var facts: Facts {
    [
      "kind": .text(kind), "count": .count(count), "example": .text(example), "line": .integer(line.map(Int64.init)),
    ]
  }
}

extension ImportSummary.Counts {
  fileprivate var total: Int { added + changed + unchanged + keptNewer }

  fileprivate var facts: Facts {
    [
      "added": .count(added), "changed": .count(changed), "unchanged": .count(unchanged),
      "keptNewer": .count(keptNewer),
    ]
  }
}

extension ImportedRecord {
  fileprivate var facts: Facts {
    var members: [Facts.Member] = [("kind", .text(kind.rawValue))]
    if let id { members.append(("id", .id(id))) }
    members.append((Facts.Name(kind == .task ? "title" : "name"), .text(name)))
    members.append(("outcome", .text(outcome.rawValue)))
    return .object(members)
  }

  /// A line for people: what would happen, and to what.
  fileprivate var line: String {
    let noun = kind == .task ? "" : " " + kind.rawValue
    let name = name.escapedForDisplay()
    return switch outcome {
    case .added: "add\(noun): \(name)"
    case .changed: "change\(noun): \(name)"
    case .keptNewer: "keep\(noun) (newer here): \(name)"
    case .keptDeleted: "keep\(noun) deleted: \(name)"
    }
  }
}
