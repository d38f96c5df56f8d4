import Foundation
import LMDB

/// An index of records, defined by the keys that a record has in it.
///
/// The only definition of an index's contents. Writers keep the table equal to it, the integrity check compares the
/// table with it, and a repair builds the table from it.
protocol RecordIndex {
  associatedtype Source: IndexedRecord
  associatedtype Key: IndexKey

  /// The keys of a record: none, one or several.
  static func keys(of record: Source) -> IndexKeys<Key>

  /// The record that a key of this index names.
  static func record<T: Transaction & ~Copyable>(
    of key: Key, in tables: Tables, _ transaction: borrowing T
  ) throws -> Readable<Source>

  /// Whether a key is one of this index; false for those of others that share the table.
  static func owns(_ key: Key) -> Bool
}

extension RecordIndex {
  static func owns(_ key: Key) -> Bool { true }
}

/// The keys that one record has in one index.
enum IndexKeys<Key: IndexKey>: Equatable {
  case none
  case one(Key)
  /// In ascending order, each once.
  case several([Key])

  init(_ key: Key?) {
    self = key.map { .one($0) } ?? .none
  }

  func forEach<Failure: Error>(_ body: (Key) throws(Failure) -> Void) throws(Failure) {
    switch self {
    case .none: break
    case .one(let key): try body(key)
    case .several(let keys):
      assert(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "keys are out of order")
      for key in keys { try body(key) }
    }
  }

  func contains(_ key: Key) -> Bool {
    switch self {
    case .none: false
    case .one(let own): own == key
    case .several(let keys): keys.contains(key)
    }
  }
}

/// An index with its table, for work that treats all indexes alike.
protocol IndexHandle<Source>: Sendable {
  associatedtype Source: IndexedRecord
  var name: TableName { get }

  /// Replaces the entries of one record, leaving alone those that stay.
  func replace(_ old: Source?, by new: Source?, in transaction: inout WriteTransaction) throws(LMDBError)

  /// Creates a batch that gathers many changes of the index.
  func makeBatch() -> any IndexBatch<Source>

  func count<T: Transaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int

  /// How many entries a record should have, and how many of them are missing.
  func look<T: Transaction & ~Copyable>(
    for record: Source, in transaction: borrowing T
  ) throws(LMDBError) -> (expected: Int, missing: Int)

  /// Compares entries with their records, from a position on; returns the position to continue from.
  func checkEntries<T: Transaction & ~Copyable>(
    of tables: Tables, from position: [UInt8]?, limit: Int, in transaction: borrowing T,
    _ report: (StoreFault.Kind, UUID?) -> Void
  ) throws -> [UInt8]?

  func removeAll(in transaction: inout WriteTransaction) throws(LMDBError)

  /// Adds the entries of every record.
  func addAll(of tables: Tables, in transaction: inout WriteTransaction) throws
}
