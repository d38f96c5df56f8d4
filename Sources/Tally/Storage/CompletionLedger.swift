import Foundation
import LMDB

/// The permanent record of what was completed when, and in which list.
///
/// | change of a task | change of the ledger |
/// | --- | --- |
/// | completed | an entry with the list of that moment |
/// | reopened | the entry goes |
/// | completed at another time | the entry moves; its list stays |
/// | moved to another list | nothing: the work was done where it was done |
/// | deleted | the entry stays, marked |
/// | back again (import) with the same completion | the marked entry becomes the live one |
struct CompletionLedger {
  let table: Database<CompletionKey, CompletionRecord>

  /// Follows one change of a task.
  func apply(_ change: TaskChange, in transaction: inout WriteTransaction) throws(LMDBError) {
    let old = change.old?.item
    let oldKey = old.flatMap { CompletionKey(of: $0) }
    guard let new = change.new?.item else {
      if let oldKey { try markDeleted(oldKey, in: &transaction) }
      return
    }
    let newKey = CompletionKey(of: new)
    guard oldKey != newKey || old?.completedAt != new.completedAt || old?.createdAt != new.createdAt else { return }
    let replaced = try oldKey.flatMap { (key) throws(LMDBError) in try take(key, in: &transaction) }
    guard let newKey, var record = CompletionRecord(of: new) else { return }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: newKey.completed)
    if let recorded = try take(deletedKey, in: &transaction) ?? replaced {
      record.listID = recorded.listID
      record.trailing = recorded.trailing
    }
    try table.put(record, forKey: newKey, in: &transaction)
  }

  /// Removes an entry, and tells what it said.
  private func take(
    _ key: CompletionKey, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> CompletionRecord? {
    guard let record = try table.value(forKey: key, in: transaction) else { return nil }
    _ = try table.remove(forKey: key, in: &transaction)
    return record
  }

  private func markDeleted(_ key: CompletionKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record = try take(key, in: &transaction) else { return }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    try table.put(record, forKey: deletedKey, in: &transaction)
  }

  /// The order in which many changes touch the table's pages one after the other.
  static func areInTableOrder(_ left: TaskChange, _ right: TaskChange) -> Bool {
    func key(_ change: TaskChange) -> InstantKey {
      let task = change.new?.item ?? change.old?.item
      return InstantKey(
        microseconds: task?.completedAt?.instant.microsecondsSince1970 ?? .min, id: task?.id ?? .lowest)
    }
    return key(left) < key(right)
  }
}
