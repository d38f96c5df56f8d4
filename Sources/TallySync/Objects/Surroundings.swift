import Foundation
import Tally

/// The tasks whose places may depend on objects that have changed: those above and below them, and those that wait for a
/// list or a parent among them.
///
/// Places of other tasks cannot differ by it: rings and depth concern tasks that links connect.
struct Surroundings {
  /// The states of the tasks, deleted ones included.
  private(set) var tasks: [UUID: ObjectState] = [:]
  private var lists: [UUID: ObjectState] = [:]
  /// Where the tasks are.
  private(set) var outline = Outline(tasks: [:], lists: [:])
  private let touched: [ObjectKey: StateMerge.Touched]
  /// Whether any task of the store is elsewhere than its state says.
  private let hasDisplaced: Bool

  init(of merge: StateMerge, in transaction: borrowing StoreWriteTransaction) throws {
    touched = merge.touched
    hasDisplaced = try transaction.hasSyncValues(withPrefix: SyncKey.displaced)
    var open: [UUID] = []
    for object in touched.keys {
      if object.isTask { open.append(object.id) }
      guard object.isList else { continue }
      open += try transaction.taskIDs(inList: object.id) + displaced(waitingFor: object.id, in: transaction)
    }
    while let id = open.popLast() {
      guard tasks[id] == nil else { continue }
      let object = ObjectKey(isList: false, id: id)
      let state = try merge.state(of: object, in: transaction)
      guard !state.isEmpty else { continue }
      tasks[id] = state
      if let parent = state.reference(.parent) { open.append(parent) }
      // No record can be below a task that is new here: tasks that name it have a row as displaced.
      let isNew = try touched[object]?.before.isEmpty ?? false && transaction.task(id) == nil
      if !isNew { open += try transaction.subtaskIDs(of: id) }
      open += try displaced(waitingFor: id, in: transaction)
    }
    for state in tasks.values {
      guard let list = state.reference(.list), lists[list] == nil else { continue }
      lists[list] = try merge.state(of: ObjectKey(isList: true, id: list), in: transaction)
    }
    outline = Outline(tasks: tasks, lists: lists) { $0.isShown }
  }

  /// Keeps which of the tasks are elsewhere than their states say, so that they are found when a list or parent comes.
  func keepDisplaced(in transaction: inout StoreWriteTransaction) throws {
    for (id, state) in tasks {
      let waited = awaited(by: id, state)
      guard hasDisplaced || !waited.isEmpty else { continue }
      let old = touched[ObjectKey(isList: false, id: id)]?.before ?? state
      let names = [old, state].flatMap { [$0.reference(.list), $0.reference(.parent)] }.compactMap(\.self)
      for name in Set(names) {
        let key = SyncKey.displaced + ReplicaID(name).bytes + ReplicaID(id).bytes
        let isThere = try transaction.syncValue(forKey: key) != nil
        if isThere != waited.contains(name) {
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

  /// The list and the parent that a task names, as far as it is not there.
  private func awaited(by id: UUID, _ state: ObjectState) -> Set<UUID> {
    guard let place = outline.places[id] else { return [] }
    let parent = state.reference(.parent).flatMap { $0 == place.parent ? nil : $0 }
    // A sub-task is in the list of its parent, whatever list it names.
    let list = place.parent == nil ? state.reference(.list).flatMap { $0 == place.list ? nil : $0 } : nil
    return Set([parent, list].compactMap(\.self))
  }
}
