import Foundation
import LMDB
import TallyEngine

/// The changes that restore the images of one entry of the history.
struct UndoPlan {
  let entry: HistoryEntry
  var records = RecordPlan()
  private var values: [(key: ValueKey, old: [UInt8]?, new: [UInt8]?)] = []
  /// The records of the application's collections.
  private(set) var collections = RecordReversal()
  /// How many of them each collection has, by its name.
  private var recordCounts: [String: Int] = [:]
  /// The keys of all images of the entry.
  private var keys: Set<ImageKey> = []
  /// The fields that keep their values because another replica has changed them since.
  private var keptFields: [UUID: Set<String>] = [:]

  /// Whether there is nothing to restore.
  var isEmpty: Bool { records.isEmpty && values.isEmpty && collections.isEmpty }

  /// Reads an entry's images and compares them with the current records.
  init(of entry: HistoryEntry, in transaction: borrowing StoreWriteTransaction) throws {
    self.entry = entry
    try transaction.forEachImage(of: entry.id) { key, presence, bytes in
      let wasThere = presence == .present
      // If there are several images, the first one has the state before the write.
      guard keys.insert(key).inserted else { return }
      try add(key, wasThere, bytes, transaction)
    }
    if let snapshot = transaction.records { try collections.dropUnchanged(in: snapshot) }
    recordCounts = collections.counts(in: transaction.records)
  }

  private mutating func add(
    _ key: ImageKey, _ wasThere: Bool, _ bytes: RawSpan, _ transaction: borrowing StoreWriteTransaction
  ) throws {
    switch key.kind {
    case .task: records.tasks += try Self.changes(key, wasThere, bytes, transaction)
    case .list: records.lists += try Self.changes(key, wasThere, bytes, transaction)
    case .completion, .deletedCompletion:
      let record = wasThere ? try CompletionRecord(decoding: bytes) : nil
      let current = try transaction.tables.completions.value(forKey: key.completion, in: transaction.base)
      if record != current { records.completions.append((key.completion, record)) }
    case .value:
      let valueKey = try key.value
      let value = wasThere ? bytes.bytes(from: 0) : nil
      let current = try transaction.tables.values.value(forKey: valueKey, in: transaction.base)
      if value != current { values.append((valueKey, current, value)) }
    case .record: try collections.add(key, wasThere ? .present : .absent, bytes)
    default: break
    }
  }

  /// Whether the entry has an image of an object.
  func has(_ key: ImageKey) -> Bool { keys.contains(key) }

  /// The objects that the plan changes.
  var objects: ReversedObjects {
    ReversedObjects(
      tasks: Set(records.tasks.compactMap { ($0.new ?? $0.old)?.item.id }),
      lists: Set(records.lists.compactMap { ($0.new ?? $0.old)?.item.id }),
      values: Set(values.map(\.key).filter(\.isReserved)))
  }

  /// Removes values from the plan, so that they stay as they are now.
  mutating func dropValues(_ keys: Set<ValueKey>) { values.removeAll { keys.contains($0.key) } }

  /// Records that fields keep their values.
  mutating func keep(_ fields: [String], of id: UUID) {
    if !fields.isEmpty { keptFields[id] = Set(fields) }
  }

  /// The change that restores the image of an object; empty if the object is already in that state.
  private static func changes<Record: ObjectRecord>(
    _ key: ImageKey, _ wasThere: Bool, _ bytes: RawSpan, _ transaction: borrowing StoreWriteTransaction
  ) throws -> [RecordChange<Record>] {
    let old = try transaction.record(Record.self, key.id)
    let image = wasThere ? try Record(id: key.id, decoding: bytes) : nil
    if old == nil, image == nil { return [] }
    if let old, let image, old.hasSameContents(as: image) { return [] }
    var item = image?.item
    // For the user, renumbering does not change an object, and neither does undoing it.
    var renumbered = old?.item
    if let image { renumbered?.sortOrder = image.item.sortOrder }
    let isRenumbering = image.map { renumbered?.isIdentical(to: $0.item) == true } ?? false
    if let image, !isRenumbering {
      item?.updatedAt = transaction.timeOfChange(after: max(image.item.updatedAt, old?.item.updatedAt ?? .earliest))
    }
    let unknown = image?.unknown ?? UnknownFields()
    var change = RecordChange(from: old, to: item, unknown: unknown, at: transaction.commitSequence)
    change.isRenumbering = isRenumbering
    return [change]
  }

  /// The result of writing the plan.
  var result: UndoResult {
    UndoResult(
      change: entry.id, date: entry.date,
      tasks: records.tasks.compactMap(\.new?.item), returnedTaskIDs: Set(records.tasks.compactMap(\.createdID)),
      deletedTasks: records.tasks.compactMap(\.deletedItem),
      lists: records.lists.compactMap(\.new?.item), returnedListIDs: Set(records.lists.compactMap(\.createdID)),
      deletedLists: records.lists.compactMap(\.deletedItem),
      savedFilters: filters.compactMap(\.new), deletedFilters: filters.compactMap { $0.new == nil ? $0.old : nil },
      values: Set(values.map(\.key).filter { !$0.isReserved }), records: recordCounts, keptFields: keptFields)
  }
}

extension UndoPlan {
  /// The saved filters among the plan's values.
  private var filters: [(old: SavedFilter?, new: SavedFilter?)] {
    values.filter { $0.key.namespace == SavedFilter.namespace }.map { key, old, new in
      let read = { (bytes: [UInt8]) in SavedFilter(stored: bytes, under: key) }
      return (old.flatMap(read), new.flatMap(read))
    }
  }
}

extension RecordChange where Record: ObjectRecord {
  fileprivate var createdID: UUID? { old == nil ? new?.item.id : nil }
  fileprivate var deletedItem: Record.Item? { new == nil ? old?.item : nil }
}

extension UndoPlan {
  /// Gives restored tasks the list and parent with which they are shown, and restored filters the contents that other
  /// replicas have saved.
  ///
  /// In a store that synchronises, a deleted task keeps its list and parent even if these no longer exist.
  mutating func place(in transaction: borrowing StoreWriteTransaction) throws {
    guard transaction.syncTables != nil else { return }
    let lists = Set(records.lists.compactMap { $0.new?.item.id })
    var planned: [UUID: TaskItem?] = [:]
    for change in records.tasks { if let id = (change.new ?? change.old)?.item.id { planned[id] = change.new?.item } }
    // A sub-task follows its parent, which may come later in the list; repeat for each level.
    for _ in 0...SubtaskRules.maximumDepth {
      for (index, change) in records.tasks.enumerated() where change.old == nil {
        guard let new = change.new else { continue }
        let item = try new.item.placed {
          try planned[$0] ?? transaction.task($0)
        } hasList: {
          try lists.contains($0) || transaction.list($0) != nil
        }
        guard Parentage(of: item) != Parentage(of: new.item) else { continue }
        planned[item.id] = item
        records.tasks[index] = RecordChange(
          from: nil, to: item, unknown: new.unknown, at: transaction.commitSequence)
      }
    }
    for (index, value) in values.enumerated() where value.old == nil && value.new != nil {
      guard value.key.namespace == SavedFilter.namespace,
        let saved = try transaction.syncValue(forKey: SyncNotes.deletedFilterPrefix + value.key.bytes)
      else { continue }
      values[index].new = saved
    }
  }

  /// Refuses texts that other replicas could not receive, unless the object had them when it was deleted.
  func checkTexts(in transaction: borrowing StoreWriteTransaction) throws {
    for change in records.tasks {
      guard let task = change.new?.item else { continue }
      try transaction.checkSendable(task, replacing: change.old?.item ?? transaction.deletedTask(task.id))
    }
    for change in records.lists {
      guard let list = change.new?.item else { continue }
      try transaction.checkSendable(list, replacing: change.old?.item ?? transaction.deletedList(list.id))
    }
  }

  /// Refuses to leave a task in a list that does not exist.
  func checkLists(in transaction: borrowing StoreWriteTransaction) throws {
    let arriving = Set(records.lists.compactMap { $0.new?.item.id })
    let leaving = records.lists.compactMap { $0.deletedItem?.id }
    for listID in records.tasks.compactMap({ $0.new?.item.listID }) where !arriving.contains(listID) {
      guard try transaction.list(listID) != nil else {
        throw TallyError.undoConflict("the list of a task has been deleted since")
      }
    }
    let handled = Set(records.tasks.compactMap { $0.old?.item.id })
    for listID in leaving {
      guard try transaction.orderedTaskIDs(inList: listID).allSatisfy(handled.contains) else {
        throw TallyError.undoConflict("a list that would be deleted has other tasks now")
      }
    }
  }

  /// Refuses to leave a sub-task without its parent, or in another list than its parent.
  func checkParents(in transaction: borrowing StoreWriteTransaction) throws {
    var planned: [UUID: Parentage?] = [:]
    for change in records.tasks {
      guard let id = (change.new ?? change.old)?.item.id else { continue }
      planned[id] = .some(change.new.map { Parentage(of: $0.item) })
    }
    func look(_ id: UUID) throws -> Parentage? {
      try planned[id] ?? transaction.tables.parentage(of: id, in: transaction.base)
    }
    for change in records.tasks {
      if let task = change.new?.item, task.parentID != nil {
        do {
          try SubtaskRules.check(task.id, Parentage(of: task), look)
        } catch let error as TallyError where error.code == .invalidParent {
          throw TallyError.undoConflict("the parent of a sub-task has been changed or deleted since")
        }
      }
      guard let old = change.old?.item, change.new?.item.listID != old.listID || change.new == nil else { continue }
      for id in try transaction.tables.subtaskIDs(of: old.id, in: transaction.base) where planned[id] == nil {
        throw TallyError.undoConflict("a task that would be deleted or moved has other sub-tasks now")
      }
    }
  }

  /// Writes the plan; the counters are only gathered in `deltas`.
  func apply(
    with writer: RecordWriter, counting deltas: inout CounterDeltas, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try records.apply(with: writer, counting: &deltas, recording: &images, in: &transaction)
    let values = ValueWriter(with: writer)
    for (key, _, bytes) in self.values {
      _ = try values.write(bytes, forKey: key, recording: &images, in: &transaction)
    }
  }
}
