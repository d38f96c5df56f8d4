import Foundation
import LMDB

/// A disagreement between the tables of a store; it never holds text of the user's.
package struct Inconsistency: CustomStringConvertible {
  /// What is wrong.
  enum Kind: String, Sendable {
    /// A record lacks an entry that it should have.
    case missingEntry
    /// A table has more entries than the records account for.
    case surplusEntries
    /// A completed task's ledger entry differs from its record.
    case wrongEntry
    /// A counter differs from what the records give.
    case wrongCounter
    /// A task names a list that does not exist.
    case unknownList
    /// A record breaks the model's rules.
    case invalidRecord
  }

  let kind: Kind
  /// The table in which it shows.
  let table: String
  /// The record that it is about, if it is about one.
  let id: UUID?

  package var description: String {
    "\(kind) in \(table)" + (id.map { " of \($0.uuidString.lowercased())" } ?? "")
  }
}

/// Compares every table with what the records say it should hold.
///
/// Each entry that a record should have is looked up, and counted: a table with more entries than that has entries
/// without a record. So the check needs no memory that grows with the store.
struct IntegrityCheck {
  let tables: Tables
  private(set) var found: [Inconsistency] = []
  private var entryCounts: [String: Int] = [:]

  init(tables: Tables) {
    self.tables = tables
  }

  /// Checks one snapshot.
  static func run<T: Transaction & ~Copyable>(
    _ tables: Tables, in transaction: borrowing T
  ) throws -> [Inconsistency] {
    var check = IntegrityCheck(tables: tables)
    try check.checkLists(in: transaction)
    try check.checkTasks(in: transaction)
    try check.checkDeletedCompletions(in: transaction)
    try check.checkCounts(in: transaction)
    try check.checkCounters(in: transaction)
    return check.found
  }

  private mutating func checkLists<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    var cursor = try tables.lists.cursor(in: transaction)
    var isAtEntry = try cursor.moveToFirst()
    while isAtEntry {
      let id = try cursor.key().id
      let list = try ListRecord(id: id, decoding: cursor.valueBytes).list
      if (try? list.validate()) == nil { report(.invalidRecord, "lists", id) }
      try expect(OrderKey(of: list), in: tables.listsByOrder, "listsByOrder", transaction)
      isAtEntry = try cursor.next()
    }
  }

  private mutating func checkTasks<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    var cursor = try tables.tasks.cursor(in: transaction)
    var isAtEntry = try cursor.moveToFirst()
    while isAtEntry {
      let id = try cursor.key().id
      let task = try TaskFields(cursor.valueBytes).item(id: id)
      try check(task, in: transaction)
      isAtEntry = try cursor.next()
    }
  }

  private mutating func check<T: Transaction & ~Copyable>(_ task: TaskItem, in transaction: borrowing T) throws {
    if (try? task.validate()) == nil { report(.invalidRecord, "tasks", task.id) }
    if let listID = task.listID, try !tables.lists.contains(IDKey(listID), in: transaction) {
      report(.unknownList, "tasks", task.id)
    }
    let entries = IndexEntries(of: task)
    try expect(entries.place, in: tables.byPlace, "byPlace", transaction)
    try expect(entries.day, in: tables.byDay, "byDay", transaction)
    try expect(entries.due, in: tables.byDue, "byDue", transaction)
    try expect(entries.reminder, in: tables.byReminder, "byReminder", transaction)
    try expect(entries.created, in: tables.byCreated, "byCreated", transaction)
    try expect(entries.active, in: tables.byActive, "byActive", transaction)
    try expect(entries.tail, in: tables.byTail, "byTail", transaction)
    try checkCompletion(of: task, key: entries.completion, in: transaction)
  }

  private mutating func checkCompletion<T: Transaction & ~Copyable>(
    of task: TaskItem, key: CompletionKey?, in transaction: borrowing T
  ) throws {
    try expect(key, in: tables.completions, "completions", transaction)
    guard let key, var expected = CompletionRecord(of: task),
      let recorded = try tables.completions.value(forKey: key, in: transaction)
    else { return }
    // The list is the one at the time of completion, which the record does not know.
    expected.listID = recorded.listID
    expected.trailing = recorded.trailing
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    if expected != recorded { report(.wrongEntry, "completions", task.id) }
    if try tables.completions.contains(deletedKey, in: transaction) { report(.surplusEntries, "completions", task.id) }
  }

  private mutating func checkDeletedCompletions<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    let first = CompletionKey(isTaskDeleted: true, completed: .start(at: .min))
    try tables.completions.forEach(from: first, in: transaction) { key, value in
      let (key, record) = (try CompletionKey(decoding: key), try CompletionRecord(decoding: value))
      try expect(
        DeletedCreationKey(key.completed, record), in: tables.deletedByCreated, "deletedByCreated", transaction)
      return true
    }
  }

  private mutating func expect<Key: IndexKey, Value, T: Transaction & ~Copyable>(
    _ key: Key?, in table: Database<Key, Value>, _ name: String, _ transaction: borrowing T
  ) throws {
    guard let key else { return }
    entryCounts[name, default: 0] += 1
    if try !table.contains(key, in: transaction) { report(.missingEntry, name, key.id) }
  }

  private mutating func checkCounts<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    let counts: [(String, Int)] = [
      ("listsByOrder", try tables.listsByOrder.count(in: transaction)),
      ("byPlace", try tables.byPlace.count(in: transaction)), ("byDay", try tables.byDay.count(in: transaction)),
      ("byDue", try tables.byDue.count(in: transaction)),
      ("byReminder", try tables.byReminder.count(in: transaction)),
      ("byCreated", try tables.byCreated.count(in: transaction)),
      ("deletedByCreated", try tables.deletedByCreated.count(in: transaction)),
      ("byActive", try tables.byActive.count(in: transaction)), ("byTail", try tables.byTail.count(in: transaction)),
      ("completions", try liveCompletionCount(in: transaction)),
    ]
    for (name, count) in counts where count > entryCounts[name, default: 0] { report(.surplusEntries, name, nil) }
  }

  /// Compares the counters, byte for byte, with those computed anew.
  private mutating func checkCounters<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    let rebuilt = try CounterRebuild(tables: tables).deltas(in: transaction)
    var days = try rebuilt.dayCounts()
    try tables.counts.forEach(in: transaction) { key, value in
      if try days.removeValue(forKey: DayCountsKey(decoding: key))?.encodedBytes != value.bytes(from: 0) {
        report(.wrongCounter, "counts", nil)
      }
      return true
    }
    var totals = rebuilt.totalCounts()
    try tables.totals.forEach(in: transaction) { key, value in
      let count = Int64(try UInt64(decoding: value))
      if try totals.removeValue(forKey: TotalKey(decoding: key)) != count { report(.wrongCounter, "totals", nil) }
      return true
    }
    if !days.isEmpty { report(.missingEntry, "counts", nil) }
    if !totals.isEmpty { report(.missingEntry, "totals", nil) }
  }

  private func liveCompletionCount<T: Transaction & ~Copyable>(in transaction: borrowing T) throws -> Int {
    var cursor = try tables.completions.cursor(in: transaction)
    var count = 0
    var isAtEntry = try cursor.moveToFirst()
    while isAtEntry, try !cursor.key().isTaskDeleted {
      count += 1
      isAtEntry = try cursor.next()
    }
    return count
  }

  private mutating func report(_ kind: Inconsistency.Kind, _ table: String, _ id: UUID?) {
    found.append(Inconsistency(kind: kind, table: table, id: id))
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Every disagreement between the tables of this snapshot; none in a sound store.
  ///
  /// - Complexity: every record and every entry is read.
  package func inconsistencies() throws -> [Inconsistency] {
    try IntegrityCheck.run(tables, in: base)
  }
}
