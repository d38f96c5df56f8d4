package import Foundation
import LMDB

/// A completion as the ledger keeps it: its instant, then its record.
///
/// Earlier ones have lower bytes.
package struct StoredCompletion: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// The state of a task after changes of other replicas have been merged.
///
/// A class: it is large, and passed on several times.
package final class MergedTask: Sendable {
  package let id: UUID
  /// `nil` if the task is deleted.
  package let item: TaskItem?
  /// The completions that count.
  package let completions: StoredCompletions
  /// Those that have counted until now.
  package let previous: StoredCompletions

  package init(id: UUID, item: TaskItem?, completions: StoredCompletions, replacing previous: StoredCompletions) {
    (self.id, self.item, self.completions, self.previous) = (id, item, completions, previous)
  }
}

/// The completions of a task in the ledger.
package struct StoredCompletions: Hashable, Sendable {
  /// That of the task as it is, or was when it was deleted.
  package var current: StoredCompletion?
  /// Those of earlier lives: the task was deleted, and created again in another state.
  package var detached: [StoredCompletion]

  package init(current: StoredCompletion?, detached: [StoredCompletion] = []) {
    (self.current, self.detached) = (current, detached)
  }

  package var all: [StoredCompletion] { (current.map { [$0] } ?? []) + detached }

  package var isEmpty: Bool { current == nil && detached.isEmpty }
}

extension StoreWriteTransaction {
  /// Writes the states of objects that changes of other replicas have given them.
  ///
  /// A write of its own in the history, which undo leaves alone. It notes nothing for other replicas.
  ///
  /// - Parameters:
  ///   - tasks: The tasks; their lists and parents exist, or are among the others.
  ///   - lists: The lists, by their ids; `nil` for a deleted one.
  ///   - trash: The deleted tasks and lists as restoring them would give them.
  ///   - deletedListNames: The last names of deleted lists, for the completions that count for them.
  ///   - filters: The stored bytes of saved filters, by their keys; `nil` for a deleted one.
  ///   - deletedFilters: The stored bytes of filters that others have saved, but whose deletion was later, by their keys.
  ///   - replica: The replica that made the changes; `nil` if there were several.
  /// - Throws: as storing a task does for values that no task has; nothing is written then.
  package mutating func merge(
    _ tasks: [MergedTask], lists: [UUID: TaskList?], trash: [DeletedObject] = [], deletedListNames: [UUID: String],
    filters: [[UInt8]: [UInt8]?], deletedFilters: [[UInt8]: [UInt8]] = [:], of replica: UUID? = nil
  ) throws {
    var plan = RecordPlan()
    for (id, list) in lists { try plan.add(list, replacing: record(ListRecord.self, id), at: commitSequence) }
    plan.created.reserveCapacity(tasks.count)
    for task in tasks {
      try plan.add(task.item, replacing: record(TaskRecord.self, task.id), at: commitSequence)
      // Most tasks are open.
      guard !task.previous.isEmpty || !task.completions.isEmpty else { continue }
      plan.completions += try RecordPlan.completions(of: task).filter { key, record in
        try tables.completions.value(forKey: key, in: base) != record
      }
    }
    try recordHistory()
    (origin, originReplica) = (.replica, replica)
    defer { (origin, originReplica) = (.local, nil) }
    let deletedNow = Set(plan.tasks.compactMap { $0.new == nil ? $0.old?.item.id : nil })
      .union(plan.lists.compactMap { $0.new == nil ? $0.old?.item.id : nil })
    if !plan.isEmpty { try write(plan) }
    for object in trash {
      switch object {
      case .task(let task): try keep(task, in: TaskRecord.self, isDeletedNow: deletedNow.contains(task.id))
      case .list(let list): try keep(list, in: ListRecord.self, isDeletedNow: deletedNow.contains(list.id))
      }
    }
    for (key, value) in filters { try setFilter(value, forKey: key) }
    for (key, value) in deletedFilters { try setSyncValue(value, forKey: SyncNotes.deletedFilterPrefix + key) }
    for (id, name) in deletedListNames where try nameOfDeletedList(id) != name { try keepName(name, ofDeletedList: id) }
    try recordHistory()
  }

  /// Updates the kept record of a deleted object to what the changes of others have left, if there is one.
  ///
  /// The history gets the old kept record, except for an object that this merge deletes: it has an image of that already.
  private mutating func keep<Record: ObjectRecord>(
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

  /// The completion of a completed task, also of one that has been deleted; `nil` if the ledger has none.
  package func storedCompletion(of task: TaskItem) throws -> StoredCompletion? {
    guard let live = CompletionKey(of: task) else { return nil }
    return try completion(live) ?? detachedCompletion(of: task.id, at: Timestamp(clamping: live.completed.microseconds))
  }

  /// A completion that the ledger has as that of a deleted task; `nil` if it has none of that instant.
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
  /// The instant and the record.
  fileprivate func parts() throws -> (instant: Timestamp, record: CompletionRecord) {
    let instant = try instant()
    // The array lives until the record is read.
    let record = try unsafe CompletionRecord(decoding: bytes.span.bytes.extracting(8..<bytes.count))
    // Counters have no place for other times.
    _ = try Timestamp(microsecondsSince1970: record.createdAtMicroseconds)
    return (instant, record)
  }

  /// The list for which it counts; `nil` for the inbox.
  package func listID() throws -> UUID? { try parts().record.classification.listID }

  /// When the task was completed, and the offset from UTC there.
  package func moment() throws -> OffsetTimestamp {
    let (instant, record) = try parts()
    return try OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes))
  }

  /// When the task was completed.
  package func instant() throws -> Timestamp {
    // The array lives until the instant is read.
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

  /// The entries of the ledger: those of the previous completions go, in whichever state, and the new ones come.
  static func completions(
    of task: MergedTask
  ) throws -> [(key: CompletionKey, record: CompletionRecord?)] {
    var entries: [(key: CompletionKey, record: CompletionRecord?)] = []
    func set(_ key: CompletionKey, to record: CompletionRecord?) {
      // A task has few.
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
    // One of the same instant as the current one is the same work.
    let instant = try task.completions.current?.instant()
    for completion in task.completions.detached where try completion.instant() != instant {
      let entry = try completion.entry(of: task.id, isTaskDeleted: true)
      set(entry.key, to: entry.record)
    }
    if let completion = task.completions.current {
      var entry = try completion.entry(of: task.id, isTaskDeleted: task.item == nil)
      // Two replicas may have made the same instance of a repeating task at different times: the entry agrees with the task.
      if let item = task.item { entry.record.createdAtMicroseconds = item.createdAt.microsecondsSince1970 }
      set(entry.key, to: entry.record)
    }
    return entries
  }
}

extension StoreWriteTransaction {
  /// Whether any task of the store is below another one.
  package var hasSubtasks: Bool {
    get throws { try tables.byParent.count(in: base) > 0 }
  }

  /// Whether a task has sub-tasks, by their records.
  package func isParent(_ id: UUID) throws -> Bool { try hasSubtasks(id) }

  /// The direct sub-tasks of a task, by their records; none for one that does not exist.
  package func subtaskIDs(of id: UUID) throws -> [UUID] {
    try tables.subtaskIDs(of: id, in: base)
  }

  /// The tasks in a list, by their records, in no particular order.
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
  /// A value that synchronisation has kept; `nil` if there is none.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func syncValue(forKey key: [UInt8]) throws -> [UInt8]? {
    try syncTables?.values.value(forKey: key, in: base)
  }

  /// Whether a value has a key that begins with a prefix.
  package func hasSyncValues(withPrefix prefix: [UInt8]) throws -> Bool {
    var isFound = false
    try forEachSyncValue(withPrefix: prefix) { _, _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// How many values have keys that begin with a prefix; the values are not read.
  package func countSyncValues(withPrefix prefix: [UInt8]) throws -> Int {
    var count = 0
    try syncTables?.values.forEach(withPrefix: prefix, in: base) { _, _ in
      count += 1
      return true
    }
    return count
  }

  /// Passes the values whose keys begin with a prefix to a closure, in the order of the keys, until it returns false.
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
  /// Keeps a value for synchronisation, or removes it.
  ///
  /// It does not change a task or list: neither the history nor observations know of it.
  ///
  /// - Throws: what the storage throws, also for a key of more than 511 bytes.
  package mutating func setSyncValue(_ value: [UInt8]?, forKey key: [UInt8]) throws {
    guard let table = syncTables?.values else { return }
    if let value {
      try table.put(value, forKey: key, in: &base)
    } else {
      _ = try table.remove(forKey: key, in: &base)
    }
  }

  /// Keeps many values, each in place of the one that its key has.
  ///
  /// Faster than one after the other: they are written in the order of their keys.
  ///
  /// - Throws: as ``setSyncValue(_:forKey:)``.
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
  /// The record of a deleted list that is kept while the store synchronises.
  package func deletedList(_ id: UUID) throws -> TaskList? {
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.list, id), in: base) else { return nil }
    // The array lives until the record is read.
    return try unsafe ListRecord(id: id, decoding: bytes.span.bytes).item
  }

  /// The record of a deleted task that is kept while the store synchronises.
  package func deletedTask(_ id: UUID) throws -> TaskItem? {
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.task, id), in: base) else { return nil }
    // The array lives until the record is read.
    return try unsafe TaskRecord(id: id, decoding: bytes.span.bytes).item
  }

  /// The title and the notes of a task, also of a deleted one that is kept; `nil` if there is none.
  ///
  /// Read in place: only the texts are copied.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func taskTexts(_ id: UUID) throws -> (title: [UInt8], notes: [UInt8])? {
    if let record = try tables.tasks.bytes(forKey: IDKey(id), in: base) { return try TaskFields(record).texts }
    guard let bytes = try syncTables?.trash.value(forKey: TombstoneKey(.task, id), in: base) else { return nil }
    // The array lives until the texts are copied.
    return try unsafe TaskFields(bytes.span.bytes).texts
  }

  /// The deleted tasks and lists that are kept while the store synchronises, in the order of their ids.
  package func deletedObjects() throws -> [DeletedObject] {
    try deletedKeys().compactMap { key in
      key.isList ? try deletedList(key.id).map(DeletedObject.list) : try deletedTask(key.id).map(DeletedObject.task)
    }
  }

  /// The ids of those.
  package func deletedKeys() throws -> [(isList: Bool, id: UUID)] {
    var keys: [(isList: Bool, id: UUID)] = []
    try syncTables?.trash.forEach(in: base) { key, _ in
      let key = try TombstoneKey(decoding: key)
      keys.append((key.kindRawValue == ObjectKind.list.rawValue, key.id))
      return true
    }
    return keys
  }

  /// When this store deleted an object, or learned that another one had; `nil` if its record is not kept.
  package func timeOfKeeping(isList: Bool, id: UUID) throws -> Timestamp? {
    let key = SyncNotes.keepingKey(TombstoneKey(isList ? .list : .task, id))
    return try syncValue(forKey: key).flatMap { try FieldValue(.instant, storedBytes: $0).instant }
  }
}

extension StoreWriteTransaction {
  /// Forgets the record of a deleted object: it cannot be restored any more.
  package mutating func forgetDeleted(isList: Bool, id: UUID) throws {
    try syncNotes?.forget(TombstoneKey(isList ? .list : .task, id), in: &base)
  }

  /// Creates a deleted task again, with everything that it had; its completion counts as that of a live one again.
  ///
  /// If its list or its parent does not exist any more, it comes to the inbox or to the top. It has the changes that other
  /// replicas have made since it was deleted.
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
    // Undoing its creation or a purge has removed the completion.
    if completions.current == nil, restored.isCompleted { (restored.state, restored.completedAt) = (.notStarted, nil) }
    restored.updatedAt = stamp
    var plan = RecordPlan()
    try plan.add(restored, replacing: nil, at: commitSequence)
    plan.completions = try RecordPlan.completions(
      of: MergedTask(id: id, item: restored, completions: completions, replacing: StoredCompletions(current: nil)))
    try write(plan)
    return restored
  }

  /// Creates a deleted list again; the tasks that were in it stay where they are.
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
  /// A deleted task in the place where it is shown when it comes back.
  ///
  /// That is below its parent and in the list of that, if the parent exists and may have it; otherwise in its own list, if
  /// that exists.
  ///
  /// - Parameters:
  ///   - find: Gives a task.
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
