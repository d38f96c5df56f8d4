import Foundation
import LMDB

/// An index of records, defined by the keys that a record has in it.
///
/// This is the only definition of an index's contents: writers maintain the table by it, the integrity check compares
/// the table with it, and a repair rebuilds the table from it.
protocol RecordIndex: SendableMetatype {
  associatedtype Source: IndexedRecord
  associatedtype Key: IndexKey

  /// The keys of a record in this index: none, one or several.
  static func keys(of record: Source) -> IndexKeys<Key>

  /// The primary key of the record that an entry with this key belongs to.
  static func primaryKey(of key: Key) -> Source.PrimaryKey

  /// Whether a key belongs to this index; false for the keys of other indexes in the same table.
  static func owns(_ key: Key) -> Bool
}

extension RecordIndex {
  static func owns(_ key: Key) -> Bool { true }

  @inline(__always)
  static func keys(of record: Source?) -> IndexKeys<Key> {
    if let record { keys(of: record) } else { .none }
  }
}

extension RecordIndex where Source: ObjectRecord {
  static func primaryKey(of key: Key) -> IDKey { IDKey(key.id) }
}

/// The keys that one record has in one index.
enum IndexKeys<Key: IndexKey>: Equatable {
  case none
  case one(Key)
  /// Several keys, in ascending order and without duplicates.
  case several([Key])

  init(_ key: Key?) {
    self = key.map { .one($0) } ?? .none
  }

  func forEach<Failure: Error>(_ body: (Key) throws(Failure) -> Void) throws(Failure) {
    switch self {
    case .none: break
    case .one(let key): try body(key)
    case .several(let keys):
      assert(
        zip(keys, keys.dropFirst()).allSatisfy { $0.encodedBytes.lexicographicallyPrecedes($1.encodedBytes) },
        "keys are out of order")
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

/// An index of one kind of record, as the catalogue holds it.
///
/// Each index writes through closures that the compiler specialises where the catalogue is made. Protocol requirements
/// would be compiled once for all indexes, which makes a bulk insert 50 % more expensive (Swift 6.3).
struct IndexHandle<Source: IndexedRecord>: Sendable {
  /// Replaces the entries of one record; entries that stay are not touched.
  let replace: @Sendable (RecordChange<Source>, inout WriteTransaction) throws(LMDBError) -> Void
  /// Creates a batch that gathers many changes to the index.
  let makeBatch: @Sendable () -> IndexBatch<Source>
  /// The index for checks, counts and repairs; `nil` for an application's index, see `OwnDataCheck`.
  var table: (any CheckedIndex<Source>)? { makeTable?() }
  /// Creates the table only when needed: the metadata that the runtime makes for each type took a millisecond of every
  /// opening of a store.
  private let makeTable: (@Sendable () -> any CheckedIndex<Source>)?

  @inline(__always)
  init<Definition: RecordIndex>(_ definition: Definition.Type, _ name: TableName, _ table: Index<Definition.Key>)
  where Definition.Source == Source {
    makeTable = { IndexTable<Definition>(name: name, table: table) }
    makeBatch = { IndexBatch(Definition.self, table) }
    replace = { change, transaction throws(LMDBError) in
      let (oldKeys, newKeys) = (Definition.keys(of: change.old), Definition.keys(of: change.new))
      guard oldKeys != newKeys else { return }
      try oldKeys.forEach { key throws(LMDBError) in
        if !newKeys.contains(key) { _ = try table.remove(forKey: key, in: &transaction) }
      }
      try newKeys.forEach { key throws(LMDBError) in
        if !oldKeys.contains(key) { try table.put(NoValue(), forKey: key, in: &transaction) }
      }
    }
  }
}

extension IndexHandle where Source == TaskRecord {
  /// An application's index.
  init(_ index: OwnIndex, _ tables: OwnIndexTables) {
    makeTable = nil
    makeBatch = { IndexBatch(index, tables) }
    replace = { change, transaction throws(LMDBError) in
      var changes = OwnIndexChanges(of: index)
      try changes.add(change)
      try changes.apply(to: tables, in: &transaction)
    }
  }
}

/// Many changes to one index, gathered to be written at once.
final class IndexBatch<Source: IndexedRecord> {
  /// Adds the entries of new records.
  let insert: ([Source]) throws(LMDBError) -> Void
  /// Adds a change of a stored record.
  let replace: (RecordChange<Source>) throws(LMDBError) -> Void
  /// Writes the changes in the index's key order, so that each page is visited once.
  let apply: (inout WriteTransaction) throws(LMDBError) -> Void
  /// Reserves memory for `factor` times as many new entries as the batch holds.
  let reserve: (_ factor: Double) -> Void

  private init(
    insert: @escaping ([Source]) throws(LMDBError) -> Void,
    replace: @escaping (RecordChange<Source>) throws(LMDBError) -> Void,
    apply: @escaping (inout WriteTransaction) throws(LMDBError) -> Void
  ) {
    (self.insert, self.replace, self.apply) = (insert, replace, apply)
    reserve = { _ in }
  }

  @inline(__always)
  init<Definition: RecordIndex>(_ definition: Definition.Type, _ table: Index<Definition.Key>)
  where Definition.Source == Source {
    let changes = IndexChanges<Definition.Key>()
    reserve = { changes.inserted.reserve(times: $0) }
    insert = { records throws(LMDBError) in
      try changes.insert { (inserted) throws(LMDBError) in
        // A span borrows its records; iterating over an array would copy each of them for each index.
        let records = records.span
        for position in records.indices {
          try Definition.keys(of: records[position]).forEach { key throws(LMDBError) in
            try inserted.add(NoValue(), forKey: key)
          }
        }
      }
    }
    replace = { change throws(LMDBError) in
      let (oldKeys, newKeys) = (Definition.keys(of: change.old), Definition.keys(of: change.new))
      guard oldKeys != newKeys else { return }
      try oldKeys.forEach { key throws(LMDBError) in
        if !newKeys.contains(key) { try changes.removed.add(NoValue(), forKey: key) }
      }
      try newKeys.forEach { key throws(LMDBError) in
        if !oldKeys.contains(key) { try changes.inserted.add(NoValue(), forKey: key) }
      }
    }
    apply = { transaction throws(LMDBError) in
      try table.remove(&changes.removed, in: &transaction)
      try table.put(&changes.inserted, in: &transaction)
    }
  }
}

extension IndexBatch where Source == TaskRecord {
  /// Gathers changes to an application's index.
  convenience init(_ index: OwnIndex, _ tables: OwnIndexTables) {
    let gathered = Gathered(OwnIndexChanges(of: index))
    self.init(
      insert: { records throws(LMDBError) in
        for record in records { try gathered.changes.add(RecordChange(old: nil, new: record)) }
      },
      replace: { change throws(LMDBError) in try gathered.changes.add(change) },
      apply: { transaction throws(LMDBError) in try gathered.changes.apply(to: tables, in: &transaction) })
  }

  private final class Gathered {
    var changes: OwnIndexChanges

    init(_ changes: OwnIndexChanges) {
      self.changes = changes
    }
  }
}

/// The changes that a batch has gathered.
private final class IndexChanges<Key: IndexKey> {
  var removed = EntryBatch<Key, NoValue>()
  var inserted = EntryBatch<Key, NoValue>()

  /// Makes many insertions in one access, because each access is checked for exclusivity.
  @inline(__always)
  func insert(_ body: (inout EntryBatch<Key, NoValue>) throws(LMDBError) -> Void) throws(LMDBError) {
    try body(&inserted)
  }
}

/// An index with its table, for checks, counts and repairs, which treat all indexes alike.
protocol CheckedIndex<Source>: Sendable {
  associatedtype Source: IndexedRecord
  var name: TableName { get }

  func count<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int

  /// How many entries a record should have, and how many of them are missing.
  func look<T: LMDBTransaction & ~Copyable>(
    for record: Source, in transaction: borrowing T
  ) throws(LMDBError) -> (expected: Int, missing: Int)

  /// Compares entries with their records, from a position on.
  ///
  /// - Returns: the position to continue from; `nil` at the end.
  func checkEntries<T: LMDBTransaction & ~Copyable>(
    of tables: Tables, from position: [UInt8]?, limit: Int, in transaction: borrowing T,
    _ report: (StoreFault.Kind, UUID?) -> Void
  ) throws -> [UInt8]?

  func removeAll(in transaction: inout WriteTransaction) throws(LMDBError)

  /// Adds the entries of every record.
  func addAll(of tables: Tables, in transaction: inout WriteTransaction) throws
}
