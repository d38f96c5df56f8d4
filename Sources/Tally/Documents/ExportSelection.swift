internal import Foundation
internal import LMDB

/// The tasks of an export that a filter selects, with what they need: their ancestors and lists.
///
/// Ids alone are kept: 16 bytes and their hashing for each.
struct ExportSelection {
  private(set) var taskIDs: Set<UUID> = []
  private(set) var listIDs: Set<UUID> = []

  init(_ filter: TaskFilter, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>) throws {
    var work = QueryWork()
    var found: [UUID] = []
    _ = try transaction.scan(try transaction.resolved(filter, by: .created), after: nil, limit: nil, &work) { id in
      found.append(id)
      return true
    }
    for id in found { try add(id, in: transaction) }
  }

  /// Adds a task with its ancestors, which end where one has been added already.
  private mutating func add(
    _ id: UUID, in transaction: borrowing StoreTransaction<some LMDBTransaction & ~Copyable>
  ) throws {
    var next: UUID? = id
    while let id = next, taskIDs.insert(id).inserted {
      let parentage = try transaction.tables.parentage(of: id, in: transaction.base)
      if let listID = parentage?.listID { listIDs.insert(listID) }
      next = parentage?.parentID
    }
  }
}
