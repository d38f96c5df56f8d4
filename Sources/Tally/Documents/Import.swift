public import Foundation
public import SystemPackage
import TallySystem

/// The formats of exports and imports; <doc:ExportFormat> explains both.
public enum InterchangeFormat: String, CaseIterable, Sendable {
  /// One JSON document with all lists, tasks and completions: the whole store.
  case json
  /// The same as lines: one task per line, as a JSON object, for pipes and other programs. Lists come first, as
  /// `{"list":{…}}`, and the history of deleted tasks last, as `{"completion":{…}}`.
  case ndjson

  /// The default name for an export of a local day, such as `Tally-Tasks-Export-2026-11-21.json`.
  public func defaultFileName(on day: CalendarDay) -> String {
    "Tally-Tasks-Export-\(day.iso8601).\(rawValue)"
  }

  /// The versions of documents that can be read; the last one is written.
  static let schemaVersions: ClosedRange<Int64> = 1...2
}

/// The progress of an export or import.
public struct InterchangeProgress: Hashable, Sendable {
  /// The tasks written or read so far.
  public let taskCount: Int
  /// All tasks, if known beforehand: in an export.
  public let totalTaskCount: Int?
  /// The bytes made or read so far; the last few blocks of an export may still wait to be written.
  public let byteCount: Int64
  /// All bytes, if known beforehand: in an import from a file.
  public let totalByteCount: Int64?

  /// Called from time to time; throwing from it ends the export or import, which leaves nothing behind.
  public typealias Observer = (InterchangeProgress) throws -> Void

  /// How many tasks lie between two reports of progress, and two checks for cancellation.
  static let strideInTasks = 2_048
}

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

/// How to import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether to read, check and count everything and write nothing.
  public var isDryRun: Bool
  /// Whether to skip keys that the format does not know, rather than refuse them.
  public var isLenient: Bool
  /// Whether to do as the document says, even where the store has something newer.
  ///
  /// Without it the two are merged: the newer change of a task wins, a completion is never undone, and everything
  /// deleted here after the document was written stays deleted.
  public var overwrites: Bool
  /// The name of the import in the history, see ``StoreTransaction/setActionName(_:)``; `nil` for none.
  public var actionName: String?
  /// Whether to refuse, with `irreversible`, an import that could not be undone, as it replaces more than the history keeps.
  public var mustBeUndoable: Bool
  /// Whether to refuse a document of another program for anything that is not understood, which otherwise only the
  /// account names (``ImportSummary/account``).
  public var isStrict: Bool

  /// Creates options; the defaults give an import that merges and writes.
  public init(
    isDryRun: Bool = false, isLenient: Bool = false, overwrites: Bool = false, actionName: String? = nil,
    mustBeUndoable: Bool = false, isStrict: Bool = false
  ) {
    self.isDryRun = isDryRun
    self.isLenient = isLenient
    self.overwrites = overwrites
    self.actionName = actionName
    self.mustBeUndoable = mustBeUndoable
    self.isStrict = isStrict
  }
}

/// The result of an import, or of a dry run.
public struct ImportSummary: Hashable, Sendable {
  /// What became of the records of one kind.
  public struct Counts: Hashable, Sendable {
    /// Records that did not exist.
    public internal(set) var added = 0
    /// Records that existed and were changed.
    public internal(set) var changed = 0
    /// Records that existed with the same contents.
    public internal(set) var unchanged = 0
    /// Records that were left alone, as the store's are newer, or were deleted here since.
    public internal(set) var keptNewer = 0
  }

  /// The tasks.
  public internal(set) var tasks = Counts()
  /// The lists.
  public internal(set) var lists = Counts()
  /// Completions that do not follow from the tasks: those of deleted tasks, and those of tasks that were in another
  /// list.
  public internal(set) var completions = Counts()
  /// The saved filters.
  public internal(set) var filters = Counts()
  /// Everything that the import did not understand or could not keep as a field, by kind.
  public internal(set) var account: [ImportRemark] = []
  /// Whether nothing was written, as requested.
  public internal(set) var isDryRun = false
}

/// What an import does with one task, list or saved filter of a document.
public struct ImportedRecord: Hashable, Sendable {
  /// What a record describes.
  public enum Kind: String, CaseIterable, Sendable {
    /// A task.
    case task
    /// A list.
    case list
    /// A saved filter.
    case filter
  }

  /// What becomes of a record.
  public enum Outcome: String, CaseIterable, Sendable {
    /// It did not exist.
    case added
    /// It exists and is changed.
    case changed
    /// It stays, since the store's is newer than the document's.
    case keptNewer
    /// It was deleted here since, and stays deleted.
    case keptDeleted
  }

  /// What the record describes.
  public let kind: Kind
  /// The task or list; `nil` for a saved filter, which has only a name.
  public let id: UUID?
  /// The task's title or the other's name after the import; that of the document for what stays deleted.
  public let name: String
  /// What becomes of it.
  public let outcome: Outcome

  /// Called for each record that an import changes or refuses to change; throwing from it ends the import.
  public typealias Observer = (ImportedRecord) throws -> Void
}

/// What an import did not understand or could not keep as a field, of one kind.
///
/// ```swift
/// let summary = try store.importDocument(from: "export.json")
/// for remark in summary.account { print(remark.kind, remark.count, remark.example, remark.line ?? 0) }
/// ```
public struct ImportRemark: Hashable, Sendable {
  /// What was not understood, in one word, such as `recurrence`, `column`, `zone` or `date`.
  public let kind: String
  /// How often it came.
  public internal(set) var count: Int
  /// The first one, as the document has it, cut after 120 characters; of columns all of them, cut after 1,000.
  public let example: String
  /// The line of the first one, from 1; `nil` if it has none.
  public let line: Int?
}

/// What a reader did not understand, of one kind.
package struct DocumentRemark: Hashable, Sendable {
  /// The kind, as ``ImportRemark/kind``: one of a few words of the code, never a text of the document.
  package let kind: String
  /// What the document says in the first place.
  package private(set) var example: String
  private(set) var mostCharacters = 120
  /// How often it came.
  package var count = 1

  /// Creates a remark.
  package init(_ kind: String, _ example: String) {
    (self.kind, self.example) = (kind, example)
  }

  /// Lists another example of the kind.
  package mutating func list(_ example: String) {
    mostCharacters = 1_000
    if self.example.utf8.count < 4 * mostCharacters { self.example += ", " + example }
  }
}

extension [ImportRemark] {
  /// Counts a remark under its kind; the first of a kind is the example.
  mutating func add(_ remark: DocumentRemark, at line: Int?) {
    if let index = firstIndex(where: { $0.kind == remark.kind }) {
      self[index].count += remark.count
    } else {
      let example = remark.example.prefix(remark.mostCharacters)
      let isCut = example.endIndex != remark.example.endIndex
      append(ImportRemark(kind: remark.kind, count: remark.count, example: example + (isCut ? "…" : ""), line: line))
    }
  }
}

extension TallyError {
  /// A strict import found something that it does not understand.
  static func notUnderstood(_ remark: DocumentRemark) -> TallyError {
    TallyError(
      .malformedDocument, "The \(remark.kind) “\(remark.example)” is not understood",
      remedy: "Correct it, or import without --strict, which skips only this")
  }
}
