import Foundation
import Tally

/// The states of a store within one write: takes the local changes, joins those of others, and shows the result.
///
/// Local changes are taken before others are joined: a merge compares states with states, not with records.
struct StateMerge {
  private var table: StateTable
  /// The states of the touched objects, before and after.
  private(set) var before: [ObjectKey: ObjectState] = [:]
  private(set) var states: [ObjectKey: ObjectState] = [:]
  /// For the objects that changes of others were joined to, the states that their records have.
  private(set) var recorded: [ObjectKey: ObjectState] = [:]

  init(in transaction: borrowing StoreWriteTransaction) throws {
    table = try StateTable(in: transaction)
  }

  /// The sum of the hashes of all states that have been written.
  var hash: StateHash { table.hash }

  /// The state of an object as it is now.
  mutating func state(of object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws -> ObjectState {
    if let state = states[object] { return state }
    return try table.state(of: object, in: transaction)
  }

  /// Takes local changes that have been noted.
  ///
  /// - Parameters:
  ///   - limit: Of how many objects at most.
  ///   - replica: Who has made them.
  ///   - transaction: The write.
  /// - Returns: What other replicas have to know; empty if nothing was noted.
  /// - Throws: What the store throws.
  mutating func take(
    limit: Int, as replica: ReplicaID, in transaction: inout StoreWriteTransaction
  ) throws -> (changes: [ObjectChange], isEmpty: Bool) {
    let pending = try transaction.takePending(limit: limit)
    var changes: [ObjectChange] = []
    for pending in pending {
      let object = ObjectKey(isList: pending.isList, id: pending.id)
      let known = try state(of: object, in: transaction)
      let change = try transaction.change(LocalChange(pending: pending, known: known, replica: replica), of: object)
      guard change != ObjectState() else { continue }
      take(change, of: object, replacing: known)
      changes.append(ObjectChange(of: object, to: change, replacing: known))
    }
    return (changes, pending.isEmpty)
  }

  /// Takes a change that the records have already.
  mutating func take(_ change: ObjectState, of object: ObjectKey, replacing known: ObjectState) {
    set(known.joined(with: change), of: object, replacing: known)
  }

  /// Joins a change of another replica.
  ///
  /// - Returns: The state before it.
  @discardableResult
  mutating func join(
    _ change: ObjectState, to object: ObjectKey, in transaction: borrowing StoreWriteTransaction
  ) throws -> ObjectState {
    let known = try state(of: object, in: transaction)
    let joined = known.joined(with: change)
    if joined != known {
      if recorded[object] == nil { recorded[object] = known }
      set(joined, of: object, replacing: known)
    }
    return known
  }

  private mutating func set(_ state: ObjectState, of object: ObjectKey, replacing known: ObjectState) {
    if before[object] == nil { before[object] = known }
    states[object] = state
  }

  /// Writes the records of changed objects, those of tasks that are elsewhere by that, and all changed states.
  mutating func finish(in transaction: inout StoreWriteTransaction) throws {
    guard !states.isEmpty else { return }
    let surroundings = try Surroundings(of: self, in: transaction)
    try transaction.show(surroundings, after: self)
    try surroundings.keepDisplaced(in: &transaction)
    for (object, state) in states { try table.put(state, of: object, in: &transaction) }
    try table.putHash(in: &transaction)
    (before, states, recorded) = ([:], [:], [:])
  }

  /// A state that was not touched.
  func knownState(of object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws -> ObjectState {
    try states[object] ?? table.state(of: object, in: transaction)
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

  /// Whether the record of a task is where its state says, with the tags and attributes of the state.
  ///
  /// A local write may leave it otherwise: a link to a parent that was ignored because of a ring counts when another one of
  /// the ring is gone, and tags that had no room come back when others go.
  private func isShown(_ item: TaskItem?, _ id: UUID) throws -> Bool {
    guard let item, let record = try task(id) else { return try item == nil && task(id) == nil }
    return item.listID == record.listID && item.parentID == record.parentID && item.tags == record.tags
      && item.attributes == record.attributes
  }

  /// Writes the objects whose states have changed, and tasks that are elsewhere than the states say.
  fileprivate mutating func show(_ surroundings: Surroundings, after merge: StateMerge) throws {
    var tasks: [MergedTask] = []
    for (id, state) in surroundings.tasks {
      let (object, place) = (ObjectKey(isList: false, id: id), surroundings.outline.places[id])
      let item = try state.task(id, at: place ?? Outline.Place())
      guard try merge.recorded[object] != nil || !isShown(item, id) else { continue }
      let old = merge.recorded[object] ?? state
      tasks.append(
        MergedTask(
          id: id, item: item, completion: state.storedCompletion, previousCompletion: old.storedCompletion))
    }
    var lists: [UUID: TaskList?] = [:]
    for (object, state) in merge.states where object.isList && merge.recorded[object] != nil {
      lists.updateValue(try state.list(object.id), forKey: object.id)
    }
    let counted = try tasks.compactMap { try $0.completion?.listID() }
    var names: [UUID: String] = [:]
    for id in Set(counted).union(lists.keys) {
      let state = try merge.knownState(of: ObjectKey(isList: true, id: id), in: self)
      guard state.isDeleted, let name = state.registers[.title]?.value else { continue }
      names[id] = String(decoding: name, as: UTF8.self)
    }
    try self.merge(tasks, lists: lists, deletedListNames: names)
  }
}
