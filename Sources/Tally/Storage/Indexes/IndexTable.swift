import Foundation
import LMDB
import TallyEngine

/// One index together with its table.
struct IndexTable<Definition: RecordIndex>: CheckedIndex {
  typealias Source = Definition.Source
  typealias Key = Definition.Key

  let name: TableName
  let table: Index<Key>

  func count<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int {
    try table.count(in: transaction)
  }

  func look<T: LMDBTransaction & ~Copyable>(
    for record: Source, in transaction: borrowing T
  ) throws(LMDBError) -> (expected: Int, missing: Int) {
    var (expected, missing) = (0, 0)
    try Definition.keys(of: record).forEach { key throws(LMDBError) in
      expected += 1
      if try !table.contains(key, in: transaction) { missing += 1 }
    }
    return (expected, missing)
  }

  func checkEntries<T: LMDBTransaction & ~Copyable>(
    of tables: Tables, from position: [UInt8]?, limit: Int, in transaction: borrowing T,
    _ report: (StoreFault.Kind, UUID?) -> Void
  ) throws -> [UInt8]? {
    try table.visit(from: position, limit: limit, in: transaction) { bytes, _ in
      guard let key = Key(canonically: bytes) else { return report(.danglingEntry, nil) }
      guard Definition.owns(key) else { return }
      switch try Source.look(for: Definition.primaryKey(of: key), in: tables, transaction) {
      case .missing: report(.danglingEntry, key.id)
      // An unreadable record is reported as its own fault, and its expected entries are unknown.
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
