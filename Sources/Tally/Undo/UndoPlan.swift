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

// Other replicas may have changed an object since the write that is undone. Undo then restores only the fields that
// still have the value of that write; a field that has been changed since keeps its value.

extension UndoPlan {
  /// Restricts the plan to fields of objects that no other replica has changed since.
  ///
  /// - Parameters:
  ///   - later: The later entries that count, newest first.
  ///   - transaction: The write.
  /// - Throws: `undoConflict` if this store has made a later change, or if nothing can be restored.
  mutating func narrow(to later: [HistoryEntry], in transaction: borrowing StoreWriteTransaction) throws {
    var states = LaterStates()
    for entry in later {
      try transaction.forEachImage(of: entry.id) { key, presence, bytes in
        guard has(key) else { return }
        guard entry.origin == .replica else { throw TallyError.laterChange(of: key) }
        try states.add(key, presence, bytes)
      }
    }
    guard !states.isEmpty else { return }
    try narrowTasks(to: states, in: transaction)
    try narrowLists(to: states, in: transaction)
    dropValues(states.values)
    guard isEmpty else { return }
    throw TallyError(
      .undoConflict, "The change cannot be undone: another device has changed the same since",
      remedy: "Change it by hand")
  }

  private mutating func narrowTasks(to states: LaterStates, in transaction: borrowing StoreWriteTransaction) throws {
    for (id, later) in states.tasks {
      guard let index = records.tasks.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let result = try Narrowing(records.tasks[index], id, later, in: transaction).result(in: transaction)
      keep(result?.kept.taskFieldNames ?? [TaskField.id.name.description], of: id)
      if result?.restored.contains(.completion) != true { records.completions.removeAll { $0.key.id == id } }
      guard let change = result?.change else {
        records.tasks.remove(at: index)
        continue
      }
      records.tasks[index] = change
      if change.old == nil, let item = change.new?.item, result?.restored.contains(.completion) != true {
        // The task is live again, and so is its completion.
        let completions = StoredCompletions(current: try transaction.storedCompletion(of: item))
        records.completions += try RecordPlan.completions(
          of: MergedTask(id: id, item: item, completions: completions, replacing: StoredCompletions(current: nil)))
      }
    }
  }

  private mutating func narrowLists(to states: LaterStates, in transaction: borrowing StoreWriteTransaction) throws {
    for (id, later) in states.lists {
      guard let index = records.lists.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let result = try Narrowing(records.lists[index], id, later, in: transaction).result(in: transaction)
      keep(result?.kept.listFieldNames ?? [TaskField.id.name.description], of: id)
      if let change = result?.change { records.lists[index] = change } else { records.lists.remove(at: index) }
    }
  }
}

extension TallyError {
  fileprivate static func laterChange(of key: ImageKey) -> TallyError {
    let names: [ImageKind: String] = [.list: "list", .value: "value", .record: "record"]
    return .undoConflict("a later change of the same \(names[key.kind] ?? "task") has not been undone")
  }
}

/// The state of an object at a past time.
private enum PastState<Item> {
  /// The object; `nil` if it did not exist, or if nothing is known about it.
  case present(Item?)
  /// The object was deleted, and this is its kept record.
  case deleted(Item)

  var item: Item? {
    switch self {
    case .present(let item): item
    case .deleted(let item): item
    }
  }

  var isDeleted: Bool { if case .deleted = self { true } else { false } }
}

/// The states of objects before each later write that changed them, newest first.
private struct LaterStates {
  var tasks: [UUID: [PastState<TaskItem>]] = [:]
  var lists: [UUID: [PastState<TaskList>]] = [:]
  var values: Set<ValueKey> = []

  var isEmpty: Bool { tasks.isEmpty && lists.isEmpty && values.isEmpty }

  mutating func add(_ key: ImageKey, _ presence: ImagePresence, _ bytes: RawSpan) throws {
    switch key.kind {
    case .task: tasks[key.id, default: []].append(try state(TaskRecord.self, key.id, presence, bytes))
    case .list: lists[key.id, default: []].append(try state(ListRecord.self, key.id, presence, bytes))
    case .value: values.insert(try key.value)
    default: break
    }
  }

  private func state<Record: ObjectRecord>(
    _ record: Record.Type, _ id: UUID, _ presence: ImagePresence, _ bytes: RawSpan
  ) throws -> PastState<Record.Item> {
    switch presence {
    case .absent: .present(nil)
    case .present: .present(try Record(id: id, decoding: bytes).item)
    case .deleted: .deleted(try Record(id: id, decoding: bytes).item)
    }
  }
}

/// Narrows the undoing of one object's change to what nobody has changed since.
private struct Narrowing<Record: ObjectRecord> where Record.Item: FieldwiseRestorable {
  private let change: RecordChange<Record>
  /// The states since the write that is undone: the first is the one just after it, the last the current one.
  private let states: [PastState<Record.Item>]

  init(
    _ change: RecordChange<Record>, _ id: UUID, _ later: [PastState<Record.Item>],
    in transaction: borrowing StoreWriteTransaction
  ) throws {
    self.change = change
    let kept = try change.old == nil ? transaction.syncTables?.keptRecord(Record.self, id, in: transaction.base) : nil
    states = later.reversed() + [kept.map { .deleted($0.item) } ?? .present(change.old?.item)]
  }

  /// The rest of a change, the parts that it restores, and the parts that keep their values.
  struct Result {
    /// The change; `nil` if nothing of it remains.
    let change: RecordChange<Record>?
    let restored: SyncFields
    let kept: SyncFields
  }

  /// The rest of the change; `nil` if the change created the object, or if another replica has deleted it.
  ///
  /// In these cases the change is undone as a whole or not at all. Undoing a deletion restores only the object's
  /// existence and what the same write had changed besides: the object returns as the changes of other replicas have
  /// left it.
  func result(in transaction: borrowing StoreWriteTransaction) -> Result? {
    let there = states.compactMap(\.item)
    let isDeletion = states.allSatisfy(\.isDeleted)
    guard there.count == states.count, isDeletion || states.last?.isDeleted == false,
      let before = change.new?.item, let after = there.first, var item = there.last
    else { return nil }
    let written = Record.Item.differences(before, after)
    let changed = zip(there, there.dropFirst()).reduce(into: SyncFields()) {
      $0.formUnion(Record.Item.differences($1.0, $1.1))
    }
    let (restored, kept) = (written.subtracting(changed), written.intersection(changed))
    item.restore(restored, from: before)
    item.mergeSets(kept, removing: after, adding: before)
    guard isDeletion || !item.isIdentical(to: there[there.count - 1]) else {
      return Result(change: nil, restored: [], kept: kept)
    }
    let isRenumbering = change.isRenumbering && restored == .order
    if !isRenumbering { item.updatedAt = transaction.timeOfChange(after: max(before.updatedAt, item.updatedAt)) }
    let unknown = (change.old ?? change.new)?.unknown ?? UnknownFields()
    var change = RecordChange(from: change.old, to: item, unknown: unknown, at: transaction.commitSequence)
    change.isRenumbering = isRenumbering
    return Result(change: change, restored: restored, kept: kept)
  }
}

/// An object whose parts can be restored separately.
private protocol FieldwiseRestorable: StoredObject {
  /// Copies parts from an earlier state.
  mutating func restore(_ parts: SyncFields, from old: Self)
  /// Undoes changes of sets, element by element.
  mutating func mergeSets(_ parts: SyncFields, removing new: Self, adding old: Self)
}

extension TaskItem: FieldwiseRestorable {
  fileprivate mutating func restore(_ parts: SyncFields, from old: TaskItem) {
    for field in TaskField.all where field.part.map(parts.contains) == true { self[field] = old[field] }
    let isClosing = !parts.isDisjoint(with: [.completion, .cancellation])
    if isClosing || parts.contains(.progress) && isOpen && old.isOpen { state = old.state }
    // Of a completion and a cancellation that different devices have written, the completion stands.
    if completedAt != nil { (state, cancelledAt) = (.completed, nil) }
    if completedAt == nil, cancelledAt != nil { state = .cancelled }
    if completedAt == nil, cancelledAt == nil, isClosed { state = .notStarted }
  }

  fileprivate mutating func mergeSets(_ parts: SyncFields, removing new: TaskItem, adding old: TaskItem) {
    if parts.contains(.tags) {
      for tag in new.tags where !old.tags.contains(tag) { tags.remove(tag) }
      for tag in old.tags where !new.tags.contains(tag) { tags.insert(tag) }
    }
    if parts.contains(.dependencies) {
      for id in new.dependsOn where !old.dependsOn.contains(id) { dependsOn.remove(id) }
      for id in old.dependsOn where !new.dependsOn.contains(id) { dependsOn.insert(id) }
    }
    if parts.contains(.reminders) {
      for reminder in new.otherReminders where !old.otherReminders.contains(reminder) {
        otherReminders.remove(reminder)
      }
      for reminder in old.otherReminders where !new.otherReminders.contains(reminder) {
        otherReminders.insert(reminder)
      }
    }
    guard parts.contains(.attributes) else { return }
    for name in Set(new.attributes.keys).union(old.attributes.keys) where attributes[name] == new.attributes[name] {
      attributes[name] = old.attributes[name]
    }
  }
}

extension TaskList: FieldwiseRestorable {
  fileprivate mutating func restore(_ parts: SyncFields, from old: TaskList) {
    if parts.contains(.title) { name = old.name }
    if parts.contains(.color) { colorHex = old.colorHex }
    if parts.contains(.order) { sortOrder = old.sortOrder }
    if parts.contains(.created) { createdAt = old.createdAt }
  }

  fileprivate mutating func mergeSets(_ parts: SyncFields, removing new: TaskList, adding old: TaskList) {}
}

extension SyncFields {
  /// The names of a task's fields in documents, except for sets, which are restored element by element.
  fileprivate var taskFieldNames: [String] {
    let sets: SyncFields = [.tags, .attributes, .dependencies, .reminders]
    return TaskField.all.filter { $0.part.map(subtracting(sets).contains) == true }.map { "\($0.name)" }
  }

  /// The names of a list's fields in documents.
  fileprivate var listFieldNames: [String] {
    [(SyncFields.title, "name"), (.color, "colorHex"), (.order, "sortOrder"), (.created, "createdAt")]
      .filter { contains($0.0) }.map(\.1)
  }
}
