public import Foundation
public import SystemPackage
public import TallyEngine
import TallySystem

/// The formats of exports and imports, which <doc:ExportFormat> explains.
public enum InterchangeFormat: String, CaseIterable, Sendable {
  /// One JSON document with all lists, tasks and completions: the whole store.
  case json
  /// The same records as lines: one task per line, as a JSON object, for pipes and other programs. Lists come first, as
  /// `{"list":{…}}`, and the history of deleted tasks comes last, as `{"completion":{…}}`.
  case ndjson

  /// The default file name for an export on a local day, for example `Tally-Tasks-Export-2026-11-21.json`.
  public func defaultFileName(on day: CalendarDay) -> String {
    "Tally-Tasks-Export-\(day.iso8601).\(rawValue)"
  }

  /// The versions of documents that can be read, of which the last one is written.
  static let schemaVersions: ClosedRange<Int64> = 1...2
}

/// The progress of an export or import.
public struct InterchangeProgress: Hashable, Sendable {
  /// The number of tasks written or read so far.
  public let taskCount: Int
  /// The total number of tasks, if it is known in advance, as in an export.
  public let totalTaskCount: Int?
  /// The number of bytes made or read so far; the last few blocks of an export may still wait to be written.
  public let byteCount: Int64
  /// The total number of bytes, if it is known in advance, as in an import from a file.
  public let totalByteCount: Int64?

  /// A closure that is called from time to time; if it throws, the export or import ends and leaves nothing behind.
  public typealias Observer = (InterchangeProgress) throws -> Void

  /// The number of tasks between two reports of progress, and between two checks for cancellation.
  static let strideInTasks = 2_048
}

extension TaskStore {
  /// Imports a document from a file and merges it by id: adds new records, updates older ones and keeps the rest.
  ///
  /// The newer time of change of a task wins, a completion is never undone, and everything deleted here after the
  /// document was written stays deleted; with ``ImportOptions/overwrites`` the document wins instead.
  /// <doc:ExportFormat> has the rules. The import is atomic: it is one transaction, so other writers wait for it.
  /// Nothing in the store is deleted. Fields that an object of the document lacks keep their stored values. The call
  /// blocks until the import is done, so run it where blocking is allowed.
  ///
  /// ```swift
  /// let summary = try store.importDocument(from: "export.json", options: ImportOptions(isDryRun: true))
  /// print(summary.tasks.added, summary.tasks.changed, summary.tasks.unchanged, summary.tasks.keptNewer)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the document.
  ///   - format: The format of the document.
  ///   - options: Whether to write anything, and how strict to be.
  ///   - progress: Called from time to time; may throw to end the import.
  ///   - report: In a dry run, called for each task, list and saved filter that the import would change or refuse to
  ///     change; may throw.
  /// - Returns: The changes made, or those that a dry run would make.
  /// - Throws: `inputUnreadable`; for a fault of the document an error with its position: `malformedDocument`,
  ///   `unknownKey`, `duplicateID`, `unknownList`, `newerFormat`, or the error of the value or record; `cancelled` if
  ///   the Swift task was cancelled; what `progress` or `report` throws, and what `write` throws. On an error the store
  ///   is unchanged.
  /// - Complexity: some microseconds for each record, and 16 bytes of memory and their hashing.
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

  /// Imports a document from an open file, beginning at its current offset, or from a pipe; it stays open.
  ///
  /// It works as ``importDocument(from:format:options:progress:report:)-(FilePath,_,_,_,_)``. Input from a pipe is
  /// first copied to an unnamed file, so that other writers do not wait for the program that writes to the pipe. The
  /// file is in the store's directory or, for a dry run, in the system's temporary directory.
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

  /// Makes the bytes of a file or pipe readable more than once.
  package func replayable(_ descriptor: FileDescriptor, _ options: ImportOptions) throws -> ReplayableInput {
    try ReplayableInput(descriptor, copyingPipesTo: options.isDryRun ? Self.temporaryDirectory : directory)
  }

  /// The directory for a pipe's contents in a dry run, which must not write to the store's directory.
  private static var temporaryDirectory: FilePath { FilePath(FileManager.default.temporaryDirectory.path) }
}

/// The options of an import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether to read, check and count everything and write nothing.
  public var isDryRun: Bool
  /// Whether to skip keys that the format does not have, instead of refusing them.
  public var isLenient: Bool
  /// Whether the document wins, even if the store has something newer.
  ///
  /// Otherwise the two are merged: the newer change of a task wins, a completion is never undone, and everything
  /// deleted here after the document was written stays deleted.
  public var overwrites: Bool
  /// The name of the import in the history, see ``StoreTransaction/setActionName(_:)``; `nil` for none.
  public var actionName: String?
  /// Whether to refuse an import that cannot be undone because it replaces more than the history keeps.
  ///
  /// The error is `irreversible`.
  public var mustBeUndoable: Bool
  /// Whether to refuse another program's document if anything in it is not understood.
  ///
  /// Otherwise this is only listed in the account (``ImportSummary/account``).
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
  /// The numbers of records of one kind, by what the import did with them.
  public struct Counts: Hashable, Sendable {
    /// The number of records that did not exist before.
    public internal(set) var added = 0
    /// The number of records that existed and were changed.
    public internal(set) var changed = 0
    /// The number of records that existed with the same contents.
    public internal(set) var unchanged = 0
    /// The number of records that were skipped because the store's are newer, or because they were deleted here since.
    public internal(set) var keptNewer = 0
  }

  /// The tasks.
  public internal(set) var tasks = Counts()
  /// The lists.
  public internal(set) var lists = Counts()
  /// The completions that do not follow from the tasks: of deleted tasks, and of tasks that were in another list.
  public internal(set) var completions = Counts()
  /// The saved filters.
  public internal(set) var filters = Counts()
  /// Everything that the import did not understand or could not store as a field, by kind.
  public internal(set) var account: [ImportRemark] = []
  /// Whether nothing was written, as requested.
  public internal(set) var isDryRun = false
}

/// The effect of an import on one task, list or saved filter of a document.
public struct ImportedRecord: Hashable, Sendable {
  /// The kind of object that a record describes.
  public enum Kind: String, CaseIterable, Sendable {
    /// A task.
    case task
    /// A list.
    case list
    /// A saved filter.
    case filter
  }

  /// The effect on a record.
  public enum Outcome: String, CaseIterable, Sendable {
    /// The record did not exist and is added.
    case added
    /// The record exists and is changed.
    case changed
    /// The record stays as it is, because the store's is newer than the document's.
    case keptNewer
    /// The record was deleted here after the document was written, and stays deleted.
    case keptDeleted
  }

  /// The kind of object that the record describes.
  public let kind: Kind
  /// The id of the task or list; `nil` for a saved filter, which has only a name.
  public let id: UUID?
  /// The title of the task or the name of the list or filter: after the import, or in the document if it stays deleted.
  public let name: String
  /// The effect on the record.
  public let outcome: Outcome

  /// A closure that is called for each record that an import changes or refuses to change; may throw to end the import.
  public typealias Observer = (ImportedRecord) throws -> Void
}

/// One kind of thing that an import did not understand or could not store as a field.
///
/// ```swift
/// let summary = try store.importDocument(from: "export.json")
/// for remark in summary.account { print(remark.kind, remark.count, remark.example, remark.line ?? 0) }
/// ```
public struct ImportRemark: Hashable, Sendable {
  /// The kind of thing that was not understood, in one word, such as `recurrence`, `column`, `zone` or `date`.
  ///
  /// One of `alarm`, `attribute`, `cell`, `code`, `column`, `component`, `date`, `deleted task`, `depends`, `duplicate`,
  /// `duration`, `encoding`, `extension`, `front matter`, `heading`, `id`, `line`, `note`, `order`, `parent`, `priority`,
  /// `property`, `quote`, `recurrence`, `relation`, `reminder`, `row`, `state`, `tag`, `text`, `title`, `until`, `uuid`,
  /// `value`, `wait` and `zone`; a later version may add some.
  public let kind: String
  /// How many times it occurred.
  public internal(set) var count: Int
  /// The first occurrence, as it is in the document.
  ///
  /// It is truncated after 120 characters. For columns it lists all of them, truncated after 1,000 characters.
  public let example: String
  /// The line of the first occurrence, from 1; `nil` if it has none.
  public let line: Int?
}

/// One kind of thing that a reader did not understand.
package struct DocumentRemark: Hashable, Sendable {
  /// The kind, as in ``ImportRemark/kind``: one of a few fixed words, never a text of the document.
  package let kind: String
  /// The text in the document, at its first occurrence.
  package private(set) var example: String
  private var mostCharacters = 120
  /// How many times it occurred.
  package var count = 1

  /// Creates a remark.
  package init(_ kind: String, _ example: String) {
    (self.kind, self.example) = (kind, example)
  }

  /// The example, truncated.
  var shortExample: String {
    let short = example.prefix(mostCharacters)
    return short + (short.endIndex == example.endIndex ? "" : "…")
  }

  /// Appends another example of the same kind.
  package mutating func list(_ example: String) {
    mostCharacters = 1_000
    if self.example.utf8.count < 4 * mostCharacters { self.example += ", " + example }
  }
}

extension [ImportRemark] {
  /// Counts a remark under its kind, of which the first one remains the example.
  mutating func add(_ remark: DocumentRemark, at line: Int?) {
    if let index = firstIndex(where: { $0.kind == remark.kind }) {
      self[index].count += remark.count
    } else {
      append(ImportRemark(kind: remark.kind, count: remark.count, example: remark.shortExample, line: line))
    }
  }
}

extension TallyError {
  /// The error of a strict import that found something it does not understand.
  static func notUnderstood(_ remark: DocumentRemark) -> TallyError {
    TallyError(
      .malformedDocument, "The \(remark.kind) “\(remark.example)” is not understood",
      remedy: "Correct it, or import without --strict, which skips only this")
  }
}
