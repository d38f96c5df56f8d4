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
  /// When it was deleted, by the clock of the device that has deleted it.
  public let deletedAt: Timestamp?
  /// When this store has deleted it, or has learned that another one had; 30 days later it cannot be restored any more.
  public let noticedAt: Timestamp?
}

extension StoreSync {
  /// The tasks and lists deleted since the store joined its space, the newest first.
  ///
  /// - Returns: The deleted tasks and lists.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func trash() async throws -> [DeletedItem] {
    try store.readSynchronization { transaction in
      _ = try transaction.requireSyncSettings()
      let table = try StateTable(in: transaction)
      let items = try transaction.deletedObjects().map { object in
        let (key, name) =
          switch object {
          case .task(let task): (ObjectKey(isList: false, id: task.id), task.title)
          case .list(let list): (ObjectKey(isList: true, id: list.id), list.name)
          }
        let time = try transaction.pendingTime(ofDeleting: key) ?? table.state(of: key, in: transaction).deletionTime
        let noticed = try transaction.timeOfKeeping(isList: key.isList, id: key.id)
        return DeletedItem(
          id: key.id, isList: key.isList, name: name, deletedAt: time.map(Timestamp.init(clamping:)) ?? noticed,
          noticedAt: noticed)
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
      // Lists before their tasks, and parents before their sub-tasks.
      var open = try ids.filter { id in
        guard try transaction.deletedList(id) != nil else { return true }
        try transaction.restoreDeletedList(id)
        return false
      }
      while !open.isEmpty {
        let waiting = Set(open)
        let next = try open.filter { try transaction.deletedTask($0)?.parentID.map { !waiting.contains($0) } ?? true }
        // Parents in a ring cannot be; one of them goes first.
        for id in next.isEmpty ? [open[0]] : next { try transaction.restoreDeletedTask(id) }
        let done = Set(next.isEmpty ? [open[0]] : next)
        open.removeAll { done.contains($0) }
      }
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// When an object was deleted, if that was not taken yet.
  fileprivate func pendingTime(ofDeleting object: ObjectKey) throws -> Int64? {
    try pendingTime(of: .life, isList: object.isList, id: object.id).flatMap { GeneratedTime.contains($0) ? nil : $0 }
  }
}

extension ObjectState {
  /// When it was deleted; `nil` if it is not.
  fileprivate var deletionTime: Int64? {
    registers[.life].flatMap { isDeleted && !GeneratedTime.contains($0.time) ? $0.time : nil }
  }
}
