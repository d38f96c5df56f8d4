internal import Foundation
internal import LMDB

/// Reads a document and compares it with a store, batch by batch; the caller may write the batches.
///
/// Memory does not grow with the document, except for 16 bytes and their hashing per record, which detect duplicate
/// ids, and for completions of existing tasks that come before the tasks.
struct DocumentImporter: ~Copyable {
  /// The keys of the outermost object.
  private enum Key: String, DocumentKey {
    case exportDate, appVersion, schemaVersion, lists, tasks, completions

    static let table = DocumentKeyTable<Key>()
  }

  /// The reader's position in the document.
  private enum Section {
    case beginning, document, lists, tasks, completions, lines, end
  }

  private let options: ImportOptions
  private let format: InterchangeFormat
  private var reader: JSONReader
  private var section = Section.beginning
  private var entries: DocumentEntries<Key>
  private var hasVersion = false
  private var hasTasks = false

  private var taskIDs: Set<UUID> = []
  private var listIDs: Set<UUID> = []
  private var references = ListReferences()
  private var placement = ImportPlacement()
  /// Completions whose tasks may still come.
  private var heldCompletions: [Completion] = []
  private(set) var summary: ImportSummary

  init(_ input: consuming JSONInput, format: InterchangeFormat, options: ImportOptions) {
    self.options = options
    self.format = format
    reader = JSONReader(input, framing: format == .json ? .document : .lines)
    entries = DocumentEntries(Key.self, isLenient: options.isLenient)
    summary = ImportSummary()
    summary.isDryRun = options.isDryRun
  }

  /// The bytes read so far.
  var byteCount: Int64 { reader.input.consumedByteCount }

  /// Reads until a batch is full or the document ends; `nil` after its end.
  ///
  /// - Throws: the error of the document, with its position. The importer cannot be used afterwards.
  mutating func nextBatch(
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws -> ImportBatch? {
    guard section != .end else { return nil }
    var batch = ImportBatch()
    while section != .end, !batch.isFull { try step(&batch, in: transaction) }
    return batch
  }
}

extension DocumentImporter {
  /// Reads one record, or goes from one section to another.
  private mutating func step(
    _ batch: inout ImportBatch, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    switch section {
    case .beginning: try begin()
    case .document: try readEntry(&batch)
    case .lists:
      if try beginsRecord(before: .endArray, else: .document) { try readList(&batch, in: transaction) }
    case .tasks:
      if try beginsRecord(before: .endArray, else: .document) { try readTask(&batch, in: transaction) }
    case .completions:
      if try beginsRecord(before: .endArray, else: .document) { try readCompletion(&batch, in: transaction) }
    case .lines:
      if try beginsRecord(before: .end, else: .end) { try readTask(&batch, in: transaction) }
      if section == .end { try references.checkAllKnown() }
    case .end: break
    }
  }

  private mutating func begin() throws {
    section = format == .json ? .document : .lines
    if section == .document, try reader.next() != .beginObject { throw reader.fault("The document is not an object") }
  }

  /// Whether an object begins; the token that ends the section leads to the next one.
  private mutating func beginsRecord(before end: JSONReader.Token, else next: Section) throws -> Bool {
    let token = try reader.next()
    if token == .beginObject { return true }
    guard token == end else { throw reader.fault("An object is expected here") }
    section = next
    return false
  }

  /// Reads one entry of the outermost object, up to the beginning of an array.
  private mutating func readEntry(_ batch: inout ImportBatch) throws {
    guard let key = try entries.next(from: &reader) else { return try finish(&batch) }
    switch key {
    case .exportDate: _ = try reader.read(.instant, for: key)
    case .appVersion: _ = try reader.read(.text, for: key)
    case .schemaVersion: try checkVersion(try reader.read(.integer, for: key))
    case .lists: try beginArray(.lists, key)
    case .tasks: try beginArray(.tasks, key)
    case .completions: try beginArray(.completions, key)
    }
  }

  private mutating func beginArray(_ section: Section, _ key: Key) throws {
    guard try reader.next() == .beginArray else { throw reader.fault("The value of \(key.text) is not an array") }
    self.section = section
    if section == .tasks { hasTasks = true }
  }

  private mutating func checkVersion(_ version: FieldValue?) throws {
    hasVersion = true
    let known = InterchangeFormat.schemaVersions
    guard let version = version?.integer, !known.contains(version) else { return }
    let isNewer = version > known.upperBound
    throw TallyError(
      isNewer ? .newerFormat : .malformedDocument,
      "The document has schema version \(version); this version of Tally reads versions up to \(known.upperBound)",
      remedy: isNewer ? "Use a newer version of Tally; nothing was imported" : "Correct the version",
      at: reader.tokenPosition)
  }

  private mutating func finish(_ batch: inout ImportBatch) throws {
    guard hasVersion else { throw reader.fault("The document has no schemaVersion") }
    // Only the end may follow, or the reader throws.
    _ = try reader.next()
    try references.checkAllKnown()
    batch.completions += heldCompletions
    heldCompletions = []
    section = .end
  }
}

extension DocumentImporter {
  private mutating func readTask(
    _ batch: inout ImportBatch, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let position = reader.tokenPosition
    let document = try TaskDocument(from: &reader, isLenient: options.isLenient)
    let id = document.id ?? transaction.ids.next(at: transaction.now)
    guard taskIDs.insert(id).inserted else { throw TallyError.duplicate("task", id, at: position) }
    let old = try transaction.record(TaskRecord.self, id)
    let task = try locating(at: position) {
      let task = try document.task(replacing: old?.item, id: id, now: transaction.now) {
        try placement.orderAtEnd(for: $0, in: transaction)
      }
      try task.validateTextSize()
      return task
    }
    if let listID = task.listID { try references.note(listID, at: position, in: transaction) }
    placement.note(task)
    batch.readCount += 1
    guard summary.tasks.count(old?.item.isIdentical(to: task)) else { return }
    batch.textSizeInBytes += task.title.utf8.count + (task.notes?.utf8.count ?? 0)
    if let old {
      batch.changedTasks.append(RecordChange(from: old, to: task, at: transaction.commitSequence))
    } else {
      let stamp = ChangeStamp(replacing: nil, at: transaction.commitSequence)
      batch.newTasks.append(TaskRecord(item: task, stamp: stamp))
    }
  }

  private mutating func readList(
    _ batch: inout ImportBatch, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let position = reader.tokenPosition
    let document = try ListDocument(from: &reader, isLenient: options.isLenient)
    guard listIDs.insert(document.id).inserted else { throw TallyError.duplicate("list", document.id, at: position) }
    let old = try transaction.record(ListRecord.self, document.id)
    let list = try locating(at: position) {
      try document.list(replacing: old?.item, now: transaction.now) { try placement.listOrderAtEnd(in: transaction) }
    }
    references.define(list.id)
    placement.note(list)
    batch.readCount += 1
    guard summary.lists.count(old?.item.isIdentical(to: list)) else { return }
    batch.lists.append(RecordChange(from: old, to: list, at: transaction.commitSequence))
  }

  private mutating func readCompletion(
    _ batch: inout ImportBatch, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    let completion = try CompletionDocument.read(from: &reader, isLenient: options.isLenient)
    _ = summary.completions.count(try transaction.isRecorded(completion))
    // If the task was completed in another list, the entry changes its task's entry, which must exist first.
    if completion.isTaskDeleted || hasTasks {
      batch.completions.append(completion)
    } else {
      heldCompletions.append(completion)
    }
    batch.readCount += 1
  }

  /// Adds the record's place to the errors of its values.
  private func locating<R>(at position: TextPosition, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as TallyError where error.position == nil {
      throw error.at(position)
    }
  }
}

extension ImportSummary.Counts {
  /// Counts a record, which is new for `nil`, else as stored or not; returns whether to write it.
  fileprivate mutating func count(_ isAsStored: Bool?) -> Bool {
    switch isAsStored {
    case nil: added += 1
    case false?: changed += 1
    case true?: unchanged += 1
    }
    return isAsStored != true
  }
}

extension TallyError {
  fileprivate static func duplicate(_ kind: String, _ id: UUID, at position: TextPosition) -> TallyError {
    TallyError(
      .duplicateID, "The \(kind) \(id.uuidString.lowercased()) appears twice in the document",
      remedy: "Remove one of them, or give one another id", at: position)
  }
}
