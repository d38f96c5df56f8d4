import Foundation
import Tally

/// A store among others with the same tasks: its changes become states, and those of the others are merged.
struct Replica {
  /// A change of one object.
  struct Change: Hashable {
    let object: ObjectKey
    let state: ObjectState
  }

  let store: TaskStore
  let id: ReplicaID

  /// Begins to note changes; everything that the store has counts as a change.
  init(of store: TaskStore, as id: ReplicaID) throws {
    (self.store, self.id) = (store, id)
    try store.writeAndWait { transaction in
      try transaction.beginSynchronising()
      try transaction.noteEverything()
    }
  }

  /// Takes the local changes since the last time.
  func takeChanges() throws -> [Change] { try merge([]) }

  /// Merges changes of others, in any order and as often as they come.
  ///
  /// - Returns: The local changes, which are taken first: a merge compares states, not records.
  func merge(_ changes: [Change]) throws -> [Change] {
    try store.writeAndWait { transaction in
      var table = try StateTable(in: transaction)
      let own = try take(in: &transaction, with: &table)
      var states = try table.states(in: transaction)
      let before = states
      for change in changes {
        states[change.object, default: ObjectState()].join(change.state)
      }
      for (object, state) in states where state != before[object] {
        try table.put(state, of: object, in: &transaction)
      }
      try transaction.show(states, insteadOf: before)
      return own
    }
  }

  private func take(
    in transaction: inout StoreWriteTransaction, with table: inout StateTable
  ) throws -> [Change] {
    var changes: [Change] = []
    for pending in try transaction.takePending(limit: .max) {
      let object = ObjectKey(isList: pending.isList, id: pending.id)
      let known = try table.state(of: object, in: transaction)
      let local = LocalChange(pending: pending, known: known, replica: id)
      let change = try transaction.change(local, of: object)
      guard change != ObjectState() else { continue }
      try table.put(known.joined(with: change), of: object, in: &transaction)
      changes.append(Change(object: object, state: change))
    }
    return changes
  }
}

extension StoreWriteTransaction {
  fileprivate func change(_ local: LocalChange, of object: ObjectKey) throws -> ObjectState {
    if object.isList {
      let live = try list(object.id)
      return try (live ?? deletedList(object.id)).map { local.change(of: $0, isDeleted: live == nil) } ?? ObjectState()
    }
    let live = try task(object.id)
    guard let task = try live ?? deletedTask(object.id) else { return ObjectState() }
    return local.change(of: task, isDeleted: live == nil, completion: try storedCompletion(of: task))
  }

  /// Where the record of a task is; `nil` if it is not there.
  ///
  /// A local write may leave it elsewhere than the states say: a link to a parent that was ignored because of a ring counts
  /// when another one of the ring is gone.
  private func place(of id: UUID) throws -> Outline.Place? {
    try task(id).map { Outline.Place(list: $0.listID, parent: $0.parentID) }
  }

  /// Writes the objects whose states have changed, and tasks that are elsewhere than the states say.
  fileprivate mutating func show(
    _ states: [ObjectKey: ObjectState], insteadOf before: [ObjectKey: ObjectState]
  ) throws {
    let places = Outline(of: states).places
    var tasks: [MergedTask] = []
    var lists: [UUID: TaskList?] = [:]
    for (object, state) in states {
      let (place, old) = (places[object.id], before[object])
      if object.isList {
        if state != old { lists.updateValue(try state.list(object.id), forKey: object.id) }
      } else if try state != old || self.place(of: object.id) != place {
        let task = try state.task(object.id, at: place ?? Outline.Place())
        tasks.append(
          MergedTask(
            id: object.id, item: task, completion: state.storedCompletion, previousCompletion: old?.storedCompletion))
      }
    }
    let dead = states.filter { $0.key.isList && $0.value.isDeleted }
    let names = dead.compactMap { object, state in
      state.registers[.title].map { (object.id, String(decoding: $0.value, as: UTF8.self)) }
    }
    try merge(tasks, lists: lists, deletedListNames: Dictionary(uniqueKeysWithValues: names))
  }
}

extension Outline {
  /// The places of tasks among all objects.
  fileprivate init(of states: [ObjectKey: ObjectState]) {
    let split = { (isList: Bool) in
      Dictionary(
        uniqueKeysWithValues: states.filter { $0.key.isList == isList && $0.value.isShown }.map {
          ($0.key.id, $0.value)
        })
    }
    self.init(tasks: split(false), lists: split(true))
  }
}
