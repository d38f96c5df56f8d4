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
  /// - Throws: `undoConflict` for a later change of this store, and where nothing can be restored.
  mutating func narrow(to later: [HistoryEntry], in transaction: borrowing StoreWriteTransaction) throws {
    var states = LaterStates()
    for entry in later {
      try transaction.forEachImage(of: entry.id) { key, wasThere, bytes in
        guard has(key) else { return }
        guard entry.origin == .replica else { throw TallyError.laterChange(of: key) }
        try states.add(key, wasThere, bytes)
      }
    }
    guard !states.isEmpty else { return }
    narrowTasks(to: states, in: transaction)
    narrowLists(to: states, in: transaction)
    dropValues(states.values)
    guard isEmpty else { return }
    throw TallyError(
      .undoConflict, "The change cannot be undone: another device has changed the same since",
      remedy: "Change it by hand")
  }

  private mutating func narrowTasks(to states: LaterStates, in transaction: borrowing StoreWriteTransaction) {
    for (id, later) in states.tasks {
      guard let index = records.tasks.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let result = Narrowing(records.tasks[index], later).result(in: transaction)
      keep(result?.kept.taskFieldNames ?? [TaskField.id.name.description], of: id)
      if result?.restored.contains(.completion) != true { records.completions.removeAll { $0.key.id == id } }
      if let change = result?.change { records.tasks[index] = change } else { records.tasks.remove(at: index) }
    }
  }

  private mutating func narrowLists(to states: LaterStates, in transaction: borrowing StoreWriteTransaction) {
    for (id, later) in states.lists {
      guard let index = records.lists.firstIndex(where: { ($0.new ?? $0.old)?.item.id == id }) else { continue }
      let result = Narrowing(records.lists[index], later).result(in: transaction)
      keep(result?.kept.listFieldNames ?? [TaskField.id.name.description], of: id)
      if let change = result?.change { records.lists[index] = change } else { records.lists.remove(at: index) }
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
  var values: Set<ValueKey> = []

  var isEmpty: Bool { tasks.isEmpty && lists.isEmpty && values.isEmpty }

  mutating func add(_ key: ImageKey, _ wasThere: Bool, _ bytes: RawSpan) throws {
    switch key.kind {
    case .task: tasks[key.id, default: []].append(wasThere ? try TaskRecord(id: key.id, decoding: bytes).item : nil)
    case .list: lists[key.id, default: []].append(wasThere ? try ListRecord(id: key.id, decoding: bytes).item : nil)
    case .value: if let key = key.value { values.insert(key) }
    case .completion, .deletedCompletion: break
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

  /// What remains of the change, and which parts it restores and which stay.
  struct Result {
    /// `nil` if nothing remains.
    let change: RecordChange<Record>?
    let restored: SyncFields
    let kept: SyncFields
  }

  /// What remains of the change; `nil` where the object was created or deleted, which is undone as a whole or not at all.
  func result(in transaction: borrowing StoreWriteTransaction) -> Result? {
    let there = states.compactMap(\.self)
    guard there.count == states.count, let before = change.new?.item, let after = there.first, var item = there.last
    else { return nil }
    let written = Record.Item.differences(before, after)
    let changed = zip(there, there.dropFirst()).reduce(into: SyncFields()) {
      $0.formUnion(Record.Item.differences($1.0, $1.1))
    }
    let (restored, kept) = (written.subtracting(changed), written.intersection(changed))
    item.restore(restored, from: before)
    item.mergeSets(kept, removing: after, adding: before)
    guard !item.isIdentical(to: there[there.count - 1]) else { return Result(change: nil, restored: [], kept: kept) }
    let isRenumbering = change.isRenumbering && restored == .order
    if !isRenumbering { item.updatedAt = transaction.timeOfChange(after: max(before.updatedAt, item.updatedAt)) }
    var change = RecordChange(from: change.old, to: item, at: transaction.commitSequence)
    change.isRenumbering = isRenumbering
    return Result(change: change, restored: restored, kept: kept)
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
