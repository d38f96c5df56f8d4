package import Foundation
import LMDB
package import TallyEngine

/// A completion in the form of the ledger: its instant, then its record.
///
/// Earlier completions sort first by their bytes.
package struct StoredCompletion: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// The state of a task after changes from other replicas have been merged into it.
///
/// It is a class because it is large and passed on several times.
package final class MergedTask: Sendable {
  package let id: UUID
  /// The task; `nil` if it is deleted.
  package let item: TaskItem?
  /// The completions that count from now on.
  package let completions: StoredCompletions
  /// The completions that have counted until now.
  package let previous: StoredCompletions

  package init(id: UUID, item: TaskItem?, completions: StoredCompletions, replacing previous: StoredCompletions) {
    (self.id, self.item, self.completions, self.previous) = (id, item, completions, previous)
  }
}

/// The completions of a task in the ledger.
package struct StoredCompletions: Hashable, Sendable {
  /// The completion of the task as it is, or as it was when it was deleted.
  package var current: StoredCompletion?
  /// The completions of earlier lives, after which the task was deleted and then created again in another state.
  package var detached: [StoredCompletion]

  package init(current: StoredCompletion?, detached: [StoredCompletion] = []) {
    (self.current, self.detached) = (current, detached)
  }

  package var all: [StoredCompletion] { (current.map { [$0] } ?? []) + detached }

  package var isEmpty: Bool { current == nil && detached.isEmpty }
}

extension StoreWriteTransaction {
  /// Writes the states of objects that result from merging changes of other replicas.
  ///
  /// It is a separate write in the history, which undo skips. It records nothing for other replicas.
  ///
  /// - Parameters:
  ///   - tasks: The tasks; their lists and parents must exist or be among the others.
  ///   - lists: The lists by id; `nil` for a deleted one.
  ///   - trash: The deleted tasks and lists, in the state that restoring would give them.
  ///   - deletedListNames: The last names of deleted lists, for the completions that count for them.
  ///   - series: The series by id; `nil` for one that has ended.
  ///   - filters: The stored bytes of saved filters by key; `nil` for a deleted one.
  ///   - deletedFilters: The stored bytes, by key, of filters that others have saved but whose deletion was later.
  ///   - replica: The replica that made the changes; `nil` if there were several.
  /// - Throws: as storing a task, for values that no task can have; nothing is written then.
  package mutating func merge(
    _ tasks: [MergedTask], lists: [UUID: TaskList?], trash: [DeletedObject] = [], deletedListNames: [UUID: String],
    series: [UUID: TaskSeries?] = [:], filters: [[UInt8]: [UInt8]?], deletedFilters: [[UInt8]: [UInt8]] = [:],
    of replica: UUID? = nil
  ) throws {
    var plan = RecordPlan()
    for (id, list) in lists { try plan.add(list, replacing: record(ListRecord.self, id), at: commitSequence) }
    plan.created.reserveCapacity(tasks.count)
    for task in tasks {
      try plan.add(task.item, replacing: record(TaskRecord.self, task.id), at: commitSequence)
      // Most tasks are open and have no completions.
      guard !task.previous.isEmpty || !task.completions.isEmpty else { continue }
      plan.completions += try RecordPlan.completions(of: task).filter { key, record in
        try tables.completions.value(forKey: key, in: base) != record
      }
    }
    try recordHistory()
    (state.origin, state.originReplica) = (.replica, replica)
    defer { (state.origin, state.originReplica) = (.local, nil) }
    let deletedNow = Set(plan.tasks.compactMap { $0.new == nil ? $0.old?.item.id : nil })
      .union(plan.lists.compactMap { $0.new == nil ? $0.old?.item.id : nil })
    if !plan.isEmpty { try write(plan) }
    for object in trash {
      switch object {
      case .task(let task): try storeInTrash(task, in: TaskRecord.self, isDeletedNow: deletedNow.contains(task.id))
      case .list(let list): try storeInTrash(list, in: ListRecord.self, isDeletedNow: deletedNow.contains(list.id))
      }
    }
    for (id, series) in series { if let series { try write(series) } else { try endSeries(id) } }
    for (key, value) in filters { try setFilter(value, forKey: key) }
    for (key, value) in deletedFilters { try setSyncValue(value, forKey: SyncNotes.deletedFilterPrefix + key) }
    for (id, name) in deletedListNames where try nameOfDeletedList(id) != name { try keepName(name, ofDeletedList: id) }
    try recordHistory()
  }

  /// Updates the kept record of a deleted object, if there is one, to the state after merging.
  ///
  /// The history gets the old kept record, unless this merge deletes the object: then it has an image already.
  private mutating func storeInTrash<Record: ObjectRecord>(
    _ item: Record.Item, in type: Record.Type, isDeletedNow: Bool
  ) throws {
    guard let syncTables, let old = try syncTables.keptRecord(type, item.id, in: base), !old.item.isIdentical(to: item)
    else { return }
    let new = Record(item: item, stamp: old.stamp, unknown: old.unknown)
    try changeIfNeeded { (_, images, base) throws(LMDBError) in
      try syncTables.trash.put(new.encodedBytes, forKey: TombstoneKey(Record.kind, item.id), in: &base)
      if !isDeletedNow { images.add(deleted: old) }
      return !isDeletedNow
    }
  }

  mutating func write(_ plan: RecordPlan) throws {
    try change { (writer, images, base) throws(LMDBError) in
      var deltas = CounterDeltas()
      try plan.apply(with: writer, counting: &deltas, recording: &images, in: &base)
      try deltas.apply(to: writer.tables, in: &base)
    }
  }

  /// The completion of a completed task, even if the task has been deleted; `nil` if the ledger has none.
  package func storedCompletion(of task: TaskItem) throws -> StoredCompletion? {
    guard let live = CompletionKey(of: task) else { return nil }
    return try completion(live) ?? detachedCompletion(of: task.id, at: Timestamp(clamping: live.completed.microseconds))
  }

  /// The completion of a deleted task at an instant; `nil` if the ledger has none.
  package func detachedCompletion(of task: UUID, at instant: Timestamp) throws -> StoredCompletion? {
    let completed = InstantKey(microseconds: instant.microsecondsSince1970, id: task)
    return try completion(CompletionKey(isTaskDeleted: true, completed: completed))
  }

  private func completion(_ key: CompletionKey) throws -> StoredCompletion? {
    guard let record = try tables.completions.value(forKey: key, in: base) else { return nil }
    let instant = FieldValue.instant(Timestamp(clamping: key.completed.microseconds))
    return StoredCompletion(bytes: instant.storedBytes + record.encodedBytes)
  }
}

extension StoredCompletion {
  /// The instant and the record, decoded.
  fileprivate func parts() throws -> (instant: Timestamp, record: CompletionRecord) {
    let instant = try instant()
    // The array outlives the decoding.
    let record = try unsafe CompletionRecord(decoding: bytes.span.bytes.extracting(8..<bytes.count))
    // The counters cannot represent other times.
    _ = try Timestamp(microsecondsSince1970: record.createdAtMicroseconds)
    return (instant, record)
  }

  /// The list that the completion counts for; `nil` for the inbox.
  package func listID() throws -> UUID? { try parts().record.classification.listID }

  /// When the task was completed, with the offset from UTC there.
  package func moment() throws -> OffsetTimestamp {
    let (instant, record) = try parts()
    return try OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes))
  }

  /// When the task was completed.
  package func instant() throws -> Timestamp {
    // The array outlives the decoding.
    guard bytes.count > 8, let instant = try? unsafe bytes.span.bytes.extracting(0..<8).storedInstant() else {
      throw LMDBError.undecodable("a completion is too short, or of an impossible instant")
    }
    return instant
  }

  fileprivate func key(of id: UUID, isTaskDeleted: Bool) throws -> CompletionKey {
    let completed = InstantKey(microseconds: try instant().microsecondsSince1970, id: id)
    return CompletionKey(isTaskDeleted: isTaskDeleted, completed: completed)
  }

  fileprivate func entry(of id: UUID, isTaskDeleted: Bool) throws -> (key: CompletionKey, record: CompletionRecord) {
    (try key(of: id, isTaskDeleted: isTaskDeleted), try parts().record)
  }
}

extension RecordPlan {
  mutating func add(_ list: TaskList?, replacing old: ListRecord?, at sequence: UInt64) throws {
    try list?.validate()
    guard old != nil || list != nil, old?.item != list else { return }
    lists.append(RecordChange(from: old, to: list, at: sequence))
  }

  mutating func add(_ task: TaskItem?, replacing old: TaskRecord?, at sequence: UInt64) throws {
    try task?.validate()
    guard let old else {
      if let task { created.append(TaskRecord(item: task, stamp: ChangeStamp(replacing: nil, at: sequence))) }
      return
    }
    if let task, old.item.isIdentical(to: task) { return }
    tasks.append(RecordChange(from: old, to: task, at: sequence))
  }

  /// The changes of the ledger: the previous completions are removed in either state, and the new ones are added.
  static func completions(
    of task: MergedTask
  ) throws -> [(key: CompletionKey, record: CompletionRecord?)] {
    var entries: [(key: CompletionKey, record: CompletionRecord?)] = []
    func set(_ key: CompletionKey, to record: CompletionRecord?) {
      // A task has few entries, so a linear search is enough.
      if let index = entries.firstIndex(where: { $0.key == key }) {
        entries[index].record = record
      } else {
        entries.append((key, record))
      }
    }
    for completion in task.previous.all + task.completions.all {
      for isTaskDeleted in [false, true] {
        set(try completion.key(of: task.id, isTaskDeleted: isTaskDeleted), to: nil)
      }
    }
    // A completion at the same instant as the current one is the same work.
    let instant = try task.completions.current?.instant()
    for completion in task.completions.detached where try completion.instant() != instant {
      let entry = try completion.entry(of: task.id, isTaskDeleted: true)
      set(entry.key, to: entry.record)
    }
    if let completion = task.completions.current {
      var entry = try completion.entry(of: task.id, isTaskDeleted: task.item == nil)
      // Two replicas may have created the same task of a series at different times: the entry must agree with the task.
      if let item = task.item { entry.record.createdAtMicroseconds = item.createdAt.microsecondsSince1970 }
      set(entry.key, to: entry.record)
    }
    return entries
  }
}

extension StoreWriteTransaction {
  /// Whether the store may have sub-tasks: false if neither a task is part of another one nor depends on one.
  package var hasSubtasks: Bool {
    get throws { try tables.byParent.count(in: base) > 0 }
  }

  /// Whether a task has sub-tasks, according to the stored records.
  package func isParent(_ id: UUID) throws -> Bool { try hasSubtasks(id) }

  /// The direct sub-tasks of a task, according to the stored records; empty if the task does not exist.
  package func subtaskIDs(of id: UUID) throws -> [UUID] {
    try tables.subtaskIDs(of: id, in: base)
  }

  /// The tasks in a list, according to the stored records, in no particular order.
  package func taskIDs(inList id: UUID) throws -> [UUID] {
    var ids: [UUID] = []
    try tables.byPlace.forEach(
      from: PlaceKey(listID: id, rankRawValue: 0, order: .lowest),
      upTo: PlaceKey(listID: id, rankRawValue: StateRank.endRawValue, order: .lowest), in: base
    ) { key, _ in
      ids.append(try PlaceKey(decoding: key).id)
      return true
    }
    return ids
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// A value stored by synchronisation; `nil` if there is none.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func syncValue(forKey key: [UInt8]) throws -> [UInt8]? {
    try syncTables?.values.value(forKey: key, in: base)
  }

  /// Whether any value has a key with a prefix.
  package func hasSyncValues(withPrefix prefix: [UInt8]) throws -> Bool {
    var isFound = false
    try forEachSyncValue(withPrefix: prefix) { _, _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// The number of values whose keys have a prefix; only the keys are read.
  package func countSyncValues(withPrefix prefix: [UInt8]) throws -> Int {
    var count = 0
    try syncTables?.values.forEach(withPrefix: prefix, in: base) { _, _ in
      count += 1
      return true
    }
    return count
  }

  /// Calls a closure with the values whose keys have a prefix, in the order of the keys, until it returns false.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func forEachSyncValue(
    withPrefix prefix: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
  ) throws {
    try syncTables?.values.forEach(withPrefix: prefix, in: base) { key, value in
      try body(key.bytes(from: 0), value.bytes(from: 0))
    }
  }
}

extension StoreWriteTransaction {
  /// Stores a value for synchronisation, or removes it.
  ///
  /// This is not a change of a task or list: it appears neither in the history nor in observations.
  ///
  /// - Throws: what the storage throws, for example for a key of more than 511 bytes.
  package mutating func setSyncValue(_ value: [UInt8]?, forKey key: [UInt8]) throws {
    guard let table = syncTables?.values else { return }
    if let value {
      try table.put(value, forKey: key, in: &base)
    } else {
      _ = try table.remove(forKey: key, in: &base)
    }
  }

  /// Stores many values, replacing those that their keys have already.
  ///
  /// It is faster than storing them one by one, because they are written in key order.
  ///
  /// - Throws: what ``setSyncValue(_:forKey:)`` throws.
  package mutating func setSyncValues(_ values: some Sequence<([UInt8], [UInt8])>) throws {
    try syncTables?.values.put(contentsOf: values, in: &base)
  }
}

/// A deleted task or list that can be restored.
package enum DeletedObject: Sendable {
  case task(TaskItem)
  case list(TaskList)
}

extension StoreTransaction where Base: ~Copyable {
  /// The kept record of a deleted list, in a store that synchronises.
  package func deletedList(_ id: UUID) throws -> TaskList? {
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.list, id), in: base) else { return nil }
    // The array outlives the decoding.
    return try unsafe ListRecord(id: id, decoding: bytes.span.bytes).item
  }

  /// The kept record of a deleted task, in a store that synchronises.
  package func deletedTask(_ id: UUID) throws -> TaskItem? {
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.task, id), in: base) else { return nil }
    // The array outlives the decoding.
    return try unsafe TaskRecord(id: id, decoding: bytes.span.bytes).item
  }

  /// The title and the notes of a task, even of a deleted one whose record is kept; `nil` if there is none.
  ///
  /// They are read in place: only the texts are copied.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func taskTexts(_ id: UUID) throws -> (title: [UInt8], notes: [UInt8])? {
    if let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) { return try TaskFields(record).texts }
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.task, id), in: base) else { return nil }
    // The array outlives the copying of the texts.
    return try unsafe TaskFields(bytes.span.bytes).texts
  }

  /// The deleted tasks and lists whose records are kept, in the order of their ids.
  package func deletedObjects() throws -> [DeletedObject] {
    try deletedKeys().compactMap { key in
      key.isList ? try deletedList(key.id).map(DeletedObject.list) : try deletedTask(key.id).map(DeletedObject.task)
    }
  }

  /// The kinds and ids of the deleted objects whose records are kept.
  package func deletedKeys() throws -> [(isList: Bool, id: UUID)] {
    var keys: [(isList: Bool, id: UUID)] = []
    try syncTables?.trash.forEach(in: base) { key, _ in
      let key = try TombstoneKey(decoding: key)
      keys.append((key.kindRawValue == ObjectKind.list.rawValue, key.id))
      return true
    }
    return keys
  }

  /// When this store deleted an object, or learned that another store had; `nil` if its record is not kept.
  package func timeOfKeeping(isList: Bool, id: UUID) throws -> Timestamp? {
    let key = SyncNotes.keepingKey(TombstoneKey(isList ? .list : .task, id))
    return try syncValue(forKey: key).flatMap { try FieldValue(.instant, storedBytes: $0).instant }
  }
}

extension StoreWriteTransaction {
  /// Erases the kept record of a deleted object, which can then no longer be restored.
  package mutating func forgetDeleted(isList: Bool, id: UUID) throws {
    try syncNotes?.forget(TombstoneKey(isList ? .list : .task, id), in: &base)
  }

  /// Restores a deleted task with everything that it had; its completion counts as that of a live task again.
  ///
  /// If its list or parent no longer exists, it moves to the inbox or to the top level. It includes the changes that
  /// other replicas have made since it was deleted.
  ///
  /// - Returns: The task.
  /// - Throws: `taskNotFound` if no deleted task has the id.
  @discardableResult
  package mutating func restoreDeletedTask(_ id: UUID) throws -> TaskItem {
    guard try task(id) == nil, let deleted = try deletedTask(id) else { throw TallyError.taskNotFound(id) }
    var restored = try deleted.placed {
      try task($0)
    } hasList: {
      try list($0) != nil
    }
    let completions = StoredCompletions(current: try storedCompletion(of: restored))
    // Undoing the task's creation, or a purge, has removed the completion.
    if completions.current == nil, restored.isCompleted { (restored.state, restored.completedAt) = (.notStarted, nil) }
    restored.updatedAt = stamp
    var plan = RecordPlan()
    try plan.add(restored, replacing: nil, at: commitSequence)
    plan.completions = try RecordPlan.completions(
      of: MergedTask(id: id, item: restored, completions: completions, replacing: StoredCompletions(current: nil)))
    try write(plan)
    return restored
  }

  /// Restores a deleted list; the tasks that were in it stay where they are.
  ///
  /// - Returns: The list.
  /// - Throws: `listNotFound` if no deleted list has the id.
  @discardableResult
  package mutating func restoreDeletedList(_ id: UUID) throws -> TaskList {
    guard try list(id) == nil, var restored = try deletedList(id) else { throw TallyError.listNotFound(id) }
    restored.updatedAt = stamp
    var plan = RecordPlan()
    try plan.add(restored, replacing: nil, at: commitSequence)
    try write(plan)
    return restored
  }
}

extension TaskItem {
  /// A deleted task with the list and parent with which it is shown when it is restored.
  ///
  /// If the parent exists and may have it, the task is below its parent and in the parent's list; otherwise it is in
  /// its own list, if that exists.
  ///
  /// - Parameters:
  ///   - find: Looks up a task.
  ///   - hasList: Whether a list exists.
  /// - Returns: The task.
  /// - Throws: What the closures throw.
  func placed(below find: (UUID) throws -> TaskItem?, hasList: (UUID) throws -> Bool) throws -> TaskItem {
    var placed = self
    if let parentID, let parent = try find(parentID) {
      placed.listID = parent.listID
      do {
        try SubtaskRules.check(id, Parentage(of: placed)) { try find($0).map(Parentage.init(of:)) }
        return placed
      } catch let error as TallyError where error.code == .invalidParent {}
    }
    if parentID != nil { placed.parentID = nil }
    placed.listID = try listID.flatMap { try hasList($0) ? $0 : nil }
    return placed
  }
}
