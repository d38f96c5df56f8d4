import Foundation
import LMDB
import TallyEngine
import TallySystem

/// The tables of a store that synchronises.
///
/// Other stores do not have them. It is a class so that a transaction, which every read creates, stays small.
final class SyncTables: Sendable {
  static let names = ["pending", "trash", "sync"]

  /// The changes of each object that have not been handed over yet, by the object's kind and id.
  let pending: Database<TombstoneKey, PendingRecord>
  /// The kept records of deleted objects.
  let trash: Database<TombstoneKey, [UInt8]>
  /// The data of synchronisation itself.
  let values: Database<[UInt8], [UInt8]>

  /// Opens the tables; the handles stay valid once the transaction is committed.
  init(creating: Bool = false, in transaction: inout WriteTransaction) throws(LMDBError) {
    pending = try Database(opening: Self.names[0], creating: creating, in: &transaction)
    trash = try Database(opening: Self.names[1], creating: creating, in: &transaction)
    values = try Database(opening: Self.names[2], creating: creating, in: &transaction)
  }

  /// The kept record of a deleted object; `nil` if there is none.
  func keptRecord<Record: ObjectRecord>(
    _ type: Record.Type, _ id: UUID, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Record? {
    guard let bytes = try trash.value(forKey: TombstoneKey(Record.kind, id), in: transaction) else { return nil }
    // The array outlives the decoding.
    return try unsafe Record(id: id, decoding: bytes.span.bytes)
  }

  /// Opens the tables of a store that has them.
  init(in environment: LMDBEnvironment) throws(LMDBError) {
    pending = try Database(opening: Self.names[0], in: environment)
    trash = try Database(opening: Self.names[1], in: environment)
    values = try Database(opening: Self.names[2], in: environment)
  }

  /// Whether a store whose header is lost was synchronising.
  static func areUsed(in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    guard let tables = try? SyncTables(in: &transaction) else { return false }
    return try tables.values.count(in: transaction) > 0
  }

  /// The tables of synchronisation of one open store.
  ///
  /// If the store has them, they are opened with the others. If synchronisation begins later, in this process or
  /// another one, the first transaction that needs them opens them and stores the handles here for later ones.
  final class Handles: Sendable {
    private let opened = Monitor<SyncTables?>(nil)

    /// The tables, if they are open.
    var current: SyncTables? { opened.withLock(\.self) }

    /// Stores the handles of tables that a committed transaction has opened.
    func keep(_ tables: SyncTables) { opened.withLock { $0 = tables } }

    /// Opens the tables unless they are open already.
    ///
    /// - Returns: the tables; `nil` if the store has none.
    func open(in environment: LMDBEnvironment) throws(LMDBError) -> SyncTables? {
      if let current { return current }
      do throws(LMDBError) {
        let tables = try SyncTables(in: environment)
        keep(tables)
        return tables
      } catch {
        guard error.code == .databaseNotFound else { throw error }
        return nil
      }
    }
  }
}
