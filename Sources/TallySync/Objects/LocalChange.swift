import Foundation
import Tally

/// The changes of an object by local writes since the last ones were sealed: a state to join with the others.
struct LocalChange {
  let pending: PendingObject
  /// The state that is known so far.
  let known: ObjectState
  let replica: ReplicaID

  /// The change of a task.
  ///
  /// - Parameters:
  ///   - task: The task; of a deleted one, its last state.
  ///   - isDeleted: Whether it has been deleted.
  ///   - completions: Its completions in the ledger.
  /// - Returns: The change, to be joined with the known state.
  func change(of task: TaskItem, isDeleted: Bool, completions: StoredCompletions) -> ObjectState {
    var change = registers(of: task, and: attributes(of: task))
    if has(.tags) || isNew { change.join(tags(of: task)) }
    if has(.dependencies) || isNew { change.join(dependencies(of: task)) }
    if has(.reminders) || isNew { change.join(reminders(of: task)) }
    for field in [ObjectState.Field.progress, .cancellation] { change.join(reopening(task, field)) }
    // A deletion preserves the completion of a task, but undoing an import deletes the task with its completion.
    if mayDetach || isNew { change.join(completion(completions.current)) }
    change.join(self.change(of: completions.detached))
    change.join(timeOfChange(task.updatedAt, isDeleted: isDeleted, isOnlyChange: change.isEmpty))
    // If a task was created and deleted since the last exchange, others need only know that it is gone, because a copy of
    // this store may have it. Another device may have generated the same task: removing a generated task by program sends
    // nothing, and what a person wrote to it is sent.
    if isNew, isDeleted, completions.all.isEmpty {
      if GeneratedTime.contains(time(of: .life)) { return ObjectState() }
      if !GeneratedTime.contains(time(of: .created)) { change = ObjectState() }
    }
    change.join(life(isDeleted: isDeleted, after: change))
    return change
  }

  /// The change of a list.
  ///
  /// - Parameters:
  ///   - list: The list; of a deleted one, its last state: completions may count for it.
  ///   - isDeleted: Whether it has been deleted.
  /// - Returns: The change, to be joined with the known state.
  func change(of list: TaskList, isDeleted: Bool) -> ObjectState {
    var change = registers(of: list, and: [])
    change.join(timeOfChange(list.updatedAt, isDeleted: isDeleted, isOnlyChange: change.isEmpty))
    return change.joined(with: life(isDeleted: isDeleted, after: change))
  }

  /// The change of a series.
  ///
  /// - Parameter series: The series; `nil` if it has ended.
  /// - Returns: The change, to be joined with the known state.
  func change(of series: TaskSeries?) -> ObjectState {
    guard let series else { return life(isDeleted: true, after: ObjectState()) }
    if describesAgain {
      var times = pending.times.filter { !GeneratedTime.contains($0.value) }
      if known.isDeleted { times[.life] = pending.times[.life] }
      guard !times.isEmpty else { return ObjectState() }
      let pending = PendingObject(kind: pending.kind, id: pending.id, times: times)
      return LocalChange(pending: pending, known: known, replica: replica).change(of: series)
    }
    var change = registers(of: series, and: attributes(of: series.template))
    if has(.tags) || isNew { change.join(tags(of: series.template)) }
    if has(.reminders) || isNew { change.join(reminders(of: series.template)) }
    if has(.skippedDays) || isNew {
      let days = Set(series.skippedDays.map { FieldValue.day($0).storedBytes })
      change.join(replacing(known.elements(of: .skippedDays), with: days, in: .skippedDays, at: .skippedDays))
    }
    change.join(timeOfChange(series.updatedAt, isDeleted: false, isOnlyChange: change.isEmpty))
    return change.joined(with: life(isDeleted: false, after: change))
  }

  /// Whether a program has described a series that others have described before.
  ///
  /// The series stays as it is, but for what a person has written.
  var describesAgain: Bool { !isNew && pending.times[.created].map(GeneratedTime.contains) ?? false }

  /// A reopened task is in progress or cancelled as the record says, whatever it was when another device closed it.
  private func reopening(_ task: TaskItem, _ field: ObjectState.Field) -> ObjectState {
    let value = task.value(of: field)
    let part: SyncFields = has(.completion) ? .completion : .cancellation
    guard has(part), !task.isCompleted, value != known.registers[field]?.value ?? [] else { return ObjectState() }
    return writing(field, value, at: time(of: part))
  }

  /// The change of a task of which only completions are left.
  func change(of completions: StoredCompletions) -> ObjectState {
    guard mayDetach else { return ObjectState() }
    return completion(completions.current).joined(with: change(of: completions.detached))
  }

  /// The change of the completions that count besides that of the task.
  private func change(of detached: [StoredCompletion]) -> ObjectState {
    guard mayDetach else { return ObjectState() }
    return replacing(known.elements(of: .detached), with: Set(detached.map(\.bytes)), in: .detached, at: .completion)
  }

  /// Replaces the elements of a set; the additions have the time of a part.
  private func replacing(
    _ old: Set<[UInt8]>, with new: Set<[UInt8]>, in field: ObjectState.Field, at part: SyncFields
  ) -> ObjectState {
    var change = ObjectState()
    for element in new.subtracting(old) {
      change.join(known.adding(element, to: field, at: time(of: part), by: replica))
    }
    for element in old.subtracting(new) { change.join(known.removing(element, from: field)) }
    return change
  }

  /// Whether completions may have become those of a deleted task, or ceased to be.
  var mayDetach: Bool { has(.completion) || has(.life) }

  /// When the record was changed; neither a deletion nor making room between neighbours changes it.
  private func timeOfChange(_ time: Timestamp, isDeleted: Bool, isOnlyChange: Bool) -> ObjectState {
    let parts = pending.times.filter { $0.key != .renumbering }
    let value = FieldValue.instant(time).storedBytes
    guard !isDeleted, let latest = parts.values.max(), !isOnlyChange || known.registers[.changed]?.value != value else {
      return ObjectState()
    }
    return writing(.changed, value, at: latest)
  }

  /// Writes a field; any write of a person is later than a generated one.
  private func writing(_ field: ObjectState.Field, _ value: [UInt8], at time: Int64) -> ObjectState {
    GeneratedTime.contains(time)
      ? known.generating(field, to: value, at: time, by: replica)
      : known.setting(field, to: value, at: time, by: replica)
  }

  /// Whether others know nothing of the object, or only that it was deleted: it was created and deleted between two
  /// exchanges.
  private var isNew: Bool { known.registers.keys.allSatisfy { $0 == .life } }

  private func has(_ part: SyncFields) -> Bool { pending.times[part] != nil }

  /// When a part has changed; for a part without a time of its own, when the last part has.
  private func time(of part: SyncFields) -> Int64 {
    if let time = pending.times[part] { return time }
    let latest = pending.times.values.max() ?? 0
    // If the creation of a series' next task was undone and the task is then restored, its values are still the program's.
    return isNew && pending.id.isDerived && !GeneratedTime.contains(latest) ? GeneratedTime.time(at: latest) : latest
  }

  private func registers(of item: some SyncedItem, and others: [ObjectState.Field]) -> ObjectState {
    var change = ObjectState()
    for field in type(of: item).fields + others {
      let (value, part) = (item.value(of: field), SyncFields(rawValue: 1 << UInt32(field.number)))
      let old = known.registers[field]?.value ?? []
      // An object that is created again writes all its fields; one that comes back writes only those that differ from its
      // kept record. A task that leaves its parent stays in its list.
      let isCreated = isNew || has(.life) && has(.created)
      guard has(part) || value != old && (isCreated || field == .list && has(.parent)) else {
        if field == .order, has(.renumbering), let order = known.renumbering(to: value, by: replica) {
          change.join(order)
        }
        continue
      }
      // A series that a task describes has its empty values, too.
      let isWritten = isClearedByPerson(part) || isFormerRule(field) || has(part) && item is TaskSeries
      if value.isEmpty, known.registers[field] == nil, !isWritten { continue }
      change.join(writing(field, value, at: time(of: part)))
    }
    return change
  }

  /// Whether a person has emptied a part of a generated object, which another device may generate with a value.
  private func isClearedByPerson(_ part: SyncFields) -> Bool {
    GeneratedTime.contains(time(of: .created)) && pending.times[part].map { !GeneratedTime.contains($0) } ?? false
  }

  /// Whether a field is the register of rules that older versions read, and a rule that they cannot read is written.
  ///
  /// Another device may have set the register: in a known task, or in one that it has generated as well.
  private func isFormerRule(_ field: ObjectState.Field) -> Bool {
    field == .recurrence && has(.rule) && (!isNew || GeneratedTime.contains(time(of: .recurrence)))
  }

  private func attributes(of task: TaskItem) -> [ObjectState.Field] {
    guard has(.attributes) || isNew else { return [] }
    // Completions for which the record had no room still exist.
    let changed = known.shownAttributes.union(task.attributes.keys.map(ObjectState.Field.attribute))
    // The part is that of all attributes: one that has not changed is not written.
    return changed.filter { task.value(of: $0) != known.registers[$0]?.value ?? [] }
  }

  private func tags(of task: TaskItem) -> ObjectState {
    replacing(Set(known.shownTags), with: Set(task.tags.map { Array($0.utf8) }), in: .tags, at: .tags)
  }

  private func dependencies(of task: TaskItem) -> ObjectState {
    let (old, new) = (known.shownDependencies(of: task.id), task.dependsOn)
    guard old != new else { return ObjectState() }
    return replacing(
      Set(old.map { ReplicaID($0).bytes }), with: Set(new.map { ReplicaID($0).bytes }), in: .dependencies,
      at: .dependencies)
  }

  private func reminders(of task: TaskItem) -> ObjectState {
    // One that is now the first reminder leaves the set.
    let (old, new) = (known.shownReminders(besides: nil), task.otherReminders)
    guard old != new else { return ObjectState() }
    return replacing(
      Set(old.map(\.storedBytes)), with: Set(new.map(\.storedBytes)), in: .reminders, at: .reminders)
  }

  private func completion(_ completion: StoredCompletion?) -> ObjectState {
    guard let completion else { return known.completion == nil ? ObjectState() : known.reopening() }
    guard completion.bytes != known.completion else { return ObjectState() }
    return known.completing(with: completion.bytes, at: time(of: .completion), by: replica)
  }

  /// A deletion is later than everything that it deletes, the rest of this change included.
  private func life(isDeleted: Bool, after change: ObjectState) -> ObjectState {
    let after = known.joined(with: change)
    // A later edit elsewhere may have brought back an object that the register calls deleted, but nobody else knows a
    // new one.
    guard has(.life) || isNew && isDeleted && !change.isEmpty, isDeleted != after.isDeleted else {
      return ObjectState()
    }
    let time = time(of: .life)
    return GeneratedTime.contains(time)
      ? after.generatingLife(toDeleted: isDeleted, at: time, by: replica)
      : after.settingLife(toDeleted: isDeleted, at: time, by: replica)
  }
}

extension ObjectKey {
  /// An object with local changes.
  init(of object: PendingObject) {
    switch object.kind {
    case .task: self.init(kind: Self.taskKind, id: object.id)
    case .list: self.init(kind: Self.listKind, id: object.id)
    case .series: self.init(ofSeries: object.id)
    }
  }
}

extension ObjectChange {
  /// A local change, which replaces the known writes.
  init(of object: ObjectKey, to state: ObjectState, replacing known: ObjectState) {
    let replaced = state.registers.keys.compactMap { field in known.registers[field].map { (field, $0.stamp) } }
    self.init(object: object, state: state, replaced: Dictionary(uniqueKeysWithValues: replaced))
  }
}

/// An object that a write touches.
///
/// It is a class because the values of a snapshot are passed on several times. It never changes.
final class TouchedObject: Sendable {
  /// Its state in the store.
  let before: ObjectState
  /// Its state now.
  let state: ObjectState
  /// The state that its record has, if changes of others were joined to it.
  let recorded: ObjectState?
  /// The stored form of the state, if the whole state arrived and nothing was known of the object.
  let prepared: PreparedState?

  init(before: ObjectState, state: ObjectState, recorded: ObjectState? = nil, prepared: PreparedState? = nil) {
    (self.before, self.state, self.recorded, self.prepared) = (before, state, recorded, prepared)
  }

  /// Whether it is a task that is or was below another one.
  var isLinked: Bool { prepared?.isLinked ?? (before.reference(.parent) != nil || state.reference(.parent) != nil) }

  /// The list that a task names.
  var list: UUID? { if let item = prepared?.task?.item { item.listID } else { state.reference(.list) } }

  /// Whether it is shown.
  var isShown: Bool { prepared?.task != nil || state.isShown }
}

/// A write to one register of an object that has no record.
struct DeviceWrite {
  let object: ObjectKey
  let field: ObjectState.Field
  let value: [UInt8]
  /// Whether to write it even if the register already has the value.
  var isRepeated = false
}

/// The keys of the rows of synchronisation: the first byte of a key is the kind of the row.
///
/// The bytes are stored: do not change them.
enum SyncKey {
  /// The state of an object: its key.
  static let states: [UInt8] = [1]
  /// The id of a replica: the number that it has in states.
  static let replicas: [UInt8] = [2]
  /// A task that is elsewhere than its state says: the list or parent that it names, then the task.
  static let displaced: [UInt8] = [3]
  /// The settings of this replica.
  static let settings: [UInt8] = [4]
  /// How far the stream of a replica has been read: its id.
  static let streams: [UInt8] = [5]
  /// A sealed segment that was not acknowledged: its number.
  static let outbox: [UInt8] = [6]
  /// A conflict: its number.
  static let conflicts: [UInt8] = [7]
  /// The sum of the hashes of all states.
  static let stateHash: [UInt8] = [8]
  /// The newest card of a replica: its id.
  static let cards: [UInt8] = [9]
  /// A snapshot that was read: its author, number and digest.
  static let snapshots: [UInt8] = [10]
  /// An object with a value that is too large to be sent: its key.
  static let tooLarge: [UInt8] = [11]
  /// A series whose open task may have to follow it: its id.
  static let touchedSeries: [UInt8] = [22]
  /// The fields that records show: an earlier version carries on those that it does not know.
  static let shownFields: [UInt8] = [23]
  // 12, 14, 15, 18 to 21 and 40 are in SyncNotes: completions of deleted tasks, saved filters, when records of deleted
  // objects were stored, the last write that was handed over, filters that others have saved and that are deleted here,
  // writes to an object that has come back, the first change that waits, and merged lists.
  /// The last segment that was acknowledged at a time: the time.
  static let ages: [UInt8] = [13]
  /// The record of the newest epoch: its number and the hash of its key.
  static let epochs: [UInt8] = [16]
  /// Up to where the segments of a revoked replica count: its id.
  static let revocations: [UInt8] = [17]
}

extension StoreTransaction where Base: ~Copyable {
  /// The keys and values under a first byte, up to a number of them.
  func syncValues(under prefix: [UInt8], limit: Int = .max) throws -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    guard limit > 0 else { return [] }
    try forEachSyncValue(withPrefix: prefix) { key, value in
      found.append((Array(key.dropFirst(prefix.count)), value))
      return found.count < limit
    }
    return found
  }
}
