public import Foundation
import LMDB
import SystemPackage
import TallySystem

/// The options of an import of records.
public struct RecordImportOptions: Hashable, Sendable {
  /// What an import does with a record whose id is in use.
  public enum ExistingRecords: Hashable, Sendable {
    /// It is refused.
    case fail
    /// The stored record stays.
    case skip
    /// It replaces the stored record.
    case replace
  }

  /// What happens to a record whose id is in use, in the store or in an earlier line.
  public var existing: ExistingRecords
  /// Whether lines that are refused are left out and listed, instead of ending the import.
  public var isLenient: Bool
  /// Whether keys that the type does not read are ignored, instead of refusing their line.
  public var ignoresUnknownKeys: Bool
  /// The name of the import in the history, see ``Writer/setActionName(_:)``; `nil` for none.
  public var actionName: String?
  /// Whether to refuse an import that cannot be undone, because it is more than the history keeps.
  public var mustBeUndoable: Bool

  /// Creates options; by default anything unexpected ends the import, and nothing is stored.
  public init(
    existing: ExistingRecords = .fail, isLenient: Bool = false, ignoresUnknownKeys: Bool = false,
    actionName: String? = nil, mustBeUndoable: Bool = false
  ) {
    (self.existing, self.isLenient, self.ignoresUnknownKeys) = (existing, isLenient, ignoresUnknownKeys)
    (self.actionName, self.mustBeUndoable) = (actionName, mustBeUndoable)
  }
}

/// The result of an import of records.
public struct RecordImportSummary: Sendable {
  /// A line that a lenient import has left out.
  public struct RefusedLine: Sendable {
    /// The line, from 1.
    public let line: Int
    /// What is wrong with it, and at which column.
    public let error: TallyError
  }

  /// The number of records that were new.
  public internal(set) var insertedCount = 0
  /// The number of records that replaced others.
  public internal(set) var replacedCount = 0
  /// The number of records that were stored with the same contents already.
  public internal(set) var unchangedCount = 0
  /// The number of records that were skipped because their ids are in use.
  public internal(set) var skippedCount = 0
  /// The number of lines that were refused.
  public internal(set) var refusedCount = 0
  /// The first thousand lines that were refused, in their order.
  public internal(set) var refusedLines: [RefusedLine] = []
}

extension Store {
  /// Imports records from a file with one of them a line as JSON, in one write.
  ///
  /// ```swift
  /// let summary = try await store.importRecords(
  ///   Workout.self, from: file, options: RecordImportOptions(existing: .replace))
  /// ```
  ///
  /// The file is what ``exportRecords(_:to:)`` has written, or any such lines that the type decodes. Everything is
  /// stored, or nothing. One undo takes it back, as long as it is within what the history keeps: some 200,000 new
  /// records. Other writers wait until it is done.
  ///
  /// - Parameters:
  ///   - type: the type of the records.
  ///   - file: the file.
  ///   - options: what to do with ids that are in use, and how strict to be.
  /// - Returns: what became of the lines.
  /// - Throws: what ``Writer/importRecords(_:from:options:)`` throws, and what ``write(_:)`` throws.
  @discardableResult
  public func importRecords<Record: StoredRecord & Decodable>(
    _ type: Record.Type, from file: URL, options: RecordImportOptions = RecordImportOptions()
  ) async throws -> RecordImportSummary {
    try await Self.perform {
      try self.writeAndWait { try $0.importRecords(Record.self, from: file, options: options) }
    }
  }
}

extension Writer {
  /// Imports records from a file with one of them a line as JSON.
  ///
  /// The lines are read one after the other, as if their records were saved so: an id that is in two lines is in use for
  /// the second. Texts are UTF-8; blank lines are skipped, and one beyond 64 MiB is refused. A write in which an import
  /// fails commits nothing, even if its closure goes on.
  ///
  /// - Parameters:
  ///   - type: the type of the records.
  ///   - file: the file.
  ///   - options: what to do with ids that are in use, and how strict to be.
  /// - Returns: what became of the lines.
  /// - Throws: `inputUnreadable`; for a line, with its position: `malformedDocument` if it is not JSON or the type cannot
  ///   be decoded from it, `unknownKey`, `duplicateID`, and what ``save(_:)`` throws; `irreversible` as the options say;
  ///   `cancelled` if the Swift task was cancelled; what the storage throws.
  /// - Complexity: a few microseconds a record, and more for its indexes and measures. Memory does not grow with the
  ///   file, but for the pages that the transaction changes.
  @discardableResult
  public mutating func importRecords<Record: StoredRecord & Decodable>(
    _ type: Record.Type, from file: URL, options: RecordImportOptions = RecordImportOptions()
  ) throws -> RecordImportSummary {
    let input = try LineFile(FilePath(of: file, else: .inputUnreadable))
    if let name = options.actionName { try setActionName(name) }
    var importer = try RecordImporter<Record>(from: input, options, try prepared(type).collection.name)
    do {
      let summary = try importer.run(in: &self)
      guard !options.mustBeUndoable || state.isUndoable else { throw TallyError.irreversibleImport }
      return summary
    } catch {
      // Some lines may have been stored, and must not be committed.
      state.isHalfDone = true
      throw error
    }
  }
}

/// A file that is read once from its beginning.
private final class LineFile {
  private let descriptor: FileDescriptor

  init(_ path: FilePath) throws {
    descriptor = try TallyError.replacing(TallyError.unreadableInput) {
      // A pipe without a writer must not block the store's writers.
      try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    }
    guard try TallyError.replacing(TallyError.unreadableInput, { try descriptor.stat() }).type == .regular else {
      throw TallyError(
        .inputUnreadable, "The input is a directory, a pipe or a device", remedy: "Give the path of a file")
    }
  }

  deinit {
    try? descriptor.close()
  }

  func read(into buffer: inout [UInt8]) throws -> Int {
    try TallyError.replacing(TallyError.unreadableInput) {
      // The pointer is used only during the call.
      unsafe try buffer.withUnsafeMutableBytes { try unsafe descriptor.read(into: $0) }
    }
  }
}

/// Stores the lines of a file, some thousands at a time.
private struct RecordImporter<Record: StoredRecord & Decodable>: ~Copyable {
  /// A record, its encoded id, and where it begins.
  private typealias Entry = (record: Record, id: [UInt8], position: TextPosition)

  private let options: RecordImportOptions
  private let collection: String
  private var reader: JSONReader
  private var line = RecordLine()
  private let input = RecordInput(FieldTable(), isText: true)
  /// Whether the type reads the field of each number.
  private var isRead: [Bool] = []
  /// The generation of the numbers.
  private var generation = 0
  /// The records that are read and not stored, and their ids, of which none is twice among them.
  private var entries: [Entry] = []
  private var ids: Set<[UInt8]> = []
  private var summary = RecordImportSummary()
  /// How many records have given amounts to measures since these were last written.
  private var amountCount = 0

  private static var mostEntries: Int { 4_096 }
  /// The most bytes of lines whose records are not stored, unless one line is longer.
  private static var mostBytes: Int64 { 4 << 20 }
  private static var mostAmounts: Int { 1 << 18 }
  private static var mostRefusedLines: Int { 1_000 }

  init(from file: LineFile, _ options: RecordImportOptions, _ collection: String) throws {
    (self.options, self.collection) = (options, collection)
    reader = JSONReader(JSONInput(source: file.read), framing: .lines)
    reader.textByteLimit = RecordLine.maximumByteCount
  }

  mutating func run(in writer: inout Writer) throws -> RecordImportSummary {
    var start: Int64 = 0
    while try readLine(in: &writer) {
      let byteCount = reader.input.consumedByteCount
      guard entries.count >= Self.mostEntries || byteCount - start >= Self.mostBytes else { continue }
      try store(in: &writer)
      start = byteCount
    }
    try store(in: &writer)
    return summary
  }

  /// Reads a line; returns false at the end of the file.
  private mutating func readLine(in writer: inout Writer) throws -> Bool {
    do {
      guard try line.read(from: &reader) else { return false }
    } catch let error as TallyError where error.position != nil {
      try refuse(error)
      try reader.skipLine()
      return true
    }
    let entry: Entry
    do {
      let record = try decode()
      entry = (record, try RecordTables<Record>.key(of: record.id), line.start)
    } catch {
      try refuse(located(error))
      return true
    }
    if ids.contains(entry.id) { try store(in: &writer) }
    ids.insert(entry.id)
    entries.append(entry)
    return true
  }

  /// The record of the last line.
  private mutating func decode() throws -> Record {
    if generation != line.generation { (generation, isRead) = (line.generation, []) }
    input.names = line.names
    let bytes = line.bytes
    let isKnown = line.fields.allSatisfy { $0.number < isRead.count && isRead[$0.number] }
    // Unsafe by signature only: bytes have no padding.
    if isKnown { return try unsafe input.reading(bytes.span.bytes) { try $0.decode(Record.self) } }
    let (record, rest) = try unsafe input.readingWithRest(bytes.span.bytes) { try $0.decode(Record.self) }
    for field in line.fields {
      guard !rest.contains(where: { $0.number == field.number }) else {
        if options.ignoresUnknownKeys { continue }
        throw TallyError(
          .unknownKey, "The records of '\(collection)' have no '\(line.names.names[field.number].prefix(80))'",
          remedy: "Correct the key, or let the import ignore unknown keys; nothing was imported", at: field.key)
      }
      while isRead.count <= field.number { isRead.append(false) }
      isRead[field.number] = true
    }
    return record
  }

  /// An error of the last line, with its position.
  private func located(_ error: any Error) -> TallyError {
    guard let decoding = error as? DecodingError else { return Self.placed(error, at: line.start) }
    let (what, path) =
      switch decoding {
      case .keyNotFound(let key, let context): ("The line has no '\(key.stringValue)'", context.codingPath)
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        ("The value is not one that the records of '\(collection)' have here", context.codingPath)
      @unknown default: ("The line is not a record of '\(collection)'", [any CodingKey]())
      }
    let number = path.first.flatMap { line.names.knownNumber(of: $0.stringValue) }
    let field = line.fields.first { $0.number == number }
    return TallyError(
      .malformedDocument, what, remedy: "Correct the line; nothing was imported", at: field?.value ?? line.start,
      cause: decoding.withoutValues)
  }

  private static func placed(_ error: any Error, at position: TextPosition) -> TallyError {
    guard let known = error as? TallyError else {
      return TallyError(
        .invalidValue, "The record's type refuses the line", remedy: "Correct the line; nothing was imported",
        at: position, cause: error)
    }
    return TallyError(
      known.code, known.message, remedy: known.remedy, at: known.position ?? position, cause: known.cause)
  }

  /// Lists a line that is refused; throws unless the import is lenient.
  private mutating func refuse(_ error: TallyError) throws {
    guard options.isLenient else { throw error }
    summary.refusedCount += 1
    guard summary.refusedLines.count < Self.mostRefusedLines else { return }
    let own = TallyError(
      error.code, error.message, remedy: "Correct the line, and import it again", at: error.position,
      cause: error.cause)
    summary.refusedLines.append(.init(line: error.position?.line ?? 0, error: own))
  }
}

extension RecordImporter {
  /// Stores the records that were read.
  private mutating func store(in writer: inout Writer) throws {
    try TallyError.checkCancellation()
    guard !entries.isEmpty else { return }
    do {
      try store(entries[...], in: &writer)
    } catch  where Self.isRefusal(error) && !writer.state.isHalfDone {
      // One of them is refused, and nothing is stored yet: one by one it shows which.
      for index in entries.indices {
        do {
          try store(entries[index...index], in: &writer)
        } catch  where Self.isRefusal(error) && !writer.state.isHalfDone {
          try refuse(Self.placed(error, at: entries[index].position))
        }
      }
    }
    amountCount += entries.count
    if amountCount >= Self.mostAmounts {
      try writer.change { try $0.writeAmounts() }
      amountCount = 0
    }
    entries.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
  }

  /// Whether an error is about a record, and not about the store.
  private static func isRefusal(_ error: any Error) -> Bool {
    guard let error = error as? TallyError else { return !(error is LMDBError) }
    let codes: [TallyError.Code] = [
      .duplicateID, .duplicateKey, .invalidKey, .invalidValue, .unchangeableRecord, .valueOutOfRange,
    ]
    return codes.contains(error.code)
  }

  /// Stores some records in one batch; throws before it writes if one of them is refused.
  private mutating func store(_ part: ArraySlice<Entry>, in writer: inout Writer) throws {
    let tables = try writer.prepared(Record.self)
    let names = try writer.fieldTable(of: tables)
    var (batch, new, counts) = (try RecordBatch(tables, in: &writer), [Record](), summary)
    if options.existing == .fail {
      // The batch looks for ids that are in use, and quicker.
      new = part.map(\.record)
    } else {
      for (record, id, _) in part {
        guard let stored = try tables.stored(record.id, key: id, names, in: writer.base) else {
          new.append(record)
          continue
        }
        guard options.existing == .replace else {
          counts.skippedCount += 1
          continue
        }
        guard !tables.collection.isEventLog else { throw TallyError.unchangeable(collection) }
        if try batch.replace(stored, by: record) { counts.replacedCount += 1 } else { counts.unchangedCount += 1 }
      }
    }
    try batch.insert(new)
    counts.insertedCount += new.count
    do {
      try batch.apply(in: &writer)
    } catch let error as TallyError where error.code == .duplicateID {
      throw TallyError.idInUse(collection)
    }
    summary = counts
  }
}

extension TallyError {
  fileprivate static func idInUse(_ collection: String) -> TallyError {
    TallyError(
      .duplicateID, "A record of '\(collection)' with this id is there already",
      remedy: "Let the import skip or replace records that exist; nothing was imported")
  }

  fileprivate static let irreversibleImport = TallyError(
    .irreversible, "The import replaces or adds more than the history keeps, so that it could not be undone",
    remedy: "Import less at once, or without asking that it can be undone; nothing was imported")
}
