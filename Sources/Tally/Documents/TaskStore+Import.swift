internal import Foundation
public import SystemPackage
internal import TallySystem

extension TaskStore {
  /// Imports a document from a file: by id, it adds new records, changes those that are older here, and leaves the
  /// rest.
  ///
  /// The newer time of change of a task wins, a completion is never undone, and everything deleted here after the
  /// document was written stays deleted; ``ImportOptions/overwrites`` does as the document says instead.
  /// <doc:ExportFormat> has the rules. All of it or nothing: one transaction holds the whole import, so that other
  /// writers wait for it. Nothing in the store is deleted. Fields that an object of the document lacks keep their
  /// stored values. Blocks until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// let summary = try store.importDocument(from: "export.json", options: ImportOptions(isDryRun: true))
  /// print(summary.tasks.added, summary.tasks.changed, summary.tasks.unchanged, summary.tasks.keptNewer)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the document.
  ///   - format: How it is written.
  ///   - options: Whether to write anything, and how strict to be.
  ///   - progress: Called from time to time; may throw to end the import.
  ///   - report: In a dry run, called for each task, list and saved filter that the import would change or would
  ///     refuse to change; may throw.
  /// - Returns: The changes made, or those that a dry run would make.
  /// - Throws: `inputUnreadable`; for a fault of the document an error with its position: `malformedDocument`,
  ///   `unknownKey`, `duplicateID`, `unknownList`, `newerFormat`, or that of the value or record; `cancelled` if the
  ///   Swift task was cancelled; what `progress` or `report` throws, and what `write` throws. The store is then unchanged.
  /// - Complexity: some microseconds a record; 16 bytes of memory and their hashing for each.
  @discardableResult
  public func importDocument(
    from file: FilePath,
    format: InterchangeFormat = .json,
    options: ImportOptions = ImportOptions(),
    progress: InterchangeProgress.Observer? = nil,
    report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    let descriptor = try TallyError.replacing(TallyError.unreadableInput) {
      try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    }
    return try descriptor.closeAfter {
      try importDocument(from: descriptor, format: format, options: options, progress: progress, report: report)
    }
  }

  /// Imports a document from an open file, from its current position, or from a pipe; it stays open.
  ///
  /// As ``importDocument(from:format:options:progress:report:)-(FilePath,_,_,_,_)``. Input from a pipe is first copied
  /// to a file without a name, in the store's directory or, for a dry run, the system's temporary one, so that no other
  /// writer waits for the pipe's.
  @discardableResult
  public func importDocument(
    from descriptor: FileDescriptor,
    format: InterchangeFormat = .json,
    options: ImportOptions = ImportOptions(),
    progress: InterchangeProgress.Observer? = nil,
    report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    let input = try replayable(descriptor, options)
    return try run(try ImportSession(input, format: format, options: options, observer: progress), report)
  }

  /// Imports the records of a source of another format.
  package func importRecords<Source: DocumentSource & ~Copyable>(
    from descriptor: FileDescriptor, options: ImportOptions, progress: InterchangeProgress.Observer?,
    report: ImportedRecord.Observer?, source: @escaping (consuming JSONInput) throws -> Source
  ) throws -> ImportSummary {
    let input = try replayable(descriptor, options)
    return try run(ImportSession(input: input, options: options, observer: progress, source: source), report)
  }

  private func run<Source: DocumentSource & ~Copyable>(
    _ session: borrowing ImportSession<Source>, _ report: ImportedRecord.Observer?
  ) throws -> ImportSummary {
    guard !session.options.isDryRun else { return try read { try session.runDry(in: $0, report: report) } }
    return try writeAndWait { transaction in
      try transaction.setActionName(session.options.actionName)
      return try session.run(in: &transaction)
    }
  }

  /// A file's or a pipe's bytes, which can be read again.
  package func replayable(_ descriptor: FileDescriptor, _ options: ImportOptions) throws -> ReplayableInput {
    try ReplayableInput(descriptor, copyingPipesTo: options.isDryRun ? Self.temporaryDirectory : directory)
  }

  /// The directory for a pipe's contents in a dry run, which leaves the store's directory alone.
  private static var temporaryDirectory: FilePath { FilePath(FileManager.default.temporaryDirectory.path) }
}
