import Foundation
import Tally

/// The states of a store within one write: applies local changes, joins those of others, and writes the records.
///
/// Local changes are applied before those of others are joined: a merge compares states with states, not with records.
struct StateMerge {
  private var table: StateTable

  private(set) var touched: [ObjectKey: TouchedObject] = [:]
  /// Objects whose deletion lost to an edit.
  ///
  /// Others may have forgotten their values, so replicas that have the values send them.
  private(set) var revived: [ObjectChange] = []
  /// Filters that others have saved and that were deleted later, by their keys.
  fileprivate private(set) var deletedFilters: [[UInt8]: [UInt8]] = [:]

  init(in transaction: borrowing StoreWriteTransaction) throws { table = try StateTable(in: transaction) }

  /// The state of an object as it is now.
  func state(of object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws -> ObjectState {
    try touched[object]?.state ?? table.state(of: object, in: transaction)
  }

  /// Applies local changes that wait to be sent.
  ///
  /// - Parameters:
  ///   - limit: The most objects whose changes are applied.
  ///   - replica: The replica that has made them.
  ///   - transaction: The write.
  /// - Returns: The changes to be sent to other replicas, and whether no change waited.
  /// - Throws: What the store throws.
  mutating func applyPending(
    limit: Int, as replica: ReplicaID, in transaction: inout StoreWriteTransaction
  ) throws -> (changes: [ObjectChange], isEmpty: Bool) {
    let pending = try transaction.takePending(limit: limit)
    var changes: [ObjectChange] = []
    for pending in pending {
      let object = ObjectKey(of: pending)
      let known = try state(of: object, in: transaction)
      let written = LocalChange(pending: pending, known: known, replica: replica)
      if object.isSeries, written.describesAgain { try showAgain(object, in: transaction) }
      let change = try transaction.change(written, of: object)
      guard !change.isEmpty else { continue }
      let local = apply(change, of: object, replacing: known)
      let joined = known.joined(with: change)
      // Others may have forgotten the values of an object that comes back.
      let isBack = known.isDeleted && !joined.isDeleted
      changes.append(isBack ? ObjectChange(object: object, state: joined, replaced: local.replaced) : local)
    }
    let filters = try applyFilters(as: replica, in: &transaction)
    let merges = try applyListMerges(as: replica, in: &transaction)
    return (changes + filters + merges, pending.isEmpty && filters.isEmpty && merges.isEmpty)
  }

  private mutating func applyListMerges(
    as replica: ReplicaID, in transaction: inout StoreWriteTransaction
  ) throws -> [ObjectChange] {
    try transaction.takePendingListMerges().compactMap { merge in
      let write = DeviceWrite(
        object: ObjectKey(ofMergedList: merge.list), field: .mergeTarget,
        value: merge.target.map { ReplicaID($0).bytes } ?? [])
      return try self.write(write, at: merge.microseconds, as: replica, in: transaction)
    }
  }

  /// Writes a register of an object that has no record.
  ///
  /// - Returns: The change; `nil` if the register has the value already.
  mutating func write(
    _ write: DeviceWrite, at time: Int64, as replica: ReplicaID, in transaction: borrowing StoreWriteTransaction
  ) throws -> ObjectChange? {
    let known = try state(of: write.object, in: transaction)
    guard write.isRepeated || known.registers[write.field]?.value ?? [] != write.value else { return nil }
    let change = known.setting(write.field, to: write.value, at: time, by: replica)
    return apply(change, of: write.object, replacing: known)
  }

  private mutating func applyFilters(
    as replica: ReplicaID, in transaction: inout StoreWriteTransaction
  ) throws -> [ObjectChange] {
    try transaction.takePendingFilters().map { filter in
      let object = ObjectKey(ofFilter: filter.key)
      let known = try state(of: object, in: transaction)
      var change = known.setting(.filter, to: filter.value ?? [], at: filter.microseconds, by: replica)
      if known.registers[.filterKey] == nil {
        change.join(known.setting(.filterKey, to: filter.key, at: filter.microseconds, by: replica))
      }
      return apply(change, of: object, replacing: known)
    }
  }

  /// Applies a change that the records have already.
  @discardableResult
  mutating func apply(_ change: ObjectState, of object: ObjectKey, replacing known: ObjectState) -> ObjectChange {
    let earlier = touched[object]
    touched[object] = TouchedObject(
      before: earlier?.before ?? known, state: known.joined(with: change), recorded: earlier?.recorded)
    return ObjectChange(of: object, to: change, replacing: known)
  }

  /// Makes room for a number of objects.
  mutating func reserveCapacity(_ count: Int) { touched.reserveCapacity(count) }

  /// Joins a change of another replica.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - object: The object.
  ///   - prepared: The state of an object of which nothing is known.
  ///   - transaction: The write.
  /// - Returns: The state before it.
  /// - Throws: ``CodingFault`` for a completion that no replica writes; what the store throws.
  @discardableResult
  mutating func join(
    _ change: ObjectState, to object: ObjectKey, prepared: PreparedState? = nil,
    in transaction: borrowing StoreWriteTransaction
  ) throws -> ObjectState {
    // A prepared task could be made of its completions.
    if object.isTask, prepared?.task == nil { try change.requireCompletions() }
    let earlier = touched[object]
    let known = try earlier?.state ?? table.state(of: object, in: transaction)
    let joined = known.joined(with: change)
    if object.isFilter { recordDeletedFilter(change, known) }
    if joined != known {
      if joined.survivesDeletion(known, or: change, at: transaction.now) {
        revived.append(ObjectChange(object: object, state: joined, replaced: [:]))
      }
      touched[object] = TouchedObject(
        before: earlier?.before ?? known, state: joined, recorded: earlier?.recorded ?? known,
        prepared: known.isEmpty ? prepared : nil)
    }
    return known
  }

  /// Lets the record of an object be written from its state once more.
  mutating func showAgain(_ object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws {
    let (earlier, state) = (touched[object], try state(of: object, in: transaction))
    touched[object] = TouchedObject(
      before: earlier?.before ?? state, state: state, recorded: earlier?.recorded ?? state)
  }

  /// Records the last version of a filter that was deleted, so that undoing the deletion restores it.
  private mutating func recordDeletedFilter(_ change: ObjectState, _ known: ObjectState) {
    guard let key = known.registers[.filterKey]?.value, let deletion = known.registers[.filter], deletion.value.isEmpty,
      let saved = change.registers[.filter], SavedFilter.isStored(saved.value, under: key), deletion.wins(over: saved)
    else { return }
    deletedFilters[key] = saved.value
  }

  /// The saved filters that changes of others have changed.
  fileprivate func changedFilters() throws(CodingFault) -> [[UInt8]: [UInt8]?] {
    var filters: [[UInt8]: [UInt8]?] = [:]
    for (object, touched) in touched where object.isFilter && touched.recorded != nil {
      guard let key = touched.state.registers[.filterKey]?.value else { continue }
      let value = touched.state.registers[.filter]?.value ?? []
      guard value.isEmpty || SavedFilter.isStored(value, under: key) else { throw .impossibleValue }
      filters.updateValue(value.isEmpty ? nil : value, forKey: key)
    }
    return filters
  }

  /// The series that changes of others have changed; `nil` for one that has ended.
  fileprivate func changedSeries() throws -> [UUID: TaskSeries?] {
    var series: [UUID: TaskSeries?] = [:]
    for (object, touched) in touched where object.isSeries && touched.recorded != nil {
      series.updateValue(try touched.state.series(object.id), forKey: object.id)
    }
    return series
  }

  /// The series that changes of others have changed, or whose tasks they have.
  private var touchedSeries: Set<UUID> {
    var series: Set<UUID> = []
    for (object, touched) in touched where touched.recorded != nil || touched.prepared != nil {
      if object.isSeries { series.insert(object.id) }
      if object.isTask, let id = touched.state.seriesID { series.insert(id) }
    }
    return series
  }

  /// Writes the records of changed objects, those of tasks that have moved because of them, and all changed states.
  ///
  /// - Parameters:
  ///   - transaction: The write.
  ///   - author: The replica whose changes were joined; `nil` if several were, or none.
  /// - Returns: The tasks that were deleted.
  /// - Throws: What the store throws.
  @discardableResult
  mutating func finish(in transaction: inout StoreWriteTransaction, of author: ReplicaID? = nil) throws -> [UUID] {
    guard !touched.isEmpty || !deletedFilters.isEmpty else { return [] }
    let surroundings = try ConnectedTasks(of: self, in: transaction)
    let deleted = try transaction.show(surroundings, after: self, of: author)
    try surroundings.writeDisplaced(in: &transaction)
    try transaction.recordTouched(touchedSeries)
    try table.write(touched, in: &transaction)
    (touched, revived, deletedFilters) = ([:], [], [:])
    return deleted
  }
}

extension StoreWriteTransaction {
  /// Records series whose tasks or whose own values others have changed, until ``completeSeries()``.
  fileprivate mutating func recordTouched(_ series: Set<UUID>) throws {
    for id in series { try setSyncValue([], forKey: SyncKey.touchedSeries + ReplicaID(id).bytes) }
  }

  fileprivate func change(_ local: LocalChange, of object: ObjectKey) throws -> ObjectState {
    if object.isSeries { return local.change(of: try storedSeries(object.id)) }
    if object.isList {
      let live = try list(object.id)
      return try (live ?? deletedList(object.id)).map { local.change(of: $0, isDeleted: live == nil) } ?? ObjectState()
    }
    let live = try storedTask(object.id)
    var completions = try completions(of: object.id, after: local)
    guard let task = try live ?? deletedTask(object.id) else {
      completions.detached.removeAll { $0 == completions.current }
      return local.change(of: completions)
    }
    completions.current = try storedCompletion(of: task) ?? (live == nil ? completions.current : nil)
    completions.detached.removeAll { live == nil && $0 == completions.current }
    return local.change(of: task, isDeleted: live == nil, completions: completions)
  }

  /// The completions of a deleted task in the ledger, as far as a local write may have changed them.
  ///
  /// - Returns: The current completion if the ledger has it as that of a deleted task, and all that it has so.
  private func completions(of task: UUID, after local: LocalChange) throws -> StoredCompletions {
    var found = StoredCompletions(current: nil)
    guard local.mayDetach else { return found }
    let known = local.known.storedCompletions
    let instants =
      try local.pending.detached + ([known.current].compactMap(\.self) + known.detached).map { try $0.instant() }
    found.detached = try Set(instants).sorted().compactMap { try detachedCompletion(of: task, at: $0) }
    if let current = known.current, found.detached.contains(current) { found.current = current }
    return found
  }

  /// Whether the record of a task has the place, the tags, the attributes, the dependencies and the reminders that its state gives.
  ///
  /// A local write may leave it otherwise: a link to a parent that was ignored because of a ring counts when another one of
  /// the ring is gone, and tags that had no room come back when others go.
  private func isShown(_ item: TaskItem?, _ id: UUID) throws -> Bool {
    guard let item, let record = try storedTask(id) else { return try item == nil && task(id) == nil }
    return item.listID == record.listID && item.parentID == record.parentID && item.tags == record.tags
      && item.attributes == record.attributes && item.dependsOn == record.dependsOn
      && item.otherReminders == record.otherReminders
  }

  /// Writes the objects whose states have changed, and the tasks whose shown place differs from their states.
  ///
  /// - Returns: The tasks that were deleted.
  fileprivate mutating func show(
    _ surroundings: ConnectedTasks, after merge: StateMerge, of author: ReplicaID?
  ) throws -> [UUID] {
    var (tasks, deleted, trash): ([MergedTask], [UUID], [DeletedObject]) = ([], [], [])
    tasks.reserveCapacity(surroundings.tasks.count)
    for placed in surroundings.tasks {
      if let ready = placed.object.prepared?.task, placed.place == Outline.Place(list: ready.item?.listID) {
        tasks.append(ready)
        continue
      }
      let (id, state, recorded) = (placed.id, placed.object.state, placed.object.recorded)
      // The record has changes that its state does not have yet.
      guard try recorded != nil || !isPending(isList: false, id: id) else { continue }
      let item = try state.task(id, at: placed.place ?? Outline.Place())
      guard try recorded != nil || !isShown(item, id) else { continue }
      let old = recorded ?? state
      if try item == nil && task(id) != nil { deleted.append(id) }
      tasks.append(
        MergedTask(id: id, item: item, completions: state.storedCompletions, replacing: old.storedCompletions))
      if let task = state.deletedTask(id) { trash.append(.task(task)) }
    }
    var lists: [UUID: TaskList?] = [:]
    for (object, touched) in merge.touched where object.isList && touched.recorded != nil {
      lists.updateValue(try touched.state.list(object.id), forKey: object.id)
      if let list = touched.state.deletedList(object.id) { trash.append(.list(list)) }
    }
    var (counted, names): (Set<UUID>, [UUID: String]) = (Set(lists.keys), [:])
    for task in tasks where !task.completions.isEmpty {
      for completion in task.completions.all { if let list = try completion.listID() { counted.insert(list) } }
    }
    for id in counted {
      let state = try merge.state(of: ObjectKey(isList: true, id: id), in: self)
      // An earlier version also forgot the name of a list that was deleted long ago; the store may still have it.
      guard state.isDeleted, let name = state.registers[.title]?.value, !name.isEmpty else { continue }
      names[id] = String(decoding: name, as: UTF8.self)
    }
    try self.merge(
      tasks, lists: lists, trash: trash, deletedListNames: names, series: merge.changedSeries(),
      filters: merge.changedFilters(),
      deletedFilters: merge.deletedFilters, of: author?.uuid)
    return deleted
  }
}
