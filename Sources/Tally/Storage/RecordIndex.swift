import Foundation
import LMDB
import TallyEngine

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

/// A row of a table that is indexed.
protocol IndexedRecord: Sendable {
  associatedtype PrimaryKey: IndexKey
  associatedtype Value: BinaryCodable

  static var tableName: TableName { get }
  /// The table of these rows.
  static func table(in tables: Tables) -> Database<PrimaryKey, Value>
  /// The table's indexes.
  static func indexes(in tables: Tables) -> [IndexHandle<Self>]

  var key: PrimaryKey { get }
  init(key: PrimaryKey, decoding bytes: RawSpan) throws(LMDBError)
  /// Whether a known version of Tally could have written a row that decodes without an error.
  var isPlausible: Bool { get }
}

/// The result of looking up a record that may be damaged.
enum Readable<Value> {
  case missing
  case unreadable
  case readable(Value)
}

extension IndexedRecord {
  var isPlausible: Bool { true }

  /// Decodes a row that may be damaged; `nil` if no known version of Tally writes such a row.
  init?(checking keyBytes: RawSpan, _ value: RawSpan) {
    guard let key = PrimaryKey(canonically: keyBytes) else { return nil }
    try? self.init(key: key, decoding: value)
    guard isPlausible else { return nil }
  }

  /// Calls a closure with every row of the table; throws if one cannot be read.
  static func forEach<T: LMDBTransaction & ~Copyable>(
    of tables: Tables, in transaction: borrowing T, _ body: (Self) throws -> Void
  ) throws {
    try table(in: tables).forEach(in: transaction) { key, value in
      try body(Self(key: PrimaryKey(decoding: key), decoding: value))
      return true
    }
  }

  /// Looks up the row of a key.
  static func look<T: LMDBTransaction & ~Copyable>(
    for key: PrimaryKey, in tables: Tables, _ transaction: borrowing T
  ) throws(LMDBError) -> Readable<Self> {
    guard let bytes = try table(in: tables).bytes(forKey: key, in: transaction) else { return .missing }
    guard let record = try? Self(key: key, decoding: bytes) else { return .unreadable }
    return .readable(record)
  }
}

/// The common part of tasks and lists.
protocol StoredObject: Sendable {
  var id: UUID { get }
  var sortOrder: Int64 { get set }
  var updatedAt: Timestamp { get set }

  /// The object as somebody in a time zone sees it.
  func shown(in zone: TimeZone) -> Self
  /// Whether two values are equal byte for byte: `==` also accepts texts that Unicode considers equivalent.
  func isIdentical(to other: Self) -> Bool
  /// The parts that differ, byte for byte, between two states of the object.
  static func differences(_ old: Self, _ new: Self) -> SyncFields
  /// The parts of a restored object that differ from its kept record only because the object is shown elsewhere.
  static func places(_ kept: Self, shownAs item: Self) -> SyncFields
  /// The parts that have a value other than the default of a new object.
  var filledFields: SyncFields { get }
}

/// A task or list as stored.
protocol ObjectRecord: IndexedRecord, BinaryCodable where PrimaryKey == IDKey, Value == Self {
  associatedtype Item: StoredObject

  static var kind: ObjectKind { get }
  var item: Item { get }
  var stamp: ChangeStamp { get }
  /// The fields that only a newer version knows.
  var unknown: UnknownFields { get }
  /// The features that a store has from the first record with such contents.
  var requiredFeatures: StoreFeatures { get }

  init(item: Item, stamp: ChangeStamp, unknown: UnknownFields)
  init(id: UUID, decoding bytes: RawSpan) throws(LMDBError)
}

extension ObjectRecord {
  var key: IDKey { IDKey(item.id) }
  var requiredFeatures: StoreFeatures { [] }

  init(key: IDKey, decoding bytes: RawSpan) throws(LMDBError) {
    try self.init(id: key.id, decoding: bytes)
  }

  /// Decodes a whole record; the identifier is in the key, so the caller must set it.
  init(decoding bytes: RawSpan) throws(LMDBError) {
    try self.init(id: .lowest, decoding: bytes)
  }

  /// Whether another record has the same contents, byte for byte, except for the stamp.
  func hasSameContents(as other: Self) -> Bool {
    item.isIdentical(to: other.item) && unknown == other.unknown
  }
}

extension TaskItem: StoredObject {}

extension TaskList: StoredObject {}

/// An entry of the ledger of completions.
struct LedgerEntry: IndexedRecord {
  let key: CompletionKey
  let record: CompletionRecord

  static let tableName = TableName.completions
  static func table(in tables: Tables) -> Database<CompletionKey, CompletionRecord> { tables.completions }
  static func indexes(in tables: Tables) -> [IndexHandle<LedgerEntry>] { tables.ledgerIndexes }
}

extension LedgerEntry {
  init(key: CompletionKey, decoding bytes: RawSpan) throws(LMDBError) {
    self.init(key: key, record: try CompletionRecord(decoding: bytes))
  }

  /// Whether the instants are valid: counting cannot handle others.
  var isPlausible: Bool {
    guard let completed = try? Timestamp(microsecondsSince1970: key.completed.microseconds) else { return false }
    return (try? Timestamp(microsecondsSince1970: record.createdAtMicroseconds)) != nil
      && (try? OffsetTimestamp(completed, utcOffsetInMinutes: Int(record.utcOffsetInMinutes))) != nil
  }
}

/// A deleted task or list.
struct Tombstone: IndexedRecord {
  let key: TombstoneKey
  let record: TombstoneRecord

  static let tableName = TableName.tombstones
  static func table(in tables: Tables) -> Database<TombstoneKey, TombstoneRecord> { tables.tombstones }
  static func indexes(in tables: Tables) -> [IndexHandle<Tombstone>] { tables.tombstoneIndexes }
}

extension Tombstone {
  init(key: TombstoneKey, decoding bytes: RawSpan) throws(LMDBError) {
    self.init(key: key, record: try TombstoneRecord(decoding: bytes))
  }

  var isPlausible: Bool { ObjectKind(rawValue: key.kindRawValue) != nil }
}

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
