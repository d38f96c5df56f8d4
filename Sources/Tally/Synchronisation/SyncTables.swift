import Foundation
import LMDB

/// The tables of a store that synchronises.
///
/// They are not among ``Tables``: other stores lack them. An object, so that a transaction, which each read creates,
/// stays small.
final class SyncTables: Sendable {
  static let names = ["pending", "trash", "sync"]

  /// The changes of each object that were not handed over yet, by its kind and id.
  let pending: Database<TombstoneKey, PendingRecord>
  /// The records of deleted objects.
  let trash: Database<TombstoneKey, [UInt8]>
  /// What synchronisation itself keeps.
  let values: Database<[UInt8], [UInt8]>

  /// Opens the tables.
  init(creating: Bool = false, in transaction: inout WriteTransaction) throws(LMDBError) {
    pending = try Database(opening: Self.names[0], creating: creating, in: &transaction)
    trash = try Database(opening: Self.names[1], creating: creating, in: &transaction)
    values = try Database(opening: Self.names[2], creating: creating, in: &transaction)
  }

  /// The record of a deleted object that is kept; `nil` if there is none.
  func keptRecord<Record: ObjectRecord>(
    _ type: Record.Type, _ id: UUID, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Record? {
    guard let bytes = try trash.value(forKey: TombstoneKey(Record.kind, id), in: transaction) else { return nil }
    // The array lives until the record is read.
    return try unsafe Record(id: id, decoding: bytes.span.bytes)
  }

  /// Whether a store whose header is lost has synchronised.
  static func areUsed(in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    guard let tables = try? SyncTables(in: &transaction) else { return false }
    return try tables.values.count(in: transaction) > 0
  }
}

extension TaskStore {
  /// The file in a store's directory that says as which replica it synchronises.
  package static let replicaFileName = "replica.id"
}
