import Foundation
import LMDB
import TallyEngine

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
