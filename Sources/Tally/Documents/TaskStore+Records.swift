package import Foundation
internal import LMDB
package import SystemPackage
internal import TallySystem

/// Writes the tasks of an export in one format.
package protocol DocumentWriter {
  /// The bytes that are ready to be written; emptied by the exporter.
  var bytes: [UInt8] { get set }

  /// Looks at a task before any is written; for formats that need to know something of all tasks.
  mutating func prepare(_ task: TaskItem)
  /// Writes what comes before the tasks.
  mutating func begin()
  /// Writes a task.
  ///
  /// - Parameters:
  ///   - task: the task.
  ///   - list: its list.
  ///   - parent: its parent.
  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?)
  /// Writes what comes after the tasks.
  mutating func end()
}

extension DocumentWriter {
  package mutating func prepare(_ task: TaskItem) {}
}

/// In which order an export writes tasks.
package enum ExportOrder: Sendable {
  /// By id, as they are stored: in one pass, whatever their number.
  case id
  /// By list, then in the order of the list; all of them are in memory.
  case place
}

extension TaskStore {
  /// Writes all tasks, or those that a filter finds with their ancestors, in another format.
  package func exportRecords(
    to output: FileDescriptor, matching filter: TaskFilter?, in order: ExportOrder, isPrepared: Bool,
    progress: InterchangeProgress.Observer?,
    writer: (_ calendar: Calendar, _ now: Timestamp, _ lists: [TaskList]) -> any DocumentWriter
  ) throws -> ExportSummary {
    try read { transaction in
      try TallyError.checkCancellation()
      let selection = try filter.map { try ExportSelection($0, in: transaction) }
      var exporter = RecordExporter(
        output: output, selection: selection, order: order, observer: progress,
        writer: writer(transaction.calendar, transaction.now, try transaction.lists()))
      return try exporter.run(in: transaction, isPrepared: isPrepared)
    }
  }

  /// Writes a file that is replaced as a whole, as every export does.
  package func exportFile<R>(_ file: FilePath, _ body: (FileDescriptor) throws -> R) throws -> R {
    let output = try AtomicFile.create(replacing: file)
    let result = try body(output.descriptor)
    try output.commit()
    return result
  }
}

/// Hands the tasks of one snapshot to a writer, and its bytes to a file.
private struct RecordExporter {
  let output: OutputBehind
  let selection: ExportSelection?
  let order: ExportOrder
  let observer: InterchangeProgress.Observer?
  var writer: any DocumentWriter
  private var summary = ExportSummary()
  private var lists: [UUID: TaskList] = [:]
  /// The lists of the tasks: these formats have no others.
  private var writtenLists: Set<UUID> = []

  init(
    output: FileDescriptor, selection: ExportSelection?, order: ExportOrder,
    observer: InterchangeProgress.Observer?, writer: any DocumentWriter
  ) {
    (self.output, self.selection, self.order) = (OutputBehind(to: output), selection, order)
    (self.observer, self.writer) = (observer, writer)
  }

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
      let list = task.listID.flatMap { exporter.lists[$0] }
      if let list { exporter.writtenLists.insert(list.id) }
      exporter.writer.write(task, in: list, under: parent)
      exporter.summary.taskCount += 1
      try exporter.flush(ifAtLeast: OutputBehind.blockSizeInBytes)
      if exporter.summary.taskCount.isMultiple(of: InterchangeProgress.strideInTasks) { try exporter.report(total) }
    }
    writer.end()
    try flush(ifAtLeast: 1)
    try TallyError.replacing(TallyError.unwritableOutput) { try output.finish() }
    try report(total)
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

  private mutating func flush(ifAtLeast byteCount: Int) throws {
    let written = writer.bytes.count
    guard written >= byteCount else { return }
    try TallyError.replacing(TallyError.unwritableOutput) { try output.write(&writer.bytes) }
    summary.byteCount += Int64(written)
  }

  private func report(_ total: Int) throws {
    try TallyError.checkCancellation()
    try observer?(
      InterchangeProgress(
        taskCount: summary.taskCount, totalTaskCount: total, byteCount: summary.byteCount, totalByteCount: nil))
  }
}
