package import Foundation
import LMDB
public import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Exports all tasks, or those that a filter matches, to a file, which replaces an older one as a whole.
  ///
  /// The export shows one snapshot while writers continue, and its memory does not grow with the store. It is written
  /// to a temporary file beside the target, flushed and renamed. If it fails or is cancelled, nothing is left behind
  /// and the old file stays unchanged. Only its owner may read the file. A symbolic link is replaced, not followed. The
  /// call blocks until the export is done, so run it where blocking is allowed.
  ///
  /// ```swift
  /// let day = CalendarDay(containing: .now(), in: TimeZone.current)
  /// try store.export(to: FilePath(InterchangeFormat.json.defaultFileName(on: day)))
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - format: The format of the file.
  ///   - filter: The tasks to export, with their ancestors and lists and without the history of deleted tasks; `nil`
  ///     for everything.
  ///   - progress: Called from time to time; may throw to end the export.
  /// - Returns: The numbers of exported records.
  /// - Throws: `outputNotCreated`, `diskFull`, `cancelled` if the Swift task was cancelled, what `progress` throws,
  ///   what `read` throws, and with a filter what ``StoreTransaction/tasks(_:)`` throws.
  /// - Complexity: one or two microseconds for each task; with a filter, also a set of their ids, 16 bytes each.
  @discardableResult
  public func export(
    to file: FilePath,
    format: InterchangeFormat = .json,
    matching filter: TaskFilter? = nil,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    try exportFile(file) { try export(to: $0, format: format, matching: filter, progress: progress) }
  }

  /// Exports all tasks, or those that a filter matches, to an open file or pipe, which stays open.
  ///
  /// It works as ``export(to:format:matching:progress:)-(FilePath,_,_,_)``, but a failed export leaves the part that it
  /// has written.
  @discardableResult
  public func export(
    to descriptor: FileDescriptor,
    format: InterchangeFormat = .json,
    matching filter: TaskFilter? = nil,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    try read { transaction in
      let selection = try filter.map { try ExportSelection($0, in: transaction) }
      var exporter = DocumentExporter(
        output: descriptor, format: format, selection: selection, observer: progress)
      return try exporter.run(in: transaction)
    }
  }
}

/// The tasks that a filter selects for an export, with their ancestors and lists.
///
/// Only the ids are held in memory, 16 bytes for each and the overhead of a set.
struct ExportSelection {
  private(set) var taskIDs: Set<UUID> = []
  private(set) var listIDs: Set<UUID> = []

  init(_ filter: TaskFilter, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws {
    var work = QueryWork()
    var found: [UUID] = []
    _ = try transaction.scan(try transaction.resolved(filter, by: .created), after: nil, limit: nil, &work) { id in
      found.append(id)
      return true
    }
    for id in found { try add(id, in: transaction) }
  }

  /// Adds a task with its ancestors, up to one that has been added already.
  private mutating func add(
    _ id: UUID, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    var next: UUID? = id
    while let id = next, taskIDs.insert(id).inserted {
      let parentage = try transaction.tables.parentage(of: id, in: transaction.base)
      if let listID = parentage?.listID { listIDs.insert(listID) }
      next = parentage?.parentID
    }
  }
}

/// The result of an export.
public struct ExportSummary: Hashable, Sendable {
  /// The number of exported tasks.
  public internal(set) var taskCount = 0
  /// The number of exported lists.
  public internal(set) var listCount = 0
  /// The number of exported completions, which are those that do not follow from the tasks.
  public internal(set) var completionCount = 0
  /// The number of exported saved filters.
  public internal(set) var filterCount = 0
  /// The size of the export, in bytes.
  public internal(set) var byteCount: Int64 = 0
  /// What the format cannot express, if the export has left Tally's extension out: a remark for each field.
  ///
  /// Without ids, places and the times of changes, which no person has written.
  public package(set) var account: [ExportRemark] = []
}

/// A field that an export could not write for some tasks.
public struct ExportRemark: Hashable, Sendable {
  /// The name of the field in Tally's own formats, such as `notes`; `list` for a list, `series` for the days and the zone
  /// of one.
  public let kind: String
  /// The number of tasks.
  public let count: Int
  /// The title of the first one, truncated after 120 characters.
  public let example: String

  /// Creates a remark.
  package init(_ remark: DocumentRemark) {
    let example = remark.shortExample
    (kind, count, self.example) = (remark.kind, remark.count, example)
  }
}

/// Writes one snapshot of a store as a document, record by record.
///
/// Tasks and lists are in the order of their ids, which is that of their tables; completions are in the order of time,
/// those of existing tasks first. Therefore the same store gives the same bytes, and nothing is collected or sorted.
struct DocumentExporter: ~Copyable {
  private let output: OutputBehind
  private let format: InterchangeFormat
  private let selection: ExportSelection?
  /// The series of the selected tasks.
  private var exportedSeries: Set<UUID> = []
  private let observer: InterchangeProgress.Observer?
  private var writer: JSONWriter
  private var summary = ExportSummary()
  private var totalTaskCount = 0

  /// Prepares an export of a selection, or of everything if there is none.
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

  /// Writes the whole document.
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
    try output.write(&writer.bytes, ifAtLeast: 1, countingIn: &summary)
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
    try writeRecords(of: transaction)
    writer.endObject()
    writer.lineFeed()
  }

  /// Writes lists before their tasks and completions after them, so that lines can be read in one pass.
  private mutating func writeRecords(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>)
    throws
  {
    try writeArray("lists") { try $0.writeLists(of: transaction) }
    try writeArray("tasks") { try $0.writeTasks(of: transaction) }
    try writeArray("completions") { try $0.writeCompletions(of: transaction) }
    try writeArray("filters") { try $0.writeFilters(of: transaction) }
    // A document without series is as in earlier versions.
    let series = try transaction.storedSeries().filter { selection == nil || exportedSeries.contains($0.id) }
    if !series.isEmpty { try writeArray("series") { try $0.write(series) } }
  }

  private mutating func writeArray(_ name: StaticString, _ write: (inout DocumentExporter) throws -> Void) throws {
    if format == .json { writer.beginArray(name) }
    try write(&self)
    if format == .json { writer.endArray() }
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
      try output.write(&writer.bytes, ifAtLeast: OutputBehind.blockSizeInBytes, countingIn: &summary)
      return true
    }
  }

  private mutating func writeTasks(of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws
  {
    try transaction.tables.tasks.forEach(in: transaction.base) { key, value in
      let id = try IDKey(decoding: key).id
      guard selection?.taskIDs.contains(id) ?? true else { return true }
      let fields = try TaskFields(value)
      try TaskDocument.write(fields, id: id, to: &writer)
      // All series are exported together with all tasks.
      if selection != nil, let series = try fields.series { exportedSeries.insert(series.id) }
      if format == .ndjson { writer.lineFeed() }
      summary.taskCount += 1
      try output.write(&writer.bytes, ifAtLeast: OutputBehind.blockSizeInBytes, countingIn: &summary)
      if summary.taskCount.isMultiple(of: InterchangeProgress.strideInTasks) { try reportProgress() }
      return true
    }
  }

  private mutating func writeCompletions(
    of transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    // Completions of deleted tasks belong to no selection, and nearly all others follow from the tasks.
    guard selection == nil else { return }
    try transaction.forEachDetachedCompletion { completion in
      beginLine(.completion)
      CompletionDocument.write(completion, to: &writer)
      endLine()
      summary.completionCount += 1
      try output.write(&writer.bytes, ifAtLeast: OutputBehind.blockSizeInBytes, countingIn: &summary)
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

  private mutating func write(_ series: [TaskSeries]) throws {
    for series in series {
      beginLine(.series)
      try SeriesDocument.write(series, to: &writer)
      endLine()
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

  private func reportProgress() throws { try summary.report(of: totalTaskCount, to: observer) }
}

extension ExportSummary {
  fileprivate func report(of totalTaskCount: Int, to observer: InterchangeProgress.Observer?) throws {
    try TallyError.checkCancellation()
    try observer?(
      InterchangeProgress(
        taskCount: taskCount, totalTaskCount: totalTaskCount, byteCount: byteCount, totalByteCount: nil))
  }
}

/// Writes the tasks of an export in one format.
package protocol DocumentWriter {
  /// The bytes that are ready to be written; the exporter empties them.
  var bytes: [UInt8] { get set }

  /// Visits a task before any is written, for formats that must know something about all tasks.
  mutating func prepare(_ task: TaskItem)
  /// Visits a task on which the next one depends, for formats that refer to tasks by something other than their ids.
  mutating func prepare(dependency task: TaskItem)
  /// Writes the part before the tasks.
  mutating func begin()
  /// Writes a task.
  ///
  /// - Parameters:
  ///   - task: the task.
  ///   - list: the task's list.
  ///   - parent: the task's parent.
  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?)
  /// Writes the part after the tasks.
  mutating func end()
}

extension DocumentWriter {
  package mutating func prepare(_ task: TaskItem) {}
  package mutating func prepare(dependency task: TaskItem) {}
}

/// The order in which an export writes tasks.
package enum ExportOrder: Sendable {
  /// By id, as they are stored: in one pass, whatever the number of tasks.
  case id
  /// By list, and within it by its order; all tasks are held in memory.
  case place
}

extension TaskStore {
  /// Exports all tasks, or those that a filter matches with their ancestors, in another format.
  package func exportRecords(
    to output: FileDescriptor, matching filter: TaskFilter?, in order: ExportOrder, isPrepared: Bool,
    progress: InterchangeProgress.Observer?,
    writer: (_ calendar: Calendar, _ now: Timestamp, _ lists: [TaskList], _ series: [TaskSeries]) -> any DocumentWriter
  ) throws -> ExportSummary {
    try read { transaction in
      try TallyError.checkCancellation()
      let selection = try filter.map { try ExportSelection($0, in: transaction) }
      var exporter = RecordExporter(
        output: OutputBehind(to: output), selection: selection, order: order, observer: progress,
        writer: writer(
          transaction.calendar, transaction.now, try transaction.lists(), try transaction.storedSeries()))
      return try exporter.run(in: transaction, isPrepared: isPrepared)
    }
  }

  /// Writes a file that replaces an older one as a whole, as every export does.
  package func exportFile<R>(_ file: FilePath, _ body: (FileDescriptor) throws -> R) throws -> R {
    let output = try AtomicFile.create(replacing: file)
    let result = try body(output.descriptor)
    try output.commit()
    return result
  }
}

/// Passes the tasks of one snapshot to a writer, and writes the writer's bytes to a file.
private struct RecordExporter {
  let output: OutputBehind
  let selection: ExportSelection?
  let order: ExportOrder
  let observer: InterchangeProgress.Observer?
  var writer: any DocumentWriter
  var summary = ExportSummary()
  var lists: [UUID: TaskList] = [:]
  /// The lists of the tasks written so far: these formats contain no other lists.
  var writtenLists: Set<UUID> = []

  mutating func run(
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>, isPrepared: Bool
  ) throws -> ExportSummary {
    defer { output.stop() }
    for list in try transaction.lists() where selection?.listIDs.contains(list.id) ?? true { lists[list.id] = list }
    let total = try selection?.taskIDs.count ?? transaction.taskCount
    if isPrepared { try forEachTask(in: transaction) { exporter, task in exporter.writer.prepare(task) } }
    writer.begin()
    try forEachTask(in: transaction) { exporter, task in
      let parent = try task.parentID.flatMap { try transaction.task($0) }
      for id in task.dependsOn {
        if let other = try transaction.task(id) { exporter.writer.prepare(dependency: other) }
      }
      let list = task.listID.flatMap { exporter.lists[$0] }
      if let list { exporter.writtenLists.insert(list.id) }
      exporter.writer.write(task, in: list, under: parent)
      exporter.summary.taskCount += 1
      try exporter.output.write(
        &exporter.writer.bytes, ifAtLeast: OutputBehind.blockSizeInBytes, countingIn: &exporter.summary)
      if exporter.summary.taskCount.isMultiple(of: InterchangeProgress.strideInTasks) {
        try exporter.summary.report(of: total, to: exporter.observer)
      }
    }
    writer.end()
    try output.write(&writer.bytes, ifAtLeast: 1, countingIn: &summary)
    try TallyError.replacing(TallyError.unwritableOutput) { try output.finish() }
    try summary.report(of: total, to: observer)
    summary.listCount = writtenLists.count
    return summary
  }

  private mutating func forEachTask(
    in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>,
    _ body: (inout RecordExporter, TaskItem) throws -> Void
  ) throws {
    if order == .place {
      for task in try transaction.tasks(TaskQuery(.all, by: .place)).tasks
      where selection?.taskIDs.contains(task.id) ?? true { try body(&self, task) }
    } else {
      try transaction.tables.tasks.forEach(in: transaction.base) { key, value in
        let id = try IDKey(decoding: key).id
        guard selection?.taskIDs.contains(id) ?? true else { return true }
        try body(&self, try TaskRecord(id: id, decoding: value).item)
        return true
      }
    }
  }
}

/// Writes blocks of an export to a file on a separate thread while the next ones are being made.
///
/// Writing takes about half as long as making the blocks. A short export needs no thread. If the system has no thread
/// left, the caller writes: any thread that finds a block that nobody is writing writes it. An error is thrown by one
/// of the later calls, and nothing is written after it.
final class OutputBehind: Sendable {
  /// The size at which a block is written: the size of a pipe's buffer.
  static let blockSizeInBytes = 1 << 16
  /// The most blocks that may wait; more would only use memory.
  private static let blockLimit = 4
  /// The number of bytes after which write-back is started, so that the final flush is short.
  private static let writeBackStepInBytes = 8 << 20

  private struct State {
    var blocks: [[UInt8]] = []
    /// Blocks that have been written, kept to reuse their memory.
    var spare: [[UInt8]] = []
    /// Whether a thread is writing a block; only one at a time may.
    var isWriting = false
    /// The number of bytes written since write-back was last started.
    var bytesToWriteBack = 0
    var hasThread = false
    var isStopped = false
    var failure: (any Error)?
  }

  private let output: FileDescriptor
  private let detach: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state = Monitor(State())

  /// Creates the output; nobody else may write to the file until `finish` or `stop` has returned.
  ///
  /// - Parameters:
  ///   - output: The file.
  ///   - detach: Runs a closure on another thread; a test may replace it.
  init(
    to output: FileDescriptor,
    detach: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { Thread.detachNewThread($0) }
  ) {
    (self.output, self.detach) = (output, detach)
  }

  /// Writes a block and counts its bytes, unless it is shorter than a number of bytes.
  func write(
    _ bytes: inout [UInt8], ifAtLeast byteCount: Int, countingIn summary: inout ExportSummary
  ) throws {
    let written = bytes.count
    guard written >= byteCount else { return }
    try TallyError.replacing(TallyError.unwritableOutput) { try write(&bytes) }
    summary.byteCount += Int64(written)
  }

  /// Moves out the bytes of a block, and leaves an empty array with capacity for the next one.
  func write(_ bytes: inout [UInt8]) throws {
    try makeRoom()
    let needsThread = state.withLock { state in
      state.blocks.append(bytes)
      bytes = state.spare.popLast() ?? []
      guard !state.hasThread, state.blocks.count > 1 else { return false }
      state.hasThread = true
      return true
    }
    bytes.reserveCapacity(Self.blockSizeInBytes)
    state.wakeAll()
    if needsThread { startThread() }
  }

  /// Waits until everything is written; throws at the first error.
  func finish() throws {
    while writeNext() {}
    try state.wait { state throws in
      if let failure = state.failure { throw failure }
      return state.blocks.isEmpty && !state.isWriting ? true : nil
    }
    stop()
  }

  /// Stops using the file once the block that is being written is done; waiting blocks are dropped.
  func stop() {
    state.withLock { state in (state.isStopped, state.blocks) = (true, []) }
    state.wakeAll()
    state.wait { $0.isWriting ? nil : true }
  }

  /// Waits until another block may wait; writes one on this thread if no other does.
  private func makeRoom() throws {
    while true {
      let hasRoom = try state.wait { state throws -> Bool? in
        if let failure = state.failure { throw failure }
        if state.blocks.count < Self.blockLimit { return true }
        return state.isWriting ? nil : false
      }
      if hasRoom ?? false { return }
      _ = writeNext()
    }
  }

  private func startThread() {
    detach { [self] in
      nameCurrentThread("tally.write")
      while waitForBlock() { _ = writeNext() }
    }
  }

  /// Waits for a block that nobody is writing; returns false at the end.
  private func waitForBlock() -> Bool {
    state.wait { state in
      if state.isStopped { return false }
      return state.blocks.isEmpty || state.isWriting ? nil : true
    } ?? false
  }

  /// Writes the next block, unless another thread is writing or none is left.
  private func writeNext() -> Bool {
    let block: [UInt8]? = state.withLock { state in
      guard !state.isWriting, !state.blocks.isEmpty else { return nil }
      state.isWriting = true
      return state.blocks.removeFirst()
    }
    guard var block else { return false }
    let result = Result { try output.writeAll(block) }
    let byteCount = block.count
    block.removeAll(keepingCapacity: true)
    let isWriteBackDue = state.withLock { state in
      state.spare.append(block)
      if case .failure(let error) = result { (state.failure, state.blocks) = (error, []) }
      state.bytesToWriteBack += byteCount
      guard state.bytesToWriteBack >= Self.writeBackStepInBytes else { return false }
      state.bytesToWriteBack = 0
      return true
    }
    // `isWriting` stays true until here, so that `stop` waits for this call.
    if isWriteBackDue { SystemCalls.startWriteBack(output) }
    state.withLock { $0.isWriting = false }
    state.wakeAll()
    return true
  }
}
