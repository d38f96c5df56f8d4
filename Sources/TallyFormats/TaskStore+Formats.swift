internal import Foundation
public import SystemPackage
public import Tally

extension TaskStore {
  /// Imports a document of any format from a file; it is merged with the store, all of it or nothing.
  ///
  /// The rules are those of Tally's own formats: by id, the newer change wins, a completion is never undone, and tasks
  /// that were deleted here since stay deleted. Where a format has no ids, they follow from the contents, so that
  /// importing the same file again changes nothing. Fields that Tally does not know become attributes, and go out again
  /// unchanged. Blocks until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// let summary = try store.importDocument(from: "tasks.ics", as: .ical)
  /// print(summary.tasks.added, summary.tasks.keptNewer)
  /// ```
  ///
  /// One bad value costs that value alone: the task comes in without it, and `ImportSummary.account` names it.
  ///
  /// - Parameters:
  ///   - file: The path of the document.
  ///   - format: How it is written; `nil` to guess by the name's extension and how the document begins.
  ///   - options: Whether to write anything, to refuse what is not understood, and to overwrite newer values.
  ///   - formatOptions: What is known about the document; without a source its file's name is that.
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
  /// As ``importDocument(from:as:options:formatOptions:progress:report:)``; the name helps to guess the format where none
  /// is given.
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
      let guess = DocumentFormat(
        ofDocumentBeginningWith: head, fileExtension: name.flatMap { FilePath($0).extension })
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
      return format.source(try DecodedText.input(input), context)
    }
  }

  /// Writes all tasks, or those that a filter finds, to a file, which replaces an older one as a whole.
  ///
  /// The export is one snapshot, while writers go on. If it fails, nothing is left behind and the old file stays. Only
  /// its owner may read the file. Blocks until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// try store.export(to: "home.ics", as: .ical, matching: .tag("home"))
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - format: What to write.
  ///   - filter: Which tasks to write, with their ancestors; `nil` for all.
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
  /// As ``export(to:as:matching:formatOptions:progress:)-(FilePath,_,_,_,_)``, but output written before a failure stays written.
  @discardableResult
  public func export(
    to descriptor: FileDescriptor, as format: DocumentFormat, matching filter: TaskFilter? = nil,
    formatOptions: FormatOptions = FormatOptions(), progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    if let own = format.interchange {
      return try export(to: descriptor, format: own, matching: filter, progress: progress)
    }
    try format.checkExported()
    return try exportRecords(
      to: descriptor, matching: filter, in: [.markdown, .todotxt].contains(format) ? .place : .id,
      isPrepared: format == .csv,
      progress: progress
    ) { calendar, now, lists in
      format.writer(FormatContext(calendar: calendar, now: now, lists: lists, options: formatOptions))
    }
  }
}

extension DocumentFormat {
  fileprivate func checkExported() throws {
    guard !isExported else { return }
    throw TallyError(
      .outputNotCreated, "The format \(rawValue) can be imported only", remedy: "Export another format, such as csv")
  }

  fileprivate func source(_ input: consuming JSONInput, _ context: FormatContext) -> AnySource {
    switch self {
    case .taskwarrior: AnySource(TaskwarriorSource(input, context), context)
    case .todotxt: AnySource(TodoTxtSource(input, context), context)
    case .ical: AnySource(CalendarSource(input, context), context)
    case .csv, .json, .ndjson: AnySource(TableSource(input, context), context)
    case .markdown: AnySource(ChecklistSource(input, context), context)
    case .todoist: AnySource(TodoistSource(input, context), context)
    case .ticktick: AnySource(TickTickSource(input, context), context)
    case .org: AnySource(OrgSource(input, context), context)
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
