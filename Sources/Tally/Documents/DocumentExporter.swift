internal import LMDB
internal import SystemPackage
internal import TallySystem

/// Writes one snapshot of a store as a document, record by record.
///
/// Tasks and lists come in the order of their ids, which is that of their tables; completions by time, those of
/// existing tasks first. So the same store gives the same bytes, and nothing is collected or sorted.
struct DocumentExporter: ~Copyable {
  private let output: OutputBehind
  private let format: InterchangeFormat
  private let selection: ExportSelection?
  private let observer: InterchangeProgress.Observer?
  private var writer: JSONWriter
  private var summary = ExportSummary()
  private var totalTaskCount = 0

  /// Prepares an export of a selection; of everything without one.
  init(
    output: FileDescriptor, format: InterchangeFormat, selection: ExportSelection? = nil,
    observer: InterchangeProgress.Observer?
  ) {
    self.output = OutputBehind(to: output)
    self.format = format
    self.selection = selection
    self.observer = observer
    writer = JSONWriter(layout: format == .json ? .pretty : .compact)
  }

  /// Writes everything.
  mutating func run(in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws
    -> ExportSummary
  {
    defer { output.stop() }
    totalTaskCount = try selection?.taskIDs.count ?? transaction.taskCount
    try TallyError.checkCancellation()
    switch format {
    case .json: try writeDocument(of: transaction)
    case .ndjson: try writeRecords(of: transaction)
    }
    try flush()
    try TallyError.replacing(TallyError.unwritableOutput) { try output.finish() }
    try reportProgress()
    return summary
  }

  private mutating func writeDocument(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>)
    throws
  {
    writer.beginObject()
    writer.entry("exportDate", .instant(transaction.now))
    writer.entry("appVersion", .text(TaskStore.libraryVersion))
    writer.entry("schemaVersion", .integer(InterchangeFormat.schemaVersions.upperBound))
    writer.beginArray("lists")
    try writeLists(of: transaction)
    writer.endArray()
    writer.beginArray("tasks")
    try writeTasks(of: transaction)
    writer.endArray()
    writer.beginArray("completions")
    try writeCompletions(of: transaction)
    writer.endArray()
    writer.beginArray("filters")
    try writeFilters(of: transaction)
    writer.endArray()
    writer.endObject()
    writer.lineFeed()
  }

  /// Writes lines: lists before their tasks, completions after them, so that they can be read in one pass.
  private mutating func writeRecords(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>)
    throws
  {
    try writeLists(of: transaction)
    try writeTasks(of: transaction)
    try writeCompletions(of: transaction)
    try writeFilters(of: transaction)
  }

  private mutating func writeLists(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws
  {
    try transaction.tables.lists.forEach(in: transaction.base) { key, value in
      let id = try IDKey(decoding: key).id
      guard selection?.listIDs.contains(id) ?? true else { return true }
      beginLine(.list)
      ListDocument.write(try ListRecord(id: id, decoding: value).item, to: &writer)
      endLine()
      summary.listCount += 1
      try flush(ifAtLeast: OutputBehind.blockSizeInBytes)
      return true
    }
  }

  private mutating func writeTasks(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws
  {
    try transaction.tables.tasks.forEach(in: transaction.base) { key, value in
      let id = try IDKey(decoding: key).id
      guard selection?.taskIDs.contains(id) ?? true else { return true }
      try TaskDocument.write(TaskFields(value), id: id, to: &writer)
      if format == .ndjson { writer.lineFeed() }
      summary.taskCount += 1
      try flush(ifAtLeast: OutputBehind.blockSizeInBytes)
      if summary.taskCount.isMultiple(of: InterchangeProgress.strideInTasks) { try reportProgress() }
      return true
    }
  }

  private mutating func writeCompletions(
    of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    // Those of deleted tasks belong to no selection, and those of others follow from the tasks, nearly.
    guard selection == nil else { return }
    try transaction.forEachDetachedCompletion { completion in
      beginLine(.completion)
      CompletionDocument.write(completion, to: &writer)
      endLine()
      summary.completionCount += 1
      try flush(ifAtLeast: OutputBehind.blockSizeInBytes)
      if summary.completionCount.isMultiple(of: InterchangeProgress.strideInTasks) { try reportProgress() }
    }
  }

  private mutating func writeFilters(
    of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    guard selection == nil else { return }
    for filter in try transaction.savedFilters() {
      beginLine(.filter)
      FilterDocument.write(filter, to: &writer)
      endLine()
      summary.filterCount += 1
    }
  }

  private mutating func beginLine(_ kind: LineKind) {
    guard format == .ndjson else { return }
    writer.beginObject()
    writer.key(kind.rawValue)
  }

  private mutating func endLine() {
    guard format == .ndjson else { return }
    writer.endObject()
    writer.lineFeed()
  }

  private mutating func flush(ifAtLeast byteCount: Int = 1) throws {
    let written = writer.bytes.count
    guard written >= byteCount else { return }
    try TallyError.replacing(TallyError.unwritableOutput) { try writer.withBytes { try output.write(&$0) } }
    summary.byteCount += Int64(written)
  }

  private func reportProgress() throws {
    try TallyError.checkCancellation()
    try observer?(
      InterchangeProgress(
        taskCount: summary.taskCount, totalTaskCount: totalTaskCount, byteCount: summary.byteCount, totalByteCount: nil)
    )
  }
}
