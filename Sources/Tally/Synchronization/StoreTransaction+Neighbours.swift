package import Foundation
import LMDB

extension StoreWriteTransaction {
  /// Whether any task of the store is below another one.
  package var hasSubtasks: Bool {
    get throws { try tables.byParent.count(in: base) > 0 }
  }

  /// Whether a task has sub-tasks, by their records.
  package func isParent(_ id: UUID) throws -> Bool { try hasSubtasks(id) }

  /// The direct sub-tasks of a task, by their records; none for one that does not exist.
  package func subtaskIDs(of id: UUID) throws -> [UUID] {
    try tables.subtaskIDs(of: id, in: base)
  }

  /// The tasks in a list, by their records, in no particular order.
  package func taskIDs(inList id: UUID) throws -> [UUID] {
    var ids: [UUID] = []
    try tables.byPlace.forEach(
      from: PlaceKey(listID: id, rankRawValue: 0, order: .lowest),
      upTo: PlaceKey(listID: id, rankRawValue: StateRank.endRawValue, order: .lowest), in: base
    ) { key, _ in
      ids.append(try PlaceKey(decoding: key).id)
      return true
    }
    return ids
  }
}
