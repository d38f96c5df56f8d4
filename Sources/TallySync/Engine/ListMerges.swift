import Foundation
import Tally

// Two devices may merge lists without knowing of each other, or one may add a task to a list that another has merged. Merging
// deletes the list, so such a task would land in the inbox. Each merged list therefore has an object that names the list which
// took its tasks, and a replica that sees a task wait for a merged list moves the task there. If lists were merged into each
// other, all of them are deleted; then every replica brings back the same one: the list with the smallest id, the oldest.

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
      // The tasks of a list that comes back return to it by themselves.
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

  /// The change to write to one of these objects.
  func change(of object: ObjectKey, _ known: ObjectState, at time: Int64, by replica: ReplicaID) -> ObjectState {
    if object.isList { return known.settingLife(toDeleted: false, at: time, by: replica) }
    let list = object.isTask ? moves[object.id].map { ReplicaID($0).bytes } : nil
    return known.setting(object.isTask ? .list : .mergeTarget, to: list ?? [], at: time, by: replica)
  }

  /// The list that now holds the tasks of a merged list; `nil` if that list was deleted, too.
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
  /// Completes merges that several devices have made: moves tasks that wait for a merged list, and brings back one of the lists
  /// that were merged into each other.
  ///
  /// These writes are sent like local changes, but undo does not take them back. Replicas that make them at the same time write
  /// the same values.
  mutating func completeListMerges() throws {
    guard try !ListMerges(in: self).isEmpty else { return }
    // Merges the local changes first: a task that somebody has moved on this device no longer waits.
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
