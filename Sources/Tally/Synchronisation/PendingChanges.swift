import LMDB

/// Notes which parts of which objects the writes of this store change, for other replicas; only while the store
/// synchronises.
///
/// The table is not one of ``Tables``: stores that do not synchronise lack it.
struct PendingChanges {
  static let tableName = "pending"

  /// By the kind and id of the object.
  let table: Database<TombstoneKey, PendingRecord>
  /// The time of the write.
  let microseconds: Int64

  /// Opens the table of a store that synchronises.
  init(at time: Timestamp, creating: Bool = false, in transaction: inout WriteTransaction) throws(LMDBError) {
    table = try Database(opening: Self.tableName, creating: creating, in: &transaction)
    microseconds = time.microsecondsSince1970
  }

  /// Notes what one write of an object changes.
  func note<Record: ObjectRecord>(
    _ change: RecordChange<Record>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let id = (change.new ?? change.old)?.item.id else { return }
    let fields = change.isRenumbering ? .renumbering : Record.Item.changes(from: change.old?.item, to: change.new?.item)
    try note(fields, of: TombstoneKey(Record.kind, id), in: &transaction)
  }

  /// Notes that parts of an object have changed.
  func note(_ fields: SyncFields, of key: TombstoneKey, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard !fields.isEmpty else { return }
    var record = try table.value(forKey: key, in: transaction) ?? PendingRecord()
    record.add(fields, at: microseconds)
    try table.put(record, forKey: key, in: &transaction)
  }
}
