import Foundation
import LMDB
import TallyEngine

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
