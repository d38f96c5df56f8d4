import Foundation
import LMDB

/// What has to be written to put back what one entry of the history found.
struct UndoPlan {
  private var tasks: [TaskChange] = []
  private var lists: [ListChange] = []
  private var completions: [(key: CompletionKey, record: CompletionRecord?)] = []
  /// Everything the entry has images of.
  private var keys: Set<ImageKey> = []
  private(set) var result: UndoResult

  /// Whether all is as it was already.
  var isEmpty: Bool { tasks.isEmpty && lists.isEmpty && completions.isEmpty }

  /// Reads an entry's images and compares them with what is there.
  init(of entry: HistoryEntry, in transaction: borrowing StoreWriteTransaction) throws {
    result = UndoResult(change: entry.id, date: entry.date)
    try transaction.forEachImage(of: entry.id) { key, wasThere, bytes in
      // Of several images the first one tells what was there before the write.
      guard keys.insert(key).inserted else { return }
      try add(key, wasThere, bytes, transaction)
    }
  }

  private mutating func add(
    _ key: ImageKey, _ wasThere: Bool, _ bytes: RawSpan, _ transaction: borrowing StoreWriteTransaction
  ) throws {
    switch key.kind {
    case .task:
      let record = wasThere ? try TaskRecord(id: key.id, decoding: bytes) : nil
      try add(from: transaction.taskRecord(key.id), to: record, in: transaction)
    case .list:
      let record = wasThere ? try ListRecord(id: key.id, decoding: bytes) : nil
      try add(from: transaction.listRecord(key.id), to: record, in: transaction)
    case .completion, .deletedCompletion:
      let record = wasThere ? try CompletionRecord(decoding: bytes) : nil
      let current = try transaction.tables.completions.value(forKey: key.completion, in: transaction.base)
      if record != current { completions.append((key.completion, record)) }
    }
  }

  private mutating func add(
    from old: TaskRecord?, to image: TaskRecord?, in transaction: borrowing StoreWriteTransaction
  ) throws {
    if old == nil, image == nil { return }
    if let old, let image, old.hasSameContents(as: image) { return }
    var task = image?.item
    // A renumbering was no change to the task's owner, nor is undoing it.
    var renumbered = old?.item
    if let image { renumbered?.sortOrder = image.item.sortOrder }
    if let image, renumbered?.isIdentical(to: image.item) != true {
      task?.updatedAt = max(transaction.now, image.item.updatedAt, old?.item.updatedAt ?? transaction.now)
    }
    let unknown = image?.unknown ?? UnknownFields()
    tasks.append(TaskChange(from: old, to: task, unknown: unknown, at: transaction.commitSequence))
    guard let task else {
      if let old { result.deletedTasks.append(old.item) }
      return
    }
    result.tasks.append(task)
    if old == nil { result.returnedTaskIDs.insert(task.id) }
  }

  private mutating func add(
    from old: ListRecord?, to image: ListRecord?, in transaction: borrowing StoreWriteTransaction
  ) throws {
    if old == nil, image == nil { return }
    if let old, let image, old.hasSameContents(as: image) { return }
    var list = image?.list
    var renumbered = old?.list
    if let image { renumbered?.sortOrder = image.list.sortOrder }
    if let image, renumbered?.isIdentical(to: image.list) != true {
      list?.updatedAt = max(transaction.now, image.list.updatedAt, old?.list.updatedAt ?? transaction.now)
    }
    let unknown = image?.unknown ?? UnknownFields()
    lists.append(ListChange(from: old, to: list, unknown: unknown, at: transaction.commitSequence))
    guard let list else {
      if let old { result.deletedLists.append(old.list) }
      return
    }
    result.lists.append(list)
    if old == nil { result.returnedListIDs.insert(list.id) }
  }
}

extension UndoPlan {
  /// Refuses to go back behind a later change of the same task, list or completion.
  func checkNoneTouched(by changes: [ChangeID], in transaction: borrowing StoreWriteTransaction) throws {
    for change in changes {
      try transaction.forEachImage(of: change) { key, _, _ in
        guard !keys.contains(key) else {
          throw TallyError.undoConflict("a later change of the same \(key.kind == .list ? "list" : "task") stands")
        }
      }
    }
  }

  /// Refuses to leave a task in a list that does not exist.
  func checkLists(in transaction: borrowing StoreWriteTransaction) throws {
    let arriving = Set(lists.compactMap { $0.new?.list.id })
    let leaving = lists.compactMap { $0.new == nil ? $0.old?.list.id : nil }
    for listID in tasks.compactMap({ $0.new?.item.listID }) where !arriving.contains(listID) {
      guard !leaving.contains(listID), try transaction.list(listID) != nil else {
        throw TallyError.undoConflict("the list of a task has been deleted since")
      }
    }
    let handled = Set(tasks.compactMap { $0.old?.item.id })
    for listID in leaving {
      _ = try transaction.scan(.list(listID), after: nil) { taskID, _ in
        guard handled.contains(taskID) else {
          throw TallyError.undoConflict("a list that would go has got other tasks since")
        }
        return true
      }
    }
  }

  /// Writes the plan, counters aside.
  func apply(
    with writer: RecordWriter, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for list in lists { try writer.apply(list, recording: &images, in: &transaction) }
    for change in tasks {
      try writer.writeRecord(of: change, recording: &images, in: &transaction)
      if let old = change.old?.item, !old.isCompleted { deltas.count(CountedTask(open: old), sign: -1) }
      if let new = change.new?.item, !new.isCompleted { deltas.count(CountedTask(open: new), sign: 1) }
    }
    // The ledger follows its own images: what its rules would make of the tasks' changes is not always what was there.
    let ledger = CompletionLedger(tables: writer.tables)
    for (key, record) in completions {
      try ledger.restore(key, to: record, counting: &deltas, recording: &images, in: &transaction)
    }
  }
}
