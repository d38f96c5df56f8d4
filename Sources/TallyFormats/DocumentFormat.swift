import Foundation
public import SystemPackage
public import Tally
import TallyEngine

/// The formats in which tasks move in and out; <doc:OtherFormats> lists the values that each can express.
///
/// ```swift
/// try store.export(to: "tasks.ics", as: .ical)
/// try store.importDocument(from: "todo.txt", as: .todotxt)
/// ```
public enum DocumentFormat: String, CaseIterable, Sendable {
  /// Tally's own document: everything in a store.
  case json
  /// The same data, one record in each line.
  case ndjson
  /// The JSON that `task export` of Taskwarrior 2 writes and `task import` reads.
  case taskwarrior
  /// The lines of todo.txt.
  case todotxt
  /// To-dos of iCalendar (RFC 5545).
  case ical
  /// A table with a row for each task (RFC 4180).
  case csv
  /// A checklist in Markdown.
  case markdown
  /// A project as Todoist exports it, in CSV; for importing only.
  case todoist
  /// The tasks of all lists as TickTick exports them, in CSV; for importing only.
  case ticktick
  /// Headings of org-mode with their states, dates and repeaters; for importing only.
  case org

  /// Whether tasks can be written in the format.
  public var isExported: Bool { ![.todoist, .ticktick, .org].contains(self) }

  /// The extension of the names of files, such as `ics`.
  public var fileExtension: String {
    switch self {
    case .json, .taskwarrior: "json"
    case .ndjson: "ndjson"
    case .todotxt: "txt"
    case .ical: "ics"
    case .csv, .todoist, .ticktick: "csv"
    case .org: "org"
    case .markdown: "md"
    }
  }

  /// The format of a file by the extension of its name; `nil` for an extension of no format.
  public init?(fileExtension: String) {
    let name = fileExtension.lowercased()
    let usual = ["jsonl": "ndjson", "ical": "ics", "markdown": "md"][name] ?? name
    guard let format = Self.allCases.first(where: { $0.fileExtension == usual }) else { return nil }
    self = format
  }

  /// Whether files of the format may have an extension: `false` for one of another format.
  public func accepts(fileExtension: String) -> Bool {
    DocumentFormat(fileExtension: fileExtension).map { $0.fileExtension == self.fileExtension } ?? true
  }

  /// The default name for an export of a local day, such as `Tally-Tasks-Export-2026-11-21.ics`.
  public func defaultFileName(on day: CalendarDay) -> String { "Tally-Tasks-Export-\(day.iso8601).\(fileExtension)" }

  /// The same format, where it is one of Tally's own.
  var interchange: InterchangeFormat? { InterchangeFormat(rawValue: rawValue) }

  /// Guesses the format of a document by how it begins.
  ///
  /// - Parameters:
  ///   - head: the first bytes of the document; a few thousand are enough.
  ///   - fileExtension: the extension of its name, which decides between formats that look alike.
  public init(ofDocumentBeginningWith head: [UInt8], fileExtension: String? = nil) {
    let byExtension = fileExtension.flatMap { DocumentFormat(fileExtension: $0) }
    let text = DecodedText.text(ofDocumentBeginningWith: Array(head.prefix(4_096)))
      .drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    self =
      switch byExtension {
      case .todotxt?, .ical?, .markdown?, .ndjson?, .org?: byExtension ?? .todotxt
      case .csv?: Self.table(text)
      default: Self.guess(text) ?? byExtension ?? .todotxt
      }
  }

  private static func guess(_ text: Substring) -> DocumentFormat? {
    if text.hasPrefix("{") { return object(text) }
    if text.hasPrefix("[") { return isArrayOfTasks(text) ? .taskwarrior : nil }
    if text.prefix(15).uppercased() == "BEGIN:VCALENDAR" { return .ical }
    let line = text.prefix { !$0.isNewline }
    if isOfTodoist(line) { return .todoist }
    if isOfTickTick(text) { return .ticktick }
    if TableHeading.isHead(line) { return .csv }
    if line.hasPrefix("* ") || line.hasPrefix("#+") || line.hasPrefix("** ") {
      return line.hasPrefix("* [") ? .markdown : .org
    }
    let hasItems = text.contains(#/\n[ \t]*[-*+] \[[ xX]\] /#)
    if line.hasPrefix("#") || line.hasPrefix("- [") || line.hasPrefix("* [") || hasItems { return .markdown }
    return nil
  }

  /// Taskwarrior writes an array of tasks, which may be empty or cut off; Tally an object.
  private static func isArrayOfTasks(_ text: Substring) -> Bool {
    let rest = text.dropFirst().drop(while: \.isWhitespace)
    return rest.isEmpty || rest.hasPrefix("{") || rest.hasPrefix("\"")
      || (rest.hasPrefix("]") && rest.dropFirst().allSatisfy(\.isWhitespace))
  }

  /// An object is Tally's document, one of its lines or one of Taskwarrior's.
  private static func object(_ text: Substring) -> DocumentFormat {
    let line = text.prefix { !$0.isNewline }
    if line.contains("\"description\""), line.contains("\"uuid\"") { return .taskwarrior }
    let isWhole = ["\"schemaVersion\"", "\"exportDate\"", "\"tasks\"", "\"lists\""].contains { text.contains($0) }
    return isWhole ? .json : .ndjson
  }

  private static func table(_ text: Substring) -> DocumentFormat {
    isOfTodoist(text) ? .todoist : isOfTickTick(text) ? .ticktick : .csv
  }

  private static func isOfTodoist(_ text: Substring) -> Bool {
    let head = text.prefix { !$0.isNewline }.filter { $0 != "\"" }
    return head.hasPrefix("TYPE,") && head.contains("CONTENT")
  }

  /// A few lines about the file come before the names of the columns.
  private static func isOfTickTick(_ text: Substring) -> Bool {
    text.contains("\"List Name\"") && text.contains("\"Title\"") || text.contains("List Name,Title,")
  }
}

/// The caller's knowledge about a document of another program.
public struct FormatOptions: Hashable, Sendable {
  /// The name of the document, which distinguishes lines without ids from equal lines of other documents; `nil` to take the
  /// file's.
  public var source: String?
  /// How dates such as `3/4/2026` are read; `nil` to find it out from the document.
  public var dateOrder: DateOrder?
  /// How such dates are read if the document does not show their order, for example by the order of the locale; `nil`
  /// to leave them out, and name them in the account.
  public var usualDateOrder: DateOrder?
  /// The completion day of done tasks without a date; `nil` for 1 January 1970.
  public var completedOn: CalendarDay?
  /// Whether to leave out Tally's extension; reading the document again then loses values that the format cannot
  /// express, which `ExportSummary.account` names.
  public var isPlain: Bool

  /// Creates options; nothing is known without them.
  public init(
    source: String? = nil, dateOrder: DateOrder? = nil, usualDateOrder: DateOrder? = nil,
    completedOn: CalendarDay? = nil, isPlain: Bool = false
  ) {
    (self.source, self.dateOrder, self.usualDateOrder) = (source, dateOrder, usualDateOrder)
    (self.completedOn, self.isPlain) = (completedOn, isPlain)
  }
}

extension TaskStore {
  /// Imports a document of any format from a file; it is merged with the store, all of it or nothing.
  ///
  /// The rules are those of Tally's own formats: by id, the newer change wins, a completion is never undone, and tasks
  /// that were deleted here since stay deleted. Where a format has no ids, they follow from the contents, so that
  /// importing the same file again changes nothing. Fields that Tally does not know become attributes, and are exported
  /// unchanged. Blocks until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// let summary = try store.importDocument(from: "tasks.ics", as: .ical)
  /// print(summary.tasks.added, summary.tasks.keptNewer)
  /// ```
  ///
  /// A task is imported without the values that are not understood, and `ImportSummary.account` names them.
  ///
  /// - Parameters:
  ///   - file: The path of the document.
  ///   - format: How it is written; `nil` to guess by the name's extension and how the document begins.
  ///   - options: Whether to write anything, to refuse what is not understood, and to overwrite newer values.
  ///   - formatOptions: The caller's knowledge about the document; without a source, the file's name is used.
  ///   - progress: Called from time to time; may throw to end the import.
  ///   - report: In a dry run, called for each task that the import would change or would refuse to change; may throw.
  /// - Returns: The changes made, or those that a dry run would make.
  /// - Throws: `inputUnreadable`; for a fault of the document an error with its line and column, `malformedDocument` or that
  ///   of the value; `cancelled`; what `progress` or `report` throws, and what `write` throws. The store is then
  ///   unchanged.
  /// - Complexity: ten to thirty microseconds a task. Memory holds one record at a time and an id for each.
  @discardableResult
  public func importDocument(
    from file: FilePath, as format: DocumentFormat?, options: ImportOptions = ImportOptions(),
    formatOptions: FormatOptions = FormatOptions(), progress: InterchangeProgress.Observer? = nil,
    report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    } catch {
      throw TallyError(
        .inputUnreadable, "The input cannot be read: \(error)",
        remedy: "Check that it is a file or pipe that you may read", cause: error)
    }
    return try descriptor.closeAfter {
      try importDocument(
        from: descriptor, as: format, named: file.string, options: options, formatOptions: formatOptions,
        progress: progress, report: report)
    }
  }

  /// Imports a document of any format from an open file or a pipe, which stays open.
  ///
  /// It works like ``importDocument(from:as:options:formatOptions:progress:report:)``; the name helps to guess the
  /// format if none is given.
  @discardableResult
  public func importDocument(
    from descriptor: FileDescriptor, as format: DocumentFormat?, named name: String? = nil,
    options: ImportOptions = ImportOptions(), formatOptions: FormatOptions = FormatOptions(),
    progress: InterchangeProgress.Observer? = nil, report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    var formatOptions = formatOptions
    formatOptions.source = formatOptions.source ?? name.flatMap { FilePath($0).lastComponent?.string }
    guard let format else {
      let input = try replayable(descriptor, options)
      let head = try input.head(ofAtMost: 4_096)
      let guess = DocumentFormat(ofDocumentBeginningWith: head, fileExtension: name.flatMap { FilePath($0).extension })
      if guess == .todotxt { try TodoTxtGuess.check(DecodedText.text(ofDocumentBeginningWith: head)) }
      return try importDocument(
        from: input.descriptor, as: guess, options: options, formatOptions: formatOptions, progress: progress,
        report: report)
    }
    if let own = format.interchange {
      return try importDocument(from: descriptor, format: own, options: options, progress: progress, report: report)
    }
    let context = try read { FormatContext(calendar: $0.calendar, now: $0.now, options: formatOptions) }
    return try importRecords(from: descriptor, options: options, progress: progress, report: report) { input in
      // The document may be read again from its beginning.
      var context = context
      context.remarks = RemarkLog()
      return AnySource(format.source(try DecodedText.input(input), context))
    }
  }

  /// Writes all tasks, or those that a filter finds, to a file, which replaces an older one as a whole.
  ///
  /// The export is one snapshot, while others write. If it fails, nothing is left behind and the old file stays. Only
  /// its owner may read the file. Blocks until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// try store.export(to: "home.ics", as: .ical, matching: .tag("home"))
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - format: The format to write.
  ///   - filter: The tasks to write, with their ancestors; `nil` for all.
  ///   - formatOptions: Whether to leave Tally's extension out.
  ///   - progress: Called from time to time; may throw to end the export.
  /// - Returns: The numbers of exported records.
  /// - Throws: `outputNotCreated`, also for a format that is for importing only; `diskFull`, `cancelled`, what `progress`
  ///   throws, and what `read` throws.
  /// - Complexity: ten to thirty microseconds a task. A checklist is in memory as a whole, other formats are not.
  @discardableResult
  public func export(
    to file: FilePath, as format: DocumentFormat, matching filter: TaskFilter? = nil,
    formatOptions: FormatOptions = FormatOptions(), progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    if let own = format.interchange { return try export(to: file, format: own, matching: filter, progress: progress) }
    try format.checkExported()
    return try exportFile(file) {
      try export(to: $0, as: format, matching: filter, formatOptions: formatOptions, progress: progress)
    }
  }

  /// Writes all tasks, or those that a filter finds, to an open file or pipe, which stays open.
  ///
  /// It works like ``export(to:as:matching:formatOptions:progress:)-(FilePath,_,_,_,_)``, but output written before a
  /// failure stays written.
  @discardableResult
  public func export(
    to descriptor: FileDescriptor, as format: DocumentFormat, matching filter: TaskFilter? = nil,
    formatOptions: FormatOptions = FormatOptions(), progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    if let own = format.interchange {
      return try export(to: descriptor, format: own, matching: filter, progress: progress)
    }
    try format.checkExported()
    let losses = RemarkLog()
    var summary = try exportRecords(
      to: descriptor, matching: filter, in: [.markdown, .todotxt].contains(format) ? .place : .id,
      isPrepared: [.csv, .ical].contains(format),
      progress: progress
    ) { calendar, now, lists, series in
      var context = FormatContext(calendar: calendar, now: now, lists: lists, series: series, options: formatOptions)
      context.losses = losses
      return format.writer(context)
    }
    summary.account = losses.all.map(ExportRemark.init)
    return summary
  }
}

extension DocumentFormat {
  fileprivate func checkExported() throws {
    guard !isExported else { return }
    throw TallyError(
      .outputNotCreated, "The format \(rawValue) can be imported only", remedy: "Export another format, such as csv")
  }

  // The names are part of the ids of tasks without one: do not change them.
  fileprivate func source(_ input: consuming JSONInput, _ context: FormatContext) -> ForeignSource {
    switch self {
    case .taskwarrior: TaskwarriorSource(input, context)
    case .todotxt: TodoTxtSource("todo.txt", input, context)
    case .ical: CalendarSource(input, context)
    case .csv, .json, .ndjson: TableSource("csv", input, context)
    case .markdown: ChecklistSource("Markdown", input, context)
    case .todoist: TodoistSource("Todoist", input, context)
    case .ticktick: TickTickSource("TickTick", input, context)
    case .org: OrgSource("org", input, context)
    }
  }

  fileprivate func writer(_ context: FormatContext) -> any DocumentWriter {
    switch self {
    case .taskwarrior: TaskwarriorWriter(context)
    case .todotxt: TodoTxtWriter(context)
    case .ical: CalendarWriter(context)
    case .csv, .json, .ndjson, .todoist, .ticktick, .org: TableWriter(context)
    case .markdown: ChecklistWriter(context)
    }
  }
}
