public import Foundation
public import Tally

/// A deleted task or list that can be restored.
public struct DeletedItem: Hashable, Sendable, Identifiable {
  /// The id that it had, and has again when it is restored.
  public let id: UUID
  /// Whether it is a list.
  public let isList: Bool
  /// The title of the task or the name of the list.
  public let name: String
  /// When it was deleted, here or elsewhere; `nil` if that is not known.
  public let deletedAt: Timestamp?
}

extension StoreSync {
  /// The tasks and lists deleted since the store joined its space, the newest first.
  ///
  /// - Returns: The deleted tasks and lists.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func trash() async throws -> [DeletedItem] {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      let table = try StateTable(in: transaction)
      let items = try transaction.deletedObjects().map { object in
        let (key, name) =
          switch object {
          case .task(let task): (ObjectKey(isList: false, id: task.id), task.title)
          case .list(let list): (ObjectKey(isList: true, id: list.id), list.name)
          }
        let time = try transaction.pendingTime(ofDeleting: key) ?? table.state(of: key, in: transaction).deletionTime
        return DeletedItem(
          id: key.id, isList: key.isList, name: name, deletedAt: time.map(Timestamp.init(clamping:)))
      }
      return items.sorted {
        ($0.deletedAt ?? .earliest, $0.id.uuidString) > ($1.deletedAt ?? .earliest, $1.id.uuidString)
      }
    }
  }

  /// Creates deleted tasks and lists again, with everything that they had, on every replica.
  ///
  /// - Parameter ids: Their ids.
  /// - Throws: `TallyError` with `notSynchronising`, or `taskNotFound` for an id that is not in the trash; nothing is
  ///   restored then.
  public func restore(_ ids: [UUID]) async throws {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      for id in ids {
        if try transaction.deletedList(id) != nil {
          try transaction.restoreDeletedList(id)
        } else {
          try transaction.restoreDeletedTask(id)
        }
      }
    }
  }
}

extension StoreWriteTransaction {
  /// When an object was deleted, if that was not taken yet.
  fileprivate func pendingTime(ofDeleting object: ObjectKey) throws -> Int64? {
    try pendingTime(of: .life, isList: object.isList, id: object.id)
  }
}

extension ObjectState {
  /// When it was deleted; `nil` if it is not.
  fileprivate var deletionTime: Int64? { isDeleted ? registers[.life]?.time : nil }
}
