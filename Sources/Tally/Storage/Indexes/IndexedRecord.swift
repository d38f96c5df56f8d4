import Foundation
import LMDB

/// A kind of record that has indexes.
protocol IndexedRecord: Sendable {
  /// Passes every record of its table to a closure; throws if one cannot be read.
  static func forEach<T: Transaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (Self) throws -> Void
  ) throws
}

/// The result of looking up a record.
enum Readable<Value> {
  case missing
  case unreadable
  case readable(Value)
}

extension TaskRecord: IndexedRecord {
  static func forEach<T: Transaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (TaskRecord) throws -> Void
  ) throws {
    try tables.tasks.forEach(in: transaction) { key, value in
      try body(TaskRecord(id: IDKey(decoding: key).id, decoding: value))
      return true
    }
  }
}

extension RecordIndex where Source == TaskRecord {
  static func record<T: Transaction & ~Copyable>(
    of key: Key, in tables: Tables, _ transaction: borrowing T
  ) throws -> Readable<TaskRecord> {
    try tables.readableTask(key.id, in: transaction)
  }
}

extension ListRecord: IndexedRecord {
  static func forEach<T: Transaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (ListRecord) throws -> Void
  ) throws {
    try tables.lists.forEach(in: transaction) { key, value in
      try body(ListRecord(id: IDKey(decoding: key).id, decoding: value))
      return true
    }
  }
}

extension RecordIndex where Source == ListRecord {
  static func record<T: Transaction & ~Copyable>(
    of key: Key, in tables: Tables, _ transaction: borrowing T
  ) throws -> Readable<ListRecord> {
    guard let bytes = try tables.lists.bytes(forKey: IDKey(key.id), in: transaction) else { return .missing }
    guard let record = try? ListRecord(id: key.id, decoding: bytes) else { return .unreadable }
    return .readable(record)
  }
}

/// An entry of the ledger of completions.
struct LedgerEntry: IndexedRecord {
  let key: CompletionKey
  let record: CompletionRecord

  static func forEach<T: Transaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (LedgerEntry) throws -> Void
  ) throws {
    try tables.completions.forEach(in: transaction) { key, value in
      try body(LedgerEntry(key: CompletionKey(decoding: key), record: CompletionRecord(decoding: value)))
      return true
    }
  }
}

/// A deleted task or list.
struct Tombstone: IndexedRecord {
  let key: TombstoneKey
  let record: TombstoneRecord

  static func forEach<T: Transaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (Tombstone) throws -> Void
  ) throws {
    try tables.tombstones.forEach(in: transaction) { key, value in
      try body(Tombstone(key: TombstoneKey(decoding: key), record: TombstoneRecord(decoding: value)))
      return true
    }
  }
}

extension Tables {
  /// The record of a task, which may be damaged.
  func readableTask<T: Transaction & ~Copyable>(
    _ id: UUID, in transaction: borrowing T
  ) throws -> Readable<TaskRecord> {
    guard let bytes = try tasks.bytes(forKey: IDKey(id), in: transaction) else { return .missing }
    guard let record = try? TaskRecord(id: id, decoding: bytes) else { return .unreadable }
    return .readable(record)
  }
}
