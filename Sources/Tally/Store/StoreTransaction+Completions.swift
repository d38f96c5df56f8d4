import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Hands each completion whose entry says more than its task does to a closure, by time: all those of deleted tasks,
  /// and those of tasks that have changed their list since.
  func forEachDetachedCompletion(_ body: (Completion) throws -> Void) throws {
    for isTaskDeleted in [false, true] {
      _ = try scan(
        tables.completions, from: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: .min)),
        to: CompletionKey(isTaskDeleted: isTaskDeleted, completed: .start(at: .max))
      ) { key in
        guard let completion = try completion(key) else { return true }
        if !isTaskDeleted, try task(key.id)?.listID == completion.listID { return true }
        try body(completion)
        return true
      }
    }
  }

  private func completion(_ key: CompletionKey) throws -> Completion? {
    guard let record = try tables.completions.value(forKey: key, in: base) else { return nil }
    let instant = try Timestamp(microsecondsSince1970: key.completed.microseconds)
    return Completion(
      taskID: key.id,
      completedAt: try OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes)),
      createdAt: try Timestamp(microsecondsSince1970: record.createdAtMicroseconds), listID: record.listID,
      isTaskDeleted: key.isTaskDeleted)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Adds a completion of a deleted task to the ledger, or sets the list in which a live task was completed.
  ///
  /// - Returns: whether the ledger has changed: not if it says so already, nor if the task is there and completed at
  ///   that instant while the entry calls it deleted, nor the other way round.
  @discardableResult
  mutating func record(_ completion: Completion) throws -> Bool {
    let completed = InstantKey(
      microseconds: completion.completedAt.instant.microsecondsSince1970, id: completion.taskID)
    let live = try tables.completions.value(
      forKey: CompletionKey(isTaskDeleted: false, completed: completed), in: base)
    guard (live == nil) == completion.isTaskDeleted else { return false }
    let key = CompletionKey(isTaskDeleted: completion.isTaskDeleted, completed: completed)
    var record = CompletionRecord(
      utcOffsetInMinutes: Int16(completion.completedAt.utcOffsetInMinutes),
      createdAtMicroseconds: completion.createdAt.microsecondsSince1970, listID: completion.listID)
    if let live {
      // Offset and creation are the task's own; the ledger follows them.
      record.utcOffsetInMinutes = live.utcOffsetInMinutes
      record.createdAtMicroseconds = live.createdAtMicroseconds
      record.trailing = live.trailing
    }
    guard try tables.completions.value(forKey: key, in: base) != record else { return false }
    try tables.completions.put(record, forKey: key, in: &base)
    hasChanges = true
    return true
  }
}
