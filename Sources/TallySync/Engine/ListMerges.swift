import Foundation
import Tally

// Two devices merge lists without knowing of each other, or one puts a task into a list that another one has merged. The
// list is deleted then, and such tasks would be in the inbox. A merged list has a record that names the list which has taken
// its tasks; a replica that sees a task wait for a merged list moves it there. If lists were merged into each other, all of
// them are deleted: the one with the smallest id, the oldest, comes back for all.

/// What is left to do after lists were merged on several devices.
struct ListMerges {
  /// The lists that must come back.
  private(set) var revived: Set<UUID> = []
  /// The tasks that wait for a merged list, and the list into which each goes.
  private(set) var moves: [UUID: UUID] = [:]

  var isEmpty: Bool { revived.isEmpty && moves.isEmpty }

  init<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    let rows = try transaction.syncValues(under: SyncKey.states + [ObjectKey.listMergeKind])
    guard !rows.isEmpty else { return }
    let table = try StateTable(in: transaction)
    var targets: [UUID: UUID] = [:]
    for id in rows.compactMap({ UUID(bytes: $0.key) }) {
      let state = try table.state(of: ObjectKey(ofMergedList: id), in: transaction)
      targets[id] = state.registers[.mergeTarget].flatMap { UUID(bytes: $0.value) }
    }
    for id in targets.keys where try transaction.list(id) == nil {
      guard let target = try target(of: id, by: targets, in: transaction) else { continue }
      // Those of a list that comes back are in it again by that.
      guard target != id else { continue }
      for (key, _) in try transaction.syncValues(under: SyncKey.displaced + ReplicaID(id).bytes) {
        guard let task = try UUID(bytes: key).flatMap({ try transaction.task($0) }), task.listID == nil else {
          continue
        }
        moves[task.id] = target
      }
    }
  }

  /// The objects that must be written.
  var objects: [ObjectKey] {
    (revived.flatMap { [ObjectKey(isList: true, id: $0), ObjectKey(ofMergedList: $0)] }
      + moves.keys.map { ObjectKey(isList: false, id: $0) }).sorted()
  }

  /// What is written of one of them.
  func change(of object: ObjectKey, _ known: ObjectState, at time: Int64, by replica: ReplicaID) -> ObjectState {
    if object.isList { return known.settingLife(toDeleted: false, at: time, by: replica) }
    let list = object.isTask ? moves[object.id].map { ReplicaID($0).bytes } : nil
    return known.setting(object.isTask ? .list : .mergeTarget, to: list ?? [], at: time, by: replica)
  }

  /// The list that has the tasks of a deleted one now; `nil` if that was deleted, too.
  private mutating func target<Base: ~Copyable>(
    of id: UUID, by targets: [UUID: UUID], in transaction: borrowing StoreTransaction<Base>
  ) throws -> UUID? {
    var (path, next) = ([id], targets[id])
    while let list = next {
      if try transaction.list(list) != nil { return list }
      if let start = path.firstIndex(of: list) {
        let ring = try path[start...].filter { try transaction.deletedList($0) != nil }
        guard let first = ring.min(by: { ReplicaID($0) < ReplicaID($1) }) else { return nil }
        revived.insert(first)
        return first
      }
      path.append(list)
      next = targets[list]
    }
    return nil
  }
}

extension StoreWriteTransaction {
  /// Completes what several devices have merged: moves tasks that wait for a merged list, and brings back one of the lists
  /// that were merged into each other.
  ///
  /// What it writes is sent like local changes, and is not one that undo would take back. Replicas that do it at the same time
  /// write the same.
  mutating func completeListMerges() throws {
    guard try !ListMerges(in: self).isEmpty else { return }
    // Tasks that somebody has moved here meanwhile do not wait any more.
    _ = try merging { _, _, _ in }
    let merges = try ListMerges(in: self)
    guard !merges.isEmpty else { return }
    let time = now.microsecondsSince1970
    var changes: [ObjectChange] = []
    _ = try merging { merge, settings, transaction in
      for object in merges.objects {
        let known = try merge.state(of: object, in: transaction)
        let change = merges.change(of: object, known, at: time, by: settings.replicaID)
        try merge.join(change, to: object, in: transaction)
        changes.append(ObjectChange(of: object, to: change, replacing: known))
      }
    }
    var settings = try requireSyncSettings()
    try Outbox.put(changes, &settings, in: &self)
    try setSyncSettings(settings)
  }
}
