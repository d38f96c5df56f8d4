import Foundation
import LMDB

/// Makes the ledger agree with the tasks; all unreadable records must have been removed before.
struct LedgerRepair {
  let tables: Tables

  func run(in transaction: inout WriteTransaction) throws {
    var moved: [UUID: Classification] = [:]
    for entry in try wrongEntries(in: transaction) {
      _ = try tables.completions.remove(forKey: entry.key, in: &transaction)
      if try tables.tasks.contains(IDKey(entry.key.id), in: transaction) {
        moved[entry.key.id] = entry.record.classification
      } else {
        // Completed work continues to count, whatever has happened to its task.
        let key = CompletionKey(isTaskDeleted: true, completed: entry.key.completed)
        try tables.completions.put(entry.record, forKey: key, in: &transaction)
      }
    }
    for task in try completedTasks(in: transaction) {
      try setEntry(of: task, carrying: moved[task.id], in: &transaction)
    }
  }

  /// The entries of live tasks that contradict their task or have no task.
  private func wrongEntries(in transaction: borrowing WriteTransaction) throws -> [LedgerEntry] {
    var wrong: [LedgerEntry] = []
    try tables.completions.forEach(in: transaction) { key, value in
      let key = try CompletionKey(decoding: key)
      guard !key.isTaskDeleted else { return false }
      if case .readable(let record) = try TaskRecord.look(for: IDKey(key.id), in: tables, transaction),
        CompletionKey(of: record.item) == key
      {
        return true
      }
      wrong.append(LedgerEntry(key: key, record: try CompletionRecord(decoding: value)))
      return true
    }
    return wrong
  }

  /// The completed tasks whose entries are missing, wrong or duplicated.
  private func completedTasks(in transaction: borrowing WriteTransaction) throws -> [TaskItem] {
    var tasks: [TaskItem] = []
    try tables.tasks.forEach(in: transaction) { id, value in
      let fields = try TaskFields(value)
      guard fields.isCompleted else { return true }
      let task = try fields.item(id: IDKey(decoding: id).id)
      guard let key = CompletionKey(of: task) else { return true }
      let recorded = try tables.completions.value(forKey: key, in: transaction)
      let expected = CompletionRecord(of: task, keeping: recorded)
      let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
      if try recorded != expected || tables.completions.contains(deletedKey, in: transaction) { tasks.append(task) }
      return true
    }
    return tasks
  }

  private func setEntry(
    of task: TaskItem, carrying classification: Classification?, in transaction: inout WriteTransaction
  ) throws {
    guard let key = CompletionKey(of: task) else { return }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    let recorded =
      try tables.completions.value(forKey: key, in: transaction)
      ?? tables.completions.value(forKey: deletedKey, in: transaction)
    guard var record = CompletionRecord(of: task, keeping: recorded) else { return }
    if recorded == nil, let classification { record.classification = classification }
    _ = try tables.completions.remove(forKey: deletedKey, in: &transaction)
    try tables.completions.put(record, forKey: key, in: &transaction)
  }
}
