import Foundation
import LMDB

/// The tables of a store that synchronises.
///
/// They are not among ``Tables``: other stores lack them.
struct SyncTables {
  static let names = ["pending", "trash", "sync"]

  /// By reference: every read of every store copies a transaction, and would copy the handles.
  private let databases: SyncDatabases
  /// The time of the write.
  let microseconds: Int64
  /// Whether the changes of this write are this replica's own, and not those of another one.
  var notesChanges = true

  /// The changes of each object that were not handed over yet, by its kind and id.
  var pending: Database<TombstoneKey, PendingRecord> { databases.pending }
  /// The records of deleted objects.
  var trash: Database<TombstoneKey, [UInt8]> { databases.trash }
  /// What synchronisation itself keeps.
  var values: Database<[UInt8], [UInt8]> { databases.values }

  /// Opens the tables.
  init(at time: Timestamp, creating: Bool = false, in transaction: inout WriteTransaction) throws(LMDBError) {
    databases = SyncDatabases(
      pending: try Database(opening: Self.names[0], creating: creating, in: &transaction),
      trash: try Database(opening: Self.names[1], creating: creating, in: &transaction),
      values: try Database(opening: Self.names[2], creating: creating, in: &transaction))
    microseconds = time.microsecondsSince1970
  }

  /// Whether a store whose header is lost has synchronised.
  static func areUsed(at time: Timestamp, in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    guard let tables = try? SyncTables(at: time, in: &transaction) else { return false }
    return try tables.values.count(in: transaction) > 0
  }
}

private final class SyncDatabases: Sendable {
  let pending: Database<TombstoneKey, PendingRecord>
  let trash: Database<TombstoneKey, [UInt8]>
  let values: Database<[UInt8], [UInt8]>

  init(
    pending: Database<TombstoneKey, PendingRecord>, trash: Database<TombstoneKey, [UInt8]>,
    values: Database<[UInt8], [UInt8]>
  ) {
    (self.pending, self.trash, self.values) = (pending, trash, values)
  }
}

extension TaskStore {
  /// The file in a store's directory that says as which replica it synchronises.
  package static let replicaFileName = "replica.id"
}

extension RecordChange where Record: ObjectRecord {
  /// The parts that other replicas have to know of.
  var changedFields: SyncFields {
    isRenumbering ? .renumbering : Record.Item.changes(from: old?.item, to: new?.item)
  }
}

/// Notes which parts of which objects the writes of this store change, for other replicas, and keeps what they delete.
extension SyncTables {
  /// Notes what one write of an object changes.
  func note<Record: ObjectRecord>(
    _ change: RecordChange<Record>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let id = (change.new ?? change.old)?.item.id else { return }
    let key = TombstoneKey(Record.kind, id)
    try note(change.changedFields, of: key, in: &transaction)
    if change.new == nil { try keep(change.old, in: &transaction) }
    if change.old == nil { try forget(key, in: &transaction) }
  }

  /// Forgets the record of a deleted object, which exists again.
  func forget(_ key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    _ = try trash.remove(forKey: key, in: &transaction)
    _ = try values.remove(forKey: Self.keepingKey(key), in: &transaction)
  }

  /// Keeps the record of an object that is deleted.
  func keep(_ record: (some ObjectRecord)?, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard let record else { return }
    let key = TombstoneKey(type(of: record).kind, record.item.id)
    try trash.put(record.encodedBytes, forKey: key, in: &transaction)
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try values.put(time.storedBytes, forKey: Self.keepingKey(key), in: &transaction)
  }

  /// The key of the row that says when the record of a deleted object was kept.
  static func keepingKey(_ key: TombstoneKey) -> [UInt8] { [15] + key.encodedBytes }

  /// Notes that the ledger has got or lost a completion of a deleted task.
  func note(detached completed: InstantKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note(.completion, of: TombstoneKey(.task, completed.id), in: &transaction)
    guard notesChanges else { return }
    try values.put([], forKey: Self.detachedKey(completed), in: &transaction)
  }

  /// The key of the row that notes a change of a completion of a deleted task.
  static func detachedKey(_ completed: InstantKey) -> [UInt8] {
    detachedPrefix(of: completed.id) + FieldValue.instant(Timestamp(clamping: completed.microseconds)).storedBytes
  }

  static func detachedPrefix(of task: UUID) -> [UInt8] { [detachedKind] + FieldValue.id(task).storedBytes }

  /// The first byte of these keys; TallySync gives the others.
  private static let detachedKind: UInt8 = 12

  /// Notes that a saved filter was saved or deleted.
  func note(_ value: ValueKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard notesChanges, value.namespace == SavedFilter.namespace else { return }
    let time = FieldValue.instant(Timestamp(clamping: microseconds))
    try values.put(time.storedBytes, forKey: Self.filterPrefix + value.bytes, in: &transaction)
  }

  /// The first byte of the keys that note saved filters; the key of the filter follows.
  static let filterPrefix: [UInt8] = [14]

  /// Notes that parts of an object have changed.
  func note(_ fields: SyncFields, of key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    try note([(key, fields)], in: &transaction)
  }

  /// Notes that parts of different objects have changed.
  func note(_ changes: [(TombstoneKey, SyncFields)], in transaction: inout WriteTransaction) throws(LMDBError) {
    guard notesChanges else { return }
    assert(Set(changes.map(\.0)).count == changes.count, "an object twice")
    let isEmpty = try pending.count(in: transaction) == 0
    var batch = EntryBatch<TombstoneKey, PendingRecord>()
    for (key, fields) in changes where !fields.isEmpty {
      var record = try isEmpty ? PendingRecord() : pending.value(forKey: key, in: transaction) ?? PendingRecord()
      record.add(fields, at: microseconds)
      try batch.add(record, forKey: key)
    }
    try pending.put(&batch, in: &transaction)
  }
}
