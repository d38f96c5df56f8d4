import Foundation
import LMDB

/// The table of one index.
struct IndexTable<Definition: RecordIndex>: IndexHandle {
  typealias Source = Definition.Source
  typealias Key = Definition.Key

  let name: TableName
  private let table: Index<Key>

  init(_ definition: Definition.Type, _ name: TableName, _ table: Index<Key>) {
    self.name = name
    self.table = table
  }

  func replace(_ old: Source?, by new: Source?, in transaction: inout WriteTransaction) throws(LMDBError) {
    let oldKeys = old.map(Definition.keys) ?? .none
    let newKeys = new.map(Definition.keys) ?? .none
    guard oldKeys != newKeys else { return }
    try oldKeys.forEach { key throws(LMDBError) in
      if !newKeys.contains(key) { _ = try table.remove(forKey: key, in: &transaction) }
    }
    try newKeys.forEach { key throws(LMDBError) in
      if !oldKeys.contains(key) { try table.put(NoValue(), forKey: key, in: &transaction) }
    }
  }

  func makeBatch() -> any IndexBatch<Source> {
    IndexTableBatch<Definition>(table)
  }

  func count<T: Transaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int {
    try table.count(in: transaction)
  }

  func look<T: Transaction & ~Copyable>(
    for record: Source, in transaction: borrowing T
  ) throws(LMDBError) -> (expected: Int, missing: Int) {
    var (expected, missing) = (0, 0)
    try Definition.keys(of: record).forEach { key throws(LMDBError) in
      expected += 1
      if try !table.contains(key, in: transaction) { missing += 1 }
    }
    return (expected, missing)
  }

  func checkEntries<T: Transaction & ~Copyable>(
    of tables: Tables, from position: [UInt8]?, limit: Int, in transaction: borrowing T,
    _ report: (StoreFault.Kind, UUID?) -> Void
  ) throws -> [UInt8]? {
    try table.visit(from: position, limit: limit, in: transaction) { bytes, _ in
      guard let key = Key(canonically: bytes) else { return report(.danglingEntry, nil) }
      guard Definition.owns(key) else { return }
      switch try Definition.record(of: key, in: tables, transaction) {
      case .missing: report(.danglingEntry, key.id)
      // The record is a fault of its own, and its expected entries are unknown.
      case .unreadable: return
      case .readable(let record):
        let keys = Definition.keys(of: record)
        guard !keys.contains(key) else { return }
        var areRightOnesThere = keys != .none
        try keys.forEach { key in if try !table.contains(key, in: transaction) { areRightOnesThere = false } }
        report(areRightOnesThere ? .duplicateEntry : .wrongEntry, key.id)
      }
    }
  }

  func removeAll(in transaction: inout WriteTransaction) throws(LMDBError) {
    try table.removeAll(in: &transaction)
  }

  func addAll(of tables: Tables, in transaction: inout WriteTransaction) throws {
    var batch = EntryBatch<Key, NoValue>()
    try Source.forEach(of: tables, in: transaction) { record in
      try Definition.keys(of: record).forEach { try batch.add(NoValue(), forKey: $0) }
    }
    try table.put(&batch, in: &transaction)
  }
}

/// The effect of many changes on one index.
protocol IndexBatch<Source>: AnyObject {
  associatedtype Source: IndexedRecord

  /// Adds the replacement of one record by another.
  func add(_ old: Source?, _ new: Source?) throws(LMDBError)

  /// Writes the changes in the index's own order, which touches each page once.
  func apply(in transaction: inout WriteTransaction) throws(LMDBError)
}

private final class IndexTableBatch<Definition: RecordIndex>: IndexBatch {
  private let table: Index<Definition.Key>
  private var removed: [Definition.Key] = []
  private var inserted = EntryBatch<Definition.Key, NoValue>()

  init(_ table: Index<Definition.Key>) {
    self.table = table
  }

  func add(_ old: Definition.Source?, _ new: Definition.Source?) throws(LMDBError) {
    let newKeys = new.map(Definition.keys) ?? .none
    guard let old else { return try newKeys.forEach(insert) }
    let oldKeys = Definition.keys(of: old)
    guard oldKeys != newKeys else { return }
    oldKeys.forEach { if !newKeys.contains($0) { removed.append($0) } }
    try newKeys.forEach { key throws(LMDBError) in if !oldKeys.contains(key) { try insert(key) } }
  }

  private func insert(_ key: Definition.Key) throws(LMDBError) {
    try inserted.add(NoValue(), forKey: key)
  }

  func apply(in transaction: inout WriteTransaction) throws(LMDBError) {
    for key in removed.sorted() { _ = try table.remove(forKey: key, in: &transaction) }
    try table.put(&inserted, in: &transaction)
  }
}
