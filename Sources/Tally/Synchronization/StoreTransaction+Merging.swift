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
