package import Foundation
import LMDB

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
