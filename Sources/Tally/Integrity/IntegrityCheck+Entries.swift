import Foundation
import LMDB

extension IntegrityCheck {
  /// Looks at the entries of one index, from a position on.
  mutating func checkEntries<T: Transaction & ~Copyable>(
    of index: IndexTable, from position: [UInt8]?, limit: Int, in transaction: borrowing T
  ) throws -> [UInt8]? {
    switch index {
    case .byPlace: try checkEntries(of: tables.byPlace, index, \.place, from: position, limit, in: transaction)
    case .byDay: try checkEntries(of: tables.byDay, index, \.day, from: position, limit, in: transaction)
    case .byDue: try checkEntries(of: tables.byDue, index, \.due, from: position, limit, in: transaction)
    case .byReminder: try checkEntries(of: tables.byReminder, index, \.reminder, from: position, limit, in: transaction)
    case .byCreated: try checkEntries(of: tables.byCreated, index, \.created, from: position, limit, in: transaction)
    case .byActive: try checkEntries(of: tables.byActive, index, \.active, from: position, limit, in: transaction)
    case .byTail: try checkEntries(of: tables.byTail, index, \.tail, from: position, limit, in: transaction)
    case .listsByOrder:
      try checkEntries(of: tables.listsByOrder, index, from: position, limit, in: transaction) {
        tables, key, transaction in
        try tables.readableList(key.id, in: transaction).map { OrderKey(of: $0) }
      }
    case .deletedByCreated:
      try checkEntries(of: tables.deletedByCreated, index, from: position, limit, in: transaction) {
        tables, key, transaction in
        try tables.readableCompletion(ofDeleted: key.completed, in: transaction)
          .map { DeletedCreationKey(key.completed, $0) }
      }
    }
  }

  private mutating func checkEntries<Key: IndexKey, T: Transaction & ~Copyable>(
    of table: Index<Key>, _ index: IndexTable, _ expected: (IndexEntries) -> Key?, from position: [UInt8]?,
    _ limit: Int, in transaction: borrowing T
  ) throws -> [UInt8]? {
    try checkEntries(of: table, index, from: position, limit, in: transaction) { tables, key, transaction in
      try tables.readableTask(key.id, in: transaction).map { expected(IndexEntries(of: $0)) }
    }
  }

  /// Compares each entry with the one that its record should have, which `expected` gives.
  private mutating func checkEntries<Key: IndexKey, T: Transaction & ~Copyable>(
    of table: Index<Key>, _ index: IndexTable, from position: [UInt8]?, _ limit: Int, in transaction: borrowing T,
    _ expected: (Tables, Key, borrowing T) throws -> Readable<Key?>
  ) throws -> [UInt8]? {
    try table.visit(from: position, limit: limit, in: transaction) { bytes, _ in
      guard let key = Key(canonically: bytes) else { return add(.danglingEntry, index.rawValue, nil) }
      switch try expected(tables, key, transaction) {
      case .missing: add(.danglingEntry, index.rawValue, key.id)
      // The record is a fault of its own, and what its entries should be cannot be told.
      case .unreadable, .readable(key): return
      case .readable(let right):
        let isRightOneThere = try right.map { try table.contains($0, in: transaction) } ?? false
        add(isRightOneThere ? .duplicateEntry : .wrongEntry, index.rawValue, key.id)
      }
    }
  }
}

/// A record that was looked up.
enum Readable<Value> {
  case missing
  case unreadable
  case readable(Value)

  func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Readable<Other> {
    switch self {
    case .missing: .missing
    case .unreadable: .unreadable
    case .readable(let value): .readable(try transform(value))
    }
  }
}

/// An entry of the ledger whose bytes make sense.
struct LedgerEntry {
  let key: CompletionKey
  let record: CompletionRecord

  /// Reads an entry; `nil` for one that no version of Tally known here writes, and that counting would stumble over.
  init?(_ keyBytes: RawSpan, _ valueBytes: RawSpan) {
    guard let key = CompletionKey(canonically: keyBytes), let record = try? CompletionRecord(decoding: valueBytes),
      let instant = try? Timestamp(microsecondsSince1970: key.completed.microseconds),
      (try? Timestamp(microsecondsSince1970: record.createdAtMicroseconds)) != nil,
      (try? OffsetTimestamp(instant, utcOffsetInMinutes: Int(record.utcOffsetInMinutes))) != nil
    else { return nil }
    self.key = key
    self.record = record
  }
}

extension Tables {
  func readableTask<T: Transaction & ~Copyable>(
    _ id: UUID, in transaction: borrowing T
  ) throws -> Readable<TaskItem> {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return .missing }
    guard let task = try? TaskFields(bytes).item(id: id) else { return .unreadable }
    return .readable(task)
  }

  func readableList<T: Transaction & ~Copyable>(
    _ id: UUID, in transaction: borrowing T
  ) throws -> Readable<TaskList> {
    guard let bytes = try lists.bytes(forKey: IDKey(id), in: transaction) else { return .missing }
    guard let record = try? ListRecord(id: id, decoding: bytes) else { return .unreadable }
    return .readable(record.list)
  }

  func readableCompletion<T: Transaction & ~Copyable>(
    ofDeleted completed: InstantKey, in transaction: borrowing T
  ) throws -> Readable<CompletionRecord> {
    let key = CompletionKey(isTaskDeleted: true, completed: completed)
    guard let bytes = try completions.bytes(forKey: key, in: transaction) else { return .missing }
    guard let record = try? CompletionRecord(decoding: bytes) else { return .unreadable }
    return .readable(record)
  }
}
