import Foundation
import Tally

/// The tasks whose places may depend on objects that have changed: those that have changed, those above and below them,
/// and those that wait for a list or a parent among them.
///
/// Places of other tasks cannot differ by it: rings and depth concern tasks that links connect.
struct Surroundings {
  /// A task, and where it is shown.
  struct PlacedTask {
    let id: UUID
    let object: TouchedObject
    /// `nil` if it is not shown.
    let place: Outline.Place?
    /// The list and the parent that it names, as far as it is not there.
    let awaited: [UUID]
  }

  /// Ascending by their ids, deleted ones included.
  private(set) var tasks: [PlacedTask] = []
  /// Whether any task of the store is elsewhere than its state says.
  private let hasDisplaced: Bool

  init(of merge: StateMerge, in transaction: borrowing StoreWriteTransaction) throws {
    hasDisplaced = try transaction.hasSyncValues(withPrefix: SyncKey.displaced)
    let connected = try connectedTasks(in: merge, transaction)
    var (lists, isShown): ([UUID: ObjectState], [UUID: Bool]) = ([:], [:])
    func note(_ list: UUID?) throws {
      guard let list, isShown[list] == nil else { return }
      let state = try merge.state(of: ObjectKey(isList: true, id: list), in: transaction)
      (lists[list], isShown[list]) = (state, state.isShown)
    }
    for state in connected.values { try note(state.reference(.list)) }
    let outline = Outline(tasks: connected, lists: lists) { $0.isShown }
    tasks = connected.map { id, state in
      let object = merge.touched[ObjectKey(isList: false, id: id)] ?? TouchedObject(before: state, state: state)
      return PlacedTask(id, object, at: outline.places[id])
    }
    tasks.reserveCapacity(tasks.count + merge.touched.count)
    // Most tasks have no links: they are in their list, if it is there.
    for (object, touched) in merge.touched where object.isTask && connected[object.id] == nil {
      guard touched.isShown else {
        if !touched.state.isEmpty { tasks.append(PlacedTask(object.id, touched, at: nil)) }
        continue
      }
      let named = touched.list
      try note(named)
      let list = named.flatMap { isShown[$0] == true ? $0 : nil }
      let awaited = named == list ? [] : [named].compactMap(\.self)
      tasks.append(PlacedTask(id: object.id, object: touched, place: Outline.Place(list: list), awaited: awaited))
    }
    tasks.sort { ReplicaID($0.id) < ReplicaID($1.id) }
  }

  /// The states of the tasks that links connect with changed ones, and of those that depend on changed lists.
  private func connectedTasks(
    in merge: StateMerge, _ transaction: borrowing StoreWriteTransaction
  ) throws -> [UUID: ObjectState] {
    var (connected, open): ([UUID: ObjectState], [UUID]) = ([:], [])
    let hasSubtasks = try transaction.hasSubtasks
    for (object, touched) in merge.touched {
      if object.isTask, try hasDisplaced || touched.isLinked || hasSubtasks && transaction.isParent(object.id) {
        open.append(object.id)
      } else if object.isList, touched.before.isShown != touched.state.isShown {
        open += try transaction.taskIDs(inList: object.id) + displaced(waitingFor: object.id, in: transaction)
      }
    }
    while let id = open.popLast() {
      guard connected[id] == nil else { continue }
      let state = try merge.state(of: ObjectKey(isList: false, id: id), in: transaction)
      guard !state.isEmpty else { continue }
      connected[id] = state
      if let parent = state.reference(.parent) { open.append(parent) }
      if hasSubtasks { open += try transaction.subtaskIDs(of: id) }
      open += try displaced(waitingFor: id, in: transaction)
    }
    return connected
  }

  /// Keeps which of the tasks are elsewhere than their states say, so that they are found when a list or parent comes.
  func keepDisplaced(in transaction: inout StoreWriteTransaction) throws {
    for task in tasks where hasDisplaced || !task.awaited.isEmpty {
      let names = [task.object.before, task.object.state].flatMap { [$0.reference(.list), $0.reference(.parent)] }
        .compactMap(\.self)
      for name in Set(names) {
        let key = SyncKey.displaced + ReplicaID(name).bytes + ReplicaID(task.id).bytes
        let isThere = try transaction.syncValue(forKey: key) != nil
        if isThere != task.awaited.contains(name) {
          try transaction.setSyncValue(isThere ? nil : [], forKey: key)
        }
      }
    }
  }

  /// The tasks that name a list or a parent and are not there.
  private func displaced(waitingFor id: UUID, in transaction: borrowing StoreWriteTransaction) throws -> [UUID] {
    guard hasDisplaced else { return [] }
    return try transaction.syncValues(under: SyncKey.displaced + ReplicaID(id).bytes).compactMap { UUID(bytes: $0.key) }
  }
}

extension Surroundings.PlacedTask {
  fileprivate init(_ id: UUID, _ object: TouchedObject, at place: Outline.Place?) {
    (self.id, self.object, self.place) = (id, object, place)
    guard let place else {
      awaited = []
      return
    }
    let state = object.state
    let parent = state.reference(.parent).flatMap { $0 == place.parent ? nil : $0 }
    // A sub-task is in the list of its parent, whatever list it names.
    let list = place.parent == nil ? state.reference(.list).flatMap { $0 == place.list ? nil : $0 } : nil
    awaited = [parent, list].compactMap(\.self)
  }
}
