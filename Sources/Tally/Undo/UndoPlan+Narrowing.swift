import Foundation
import LMDB

// Other replicas may have changed an object since the write that is undone. Then undo restores, field by field, what
// still has the value of that write; a field that was changed since keeps its value.

extension UndoPlan {
  /// Restores only those fields of objects that no other replica has changed since.
  ///
  /// - Parameters:
  ///   - later: The entries since that count, newest first.
  ///   - transaction: The write.
  /// - Throws: `undoConflict` for a later change of this store, and where nothing of an object can be restored.
  mutating func narrow(to later: [HistoryEntry], in transaction: borrowing StoreWriteTransaction) throws {
    var states = LaterStates()
    for entry in later {
      try transaction.forEachImage(of: entry.id) { key, wasThere, bytes in
        guard has(key) else { return }
        guard entry.origin == .replica, key.kind != .value else { throw TallyError.laterChange(of: key) }
        try states.add(key, wasThere, bytes)
      }
    }
    try narrowTasks(to: states, in: transaction)
    try narrowLists(to: states, in: transaction)
  }

  private mutating func narrowTasks(
    to states: LaterStates, in transaction: borrowing StoreWriteTransaction
  ) throws {
    for (id, later) in states.tasks {
      guard let index = records.tasks.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let (change, parts) = try Narrowing(records.tasks[index], later).result(in: transaction)
      records.tasks[index] = change
      if !parts.restored.contains(.completion) { records.completions.removeAll { $0.key.id == id } }
      keep(parts.kept.taskFieldNames, of: id)
    }
  }

  private mutating func narrowLists(
    to states: LaterStates, in transaction: borrowing StoreWriteTransaction
  ) throws {
    for (id, later) in states.lists {
      guard let index = records.lists.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let (change, parts) = try Narrowing(records.lists[index], later).result(in: transaction)
      records.lists[index] = change
      keep(parts.kept.listFieldNames, of: id)
    }
  }
}

extension TallyError {
  fileprivate static func laterChange(of key: ImageKey) -> TallyError {
    let kind = key.kind == .list ? "list" : key.kind == .value ? "value" : "task"
    return .undoConflict("a later change of the same \(kind) has not been undone")
  }
}

/// The states of objects before each later write that touched them, newest first.
private struct LaterStates {
  var tasks: [UUID: [TaskItem?]] = [:]
  var lists: [UUID: [TaskList?]] = [:]

  mutating func add(_ key: ImageKey, _ wasThere: Bool, _ bytes: RawSpan) throws {
    switch key.kind {
    case .task: tasks[key.id, default: []].append(wasThere ? try TaskRecord(id: key.id, decoding: bytes).item : nil)
    case .list: lists[key.id, default: []].append(wasThere ? try ListRecord(id: key.id, decoding: bytes).item : nil)
    case .completion, .deletedCompletion, .value: break
    }
  }
}

/// The undoing of one object's change, as far as nobody has changed the object since.
private struct Narrowing<Record: ObjectRecord> where Record.Item: FieldwiseRestorable {
  private let change: RecordChange<Record>
  /// The states since the write that is undone, the first one just after it, the last one the current.
  private let states: [Record.Item?]

  init(_ change: RecordChange<Record>, _ later: [Record.Item?]) {
    self.change = change
    states = later.reversed() + [change.old?.item]
  }

  /// The change that remains, which parts it restores and which stay.
  func result(
    in transaction: borrowing StoreWriteTransaction
  ) throws -> (change: RecordChange<Record>, parts: (restored: SyncFields, kept: SyncFields)) {
    let there = states.compactMap(\.self)
    guard there.count == states.count, let before = change.new?.item, let after = there.first, var item = there.last
    else { throw TallyError.undoConflict("another device has changed the same object since") }
    let written = Record.Item.differences(before, after)
    let changed = zip(there, there.dropFirst()).reduce(into: SyncFields()) {
      $0.formUnion(Record.Item.differences($1.0, $1.1))
    }
    let parts = (restored: written.subtracting(changed), kept: written.intersection(changed))
    item.restore(parts.restored, from: before)
    item.mergeSets(parts.kept, removing: after, adding: before)
    guard !item.isIdentical(to: there[there.count - 1]) else {
      throw TallyError.undoConflict("another device has changed the same fields since")
    }
    item.updatedAt = transaction.timeOfChange(after: max(before.updatedAt, item.updatedAt))
    return (RecordChange(from: change.old, to: item, at: transaction.commitSequence), parts)
  }
}

/// An object whose parts can be restored one by one.
private protocol FieldwiseRestorable: StoredObject {
  /// Takes parts from an earlier state.
  mutating func restore(_ parts: SyncFields, from old: Self)
  /// Undoes the changes of sets element by element.
  mutating func mergeSets(_ parts: SyncFields, removing new: Self, adding old: Self)
}

extension TaskItem: FieldwiseRestorable {
  fileprivate mutating func restore(_ parts: SyncFields, from old: TaskItem) {
    for field in TaskField.all where field.part.map(parts.contains) == true { self[field] = old[field] }
    if parts.contains(.completion) || parts.contains(.progress) && !isCompleted && !old.isCompleted {
      state = old.state
    }
  }

  fileprivate mutating func mergeSets(_ parts: SyncFields, removing new: TaskItem, adding old: TaskItem) {
    if parts.contains(.tags) {
      for tag in new.tags where !old.tags.contains(tag) { tags.remove(tag) }
      for tag in old.tags where !new.tags.contains(tag) { tags.insert(tag) }
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
  /// The names of a task's fields in documents, without sets, which are restored element by element.
  fileprivate var taskFieldNames: [String] {
    let sets: SyncFields = [.tags, .attributes]
    return TaskField.all.filter { $0.part.map(subtracting(sets).contains) == true }.map { "\($0.name)" }
  }

  /// The names of a list's fields in documents.
  fileprivate var listFieldNames: [String] {
    [(SyncFields.title, "name"), (.color, "colorHex"), (.order, "sortOrder"), (.created, "createdAt")]
      .filter { contains($0.0) }.map(\.1)
  }
}
