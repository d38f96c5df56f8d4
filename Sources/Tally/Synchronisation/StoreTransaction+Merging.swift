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
package struct MergedTask: Sendable {
  package let id: UUID
  /// `nil` if the task is deleted.
  package var item: TaskItem?
  /// The completion that counts, also that of a deleted task.
  package var completion: StoredCompletion?
  /// The one that has counted until now.
  package var previousCompletion: StoredCompletion?

  package init(
    id: UUID, item: TaskItem?, completion: StoredCompletion?, previousCompletion: StoredCompletion?
  ) {
    (self.id, self.item, self.completion, self.previousCompletion) = (id, item, completion, previousCompletion)
  }
}

extension StoreWriteTransaction {
  /// Writes the states of objects that changes of other replicas have given them.
  ///
  /// A write of its own in the history, which undo leaves alone. It notes nothing for other replicas.
  ///
  /// - Parameters:
  ///   - tasks: The tasks; their lists and parents exist, or are among the others.
  ///   - lists: The lists, by their ids; `nil` for a deleted one.
  ///   - deletedListNames: The last names of deleted lists, for the completions that count for them.
  /// - Throws: as storing a task does for values that no task has; nothing is written then.
  package mutating func merge(
    _ tasks: [MergedTask], lists: [UUID: TaskList?], deletedListNames: [UUID: String]
  ) throws {
    var plan = RecordPlan()
    for (id, list) in lists { try plan.add(list, replacing: record(ListRecord.self, id), at: commitSequence) }
    for task in tasks {
      try plan.add(task.item, replacing: record(TaskRecord.self, task.id), at: commitSequence)
      plan.completions += try RecordPlan.completions(of: task).filter { key, record in
        try tables.completions.value(forKey: key, in: base) != record
      }
    }
    try recordHistory()
    origin = .replica
    defer { origin = .local }
    if !plan.isEmpty { try write(plan) }
    for (id, name) in deletedListNames where try nameOfDeletedList(id) != name { try keepName(name, ofDeletedList: id) }
    try recordHistory()
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
    for isTaskDeleted in [false, true] {
      let key = CompletionKey(isTaskDeleted: isTaskDeleted, completed: live.completed)
      if let record = try tables.completions.value(forKey: key, in: base) {
        return StoredCompletion(
          bytes: FieldValue.instant(Timestamp(clamping: live.completed.microseconds)).storedBytes + record.encodedBytes)
      }
    }
    return nil
  }
}

extension StoredCompletion {
  /// The instant and the record.
  fileprivate func parts() throws -> (instant: Timestamp, record: CompletionRecord) {
    guard bytes.count > 8 else { throw LMDBError.undecodable("a completion is too short") }
    let instant = try FieldValue(.instant, storedBytes: Array(bytes[..<8])).instant ?? .earliest
    let record = Array(bytes[8...])
    // The array lives until the record is read.
    return (instant, try unsafe CompletionRecord(decoding: record.span.bytes))
  }

  /// The list for which it counts; `nil` for the inbox.
  package func listID() throws -> UUID? { try parts().record.classification.listID }

  /// When the task was completed, and the offset from UTC there.
  package func moment() throws -> OffsetTimestamp {
    let (instant, record) = try parts()
    return try OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes))
  }

  fileprivate func entry(of id: UUID, isTaskDeleted: Bool) throws -> (key: CompletionKey, record: CompletionRecord) {
    let (instant, record) = try parts()
    let completed = InstantKey(microseconds: instant.microsecondsSince1970, id: id)
    return (CompletionKey(isTaskDeleted: isTaskDeleted, completed: completed), record)
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
    guard old != nil || task != nil, !Self.areIdentical(old?.item, task) else { return }
    tasks.append(RecordChange(from: old, to: task, at: sequence))
  }

  private static func areIdentical(_ old: TaskItem?, _ new: TaskItem?) -> Bool {
    guard let old, let new else { return old == nil && new == nil }
    return old.isIdentical(to: new)
  }

  /// The entries of the ledger: that of the previous completion goes, in whichever state, and the new one comes.
  static func completions(
    of task: MergedTask
  ) throws -> [(key: CompletionKey, record: CompletionRecord?)] {
    var entries: [CompletionKey: CompletionRecord?] = [:]
    for completion in [task.previousCompletion, task.completion].compactMap(\.self) {
      for isTaskDeleted in [false, true] {
        entries[try completion.entry(of: task.id, isTaskDeleted: isTaskDeleted).key] = .some(nil)
      }
    }
    if let completion = task.completion {
      var entry = try completion.entry(of: task.id, isTaskDeleted: task.item == nil)
      // Two replicas may have made the same instance of a repeating task at different times: the entry agrees with the task.
      if let item = task.item { entry.record.createdAtMicroseconds = item.createdAt.microsecondsSince1970 }
      entries[entry.key] = entry.record
    }
    return entries.map { ($0.key, $0.value) }
  }
}
