import Foundation
import LMDB

/// Compares every table with what the records say it should hold.
///
/// Each entry that a record should have is looked up, and counted: a table with more entries than that has some without
/// a record, and only then, or where writers have been at work between two snapshots, are its entries looked at one by
/// one. Memory does not grow with the store, but for four bytes an event that the counters count.
struct IntegrityCheck {
  let tables: Tables
  var report = VerificationReport()
  /// What the counters should hold, as far as the records have been read.
  private(set) var deltas = CounterDeltas()
  private(set) var expectedCounts: [IndexTable: Int] = [:]
  private(set) var missingCounts: [IndexTable: Int] = [:]
  /// The indexes with more entries than the records account for.
  var surplusIndexes: [IndexTable] = []

  /// What is read one after the other, in as many snapshots as it takes.
  enum Pass: Hashable {
    case lists, tasks, completions
    case entries(IndexTable)
  }

  /// The passes over the records, which also count.
  static let recordPasses: [Pass] = [.lists, .tasks, .completions]

  init(tables: Tables) {
    self.tables = tables
  }

  /// Runs a pass from a position on, and gives the position to go on from; `nil` at the end.
  mutating func run<T: Transaction & ~Copyable>(
    _ pass: Pass, from position: [UInt8]?, limit: Int, in transaction: borrowing T
  ) throws -> [UInt8]? {
    switch pass {
    case .lists:
      try tables.lists.visit(from: position, limit: limit, in: transaction) { key, value in
        try checkList(key, value, in: transaction)
      }
    case .tasks:
      try tables.tasks.visit(from: position, limit: limit, in: transaction) { key, value in
        try checkTask(key, value, in: transaction)
      }
    case .completions:
      try tables.completions.visit(from: position, limit: limit, in: transaction) { key, value in
        try checkCompletion(key, value, in: transaction)
      }
    case .entries(let index):
      try checkEntries(of: index, from: position, limit: limit, in: transaction)
    }
  }

  /// Runs everything in one snapshot.
  mutating func runWhole<T: Transaction & ~Copyable>(in transaction: borrowing T) throws {
    for pass in Self.recordPasses { _ = try run(pass, from: nil, limit: .max, in: transaction) }
    try finish(in: transaction)
    for index in surplusIndexes { _ = try run(.entries(index), from: nil, limit: .max, in: transaction) }
  }

  mutating func add(_ kind: StoreFault.Kind, _ table: String, _ id: UUID?) {
    report.add(StoreFault(kind: kind, table: table, id: id))
  }
}

extension IntegrityCheck {
  private mutating func checkList<T: Transaction & ~Copyable>(
    _ key: RawSpan, _ value: RawSpan, in transaction: borrowing T
  ) throws {
    report.listCount += 1
    guard let id = (try? IDKey(decoding: key))?.id, let list = (try? ListRecord(id: id, decoding: value))?.list else {
      return add(.unreadableRecord, "lists", (try? IDKey(decoding: key))?.id)
    }
    if !list.isSound(in: value) { add(.invalidRecord, "lists", id) }
    try expect(OrderKey(of: list), in: tables.listsByOrder, .listsByOrder, transaction)
  }

  private mutating func checkTask<T: Transaction & ~Copyable>(
    _ key: RawSpan, _ value: RawSpan, in transaction: borrowing T
  ) throws {
    report.taskCount += 1
    guard let id = (try? IDKey(decoding: key))?.id, let task = try? TaskFields(value).item(id: id) else {
      return add(.unreadableRecord, "tasks", (try? IDKey(decoding: key))?.id)
    }
    if !task.isSound(in: value) { add(.invalidRecord, "tasks", task.id) }
    if let listID = task.listID, try !tables.lists.contains(IDKey(listID), in: transaction) {
      add(.unknownList, "tasks", task.id)
    }
    let entries = IndexEntries(of: task)
    try expect(entries.place, in: tables.byPlace, .byPlace, transaction)
    try expect(entries.day, in: tables.byDay, .byDay, transaction)
    try expect(entries.due, in: tables.byDue, .byDue, transaction)
    try expect(entries.reminder, in: tables.byReminder, .byReminder, transaction)
    try expect(entries.created, in: tables.byCreated, .byCreated, transaction)
    try expect(entries.active, in: tables.byActive, .byActive, transaction)
    try expect(entries.tail, in: tables.byTail, .byTail, transaction)
    guard let key = entries.completion else { return deltas.count(CountedTask(open: task), sign: 1) }
    if try !tables.completions.contains(key, in: transaction) { add(.missingEntry, "completions", id) }
  }

  private mutating func checkCompletion<T: Transaction & ~Copyable>(
    _ key: RawSpan, _ value: RawSpan, in transaction: borrowing T
  ) throws {
    report.completionCount += 1
    guard let entry = LedgerEntry(key, value) else {
      return add(.unreadableRecord, "completions", (try? CompletionKey(decoding: key))?.id)
    }
    deltas.count(CountedTask(entry.key, entry.record), sign: 1)
    if entry.key.isTaskDeleted {
      let created = DeletedCreationKey(entry.key.completed, entry.record)
      return try expect(created, in: tables.deletedByCreated, .deletedByCreated, transaction)
    }
    switch try tables.readableTask(entry.key.id, in: transaction) {
    case .missing: add(.danglingEntry, "completions", entry.key.id)
    // Its record is a fault of its own.
    case .unreadable: return
    case .readable(let task): try compare(entry, with: task, in: transaction)
    }
  }

  private mutating func compare<T: Transaction & ~Copyable>(
    _ entry: LedgerEntry, with task: TaskItem, in transaction: borrowing T
  ) throws {
    guard let key = CompletionKey(of: task), var expected = CompletionRecord(of: task), key == entry.key else {
      let isRightOneThere = try CompletionKey(of: task).map { try tables.completions.contains($0, in: transaction) }
      return add(isRightOneThere == true ? .duplicateEntry : .wrongEntry, "completions", task.id)
    }
    // The list is the one at the time of completion, which the record does not know.
    expected.listID = entry.record.listID
    expected.trailing = entry.record.trailing
    if expected != entry.record { add(.wrongEntry, "completions", task.id) }
    let deletedKey = CompletionKey(isTaskDeleted: true, completed: key.completed)
    if try tables.completions.contains(deletedKey, in: transaction) { add(.duplicateEntry, "completions", task.id) }
  }

  private mutating func expect<Key: IndexKey, T: Transaction & ~Copyable>(
    _ key: Key?, in table: Index<Key>, _ index: IndexTable, _ transaction: borrowing T
  ) throws {
    guard let key else { return }
    expectedCounts[index, default: 0] += 1
    if try !table.contains(key, in: transaction) {
      missingCounts[index, default: 0] += 1
      add(.missingEntry, index.rawValue, key.id)
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Every disagreement between the tables of this snapshot, for tests that look at what else the same snapshot holds.
  ///
  /// - Complexity: every record is read.
  package func inconsistencies() throws -> [StoreFault] {
    var check = IntegrityCheck(tables: tables)
    try check.runWhole(in: base)
    return check.report.faults
  }
}

extension TaskItem {
  /// Whether the task obeys the model's rules, and its texts are stored as they read.
  fileprivate func isSound(in record: RawSpan) -> Bool {
    guard (try? validate()) != nil, let fields = try? TaskFields(record) else { return false }
    return fields.titleBytes.isWellFormedText && fields.notesBytes?.isWellFormedText != false
  }
}

extension TaskList {
  /// Whether the list obeys the model's rules, and its name is stored as it reads.
  fileprivate func isSound(in record: RawSpan) -> Bool {
    guard (try? validate()) != nil, let name = try? ListRecord.nameBytes(of: record) else { return false }
    return name.isWellFormedText
  }
}
