import Foundation
import Tally

// One device may change or end a series while another closes a task of it, which makes the next task from the former
// values. After such a merge, the open task follows the series as far as no person has written to it.

extension StoreWriteTransaction {
  /// Brings the open tasks of series that others have changed in line with their series.
  ///
  /// These writes are sent like local changes, but undo skips them, and they lose to what a person writes.
  mutating func completeSeries() throws {
    guard try hasSyncValues(withPrefix: SyncKey.touchedSeries) else { return }
    // Merges the local changes first: what a person has written on this device counts.
    _ = try merging { _, _, _ in }
    let touched = try syncValues(under: SyncKey.touchedSeries).compactMap { UUID(bytes: $0.key) }
    var changes: [ObjectChange] = []
    _ = try merging { merge, settings, transaction in
      for id in touched {
        guard let change = try SeriesMerge(of: id, by: settings.replicaID, merge, in: transaction)?.change else {
          continue
        }
        let known = try merge.join(change.state, to: change.object, in: transaction)
        changes.append(ObjectChange(of: change.object, to: change.state, replacing: known))
      }
    }
    for id in touched { try setSyncValue(nil, forKey: SyncKey.touchedSeries + ReplicaID(id).bytes) }
    var settings = try requireSyncSettings()
    try Outbox.seal(changes, &settings, in: &self)
    try setSyncSettings(settings)
  }
}

/// What the last task of a series needs after a merge.
private struct SeriesMerge {
  /// The change of one object; `nil` if nothing is to be done.
  private(set) var change: (object: ObjectKey, state: ObjectState)?

  private let last: TaskItem
  private let object: ObjectKey
  private let known: ObjectState
  private let replica: ReplicaID
  private let time: Int64

  /// Looks at a series; `nil` if it has no task.
  init?(
    of id: UUID, by replica: ReplicaID, _ merge: StateMerge, in transaction: borrowing StoreWriteTransaction
  ) throws {
    guard let (last, previous) = try transaction.lastTasks(ofSeries: id) else { return nil }
    (self.last, self.replica, object) = (last, replica, ObjectKey(isList: false, id: last.id))
    known = try merge.state(of: object, in: transaction)
    time = GeneratedTime.time(at: transaction.now.microsecondsSince1970)
    if last.isClosed {
      change = try successor(merge, in: transaction)
    } else if isUntouched, try transaction.subtaskIDs(of: last.id).isEmpty,
      try isSuperfluous(after: previous, merge, in: transaction)
    {
      change = (object, known.generatingLife(toDeleted: true, at: time, by: replica))
    } else if let series = try transaction.storedSeries(id) {
      change = try aligned(with: series, after: previous, in: transaction)
    }
  }

  /// Whether only programs have written to the task.
  private var isUntouched: Bool {
    known.registers.allSatisfy { $0.key == .changed || GeneratedTime.contains($0.value.time) }
      && known.sets.allSatisfy { $0.value.allSatisfy { $0.value.latestTime.map(GeneratedTime.contains) ?? true } }
  }

  /// Whether the open task should not be there: its series has ended, or the task before it is open again.
  private func isSuperfluous(
    after previous: TaskItem?, _ merge: StateMerge, in transaction: borrowing StoreWriteTransaction
  ) throws -> Bool {
    guard let id = last.series?.id else { return false }
    if let previous, previous.isOpen || previous.recurrence == nil { return true }
    return try merge.state(of: ObjectKey(ofSeries: id), in: transaction).isDeleted
  }

  /// The task after the last one, if a device has closed that one which could not read its rule.
  private func successor(
    _ merge: StateMerge, in transaction: borrowing StoreWriteTransaction
  ) throws -> (ObjectKey, ObjectState)? {
    guard let recurrence = last.recurrence, !recurrence.isOfFirstVersion, let series = try transaction.series(of: last),
      let place = try transaction.placeOfSuccessor(of: last)
    else { return nil }
    let object = ObjectKey(isList: false, id: place.taskID)
    guard try merge.state(of: object, in: transaction).isEmpty else { return nil }
    var task = series.task(at: place, in: transaction.calendar.timeZone, createdAt: transaction.now)
    (task.parentID, task.sortOrder) = (last.parentID, last.sortOrder)
    return (object, change(of: task, in: task.createdParts, ObjectState()))
  }

  /// The open task with the values of its series, where programs have written others.
  private func aligned(
    with series: TaskSeries, after previous: TaskItem?, in transaction: borrowing StoreWriteTransaction
  ) throws -> (ObjectKey, ObjectState)? {
    guard var place = last.series else { return nil }
    let hasOtherRule = last.recurrence != series.recurrence
    // A person gave this task another rule, by which each device could find another day.
    guard !hasOtherRule || isGenerated(.recurrence) && isGenerated(.rule) else { return nil }
    if hasOtherRule, let previous, let next = try transaction.placeOfSuccessor(of: previous) { place = next }
    let expected = series.task(at: place, in: transaction.calendar.timeZone, createdAt: last.createdAt)
    var parts = TaskItem.differences(last, expected).intersection(TaskSeries.commonParts.union(.floating))
    if !hasOtherRule {
      parts.subtract([.recurrence, .rule])
      // Another device has made the task by the former rule, which older devices would go on with.
      let isShown = known.registers[.recurrence].map { !$0.value.isEmpty } ?? false
      if isShown, !series.recurrence.isOfFirstVersion { parts.formUnion([.recurrence, .rule]) }
    }
    // The instant of a wall-clock time depends on the zone of the device that made the task.
    if TaskField.all.allSatisfy({ $0.part != .floating || last[$0] == expected[$0] }) { parts.remove(.floating) }
    if last.parentID != nil { parts.remove(.list) }
    parts = parts.parts.filter { isGenerated($0) }.reduce(into: []) { $0.formUnion($1) }
    // An instant without its wall-clock time would be wrong in other zones, where each device would write its own.
    if series.timeZoneIdentifier == nil, !isGenerated(.floating) { parts.subtract(expected.partsWithInstants) }
    var task = last
    for field in TaskField.all where field.part.map(parts.contains) ?? false { task[field] = expected[field] }
    parts.subtract(knownParts(of: task))
    guard !parts.isEmpty else { return nil }
    return (object, change(of: task, in: parts, known))
  }

  /// The parts of which others know the values of a task already.
  ///
  /// What is shown can still differ: a list may have been deleted, and a wall-clock time may lack the instant for which it
  /// stands. Each exchange would write such a part once more.
  private func knownParts(of task: TaskItem) -> SyncFields {
    let task = task.stored
    return TaskItem.fields.reduce(into: []) { parts, field in
      // The registers of a recurrence are written together.
      guard field != .recurrence, field != .rule, known.registers[field]?.value ?? [] == task.value(of: field) else {
        return
      }
      parts.insert(SyncFields(rawValue: 1 << UInt32(field.number)))
    }
  }

  /// Whether no person has written to a part of the task; a removed element does not say who has removed it.
  private func isGenerated(_ part: SyncFields) -> Bool {
    if let field = [SyncFields.tags: ObjectState.Field.tags, .reminders: .reminders][part] {
      return (known.sets[field] ?? [:]).allSatisfy {
        $0.value.removals.isEmpty && $0.value.latestTime.map(GeneratedTime.contains) ?? true
      }
    }
    return known.registers.allSatisfy { field, register in
      SyncFields(rawValue: 1 << UInt32(field.number)) != part || GeneratedTime.contains(register.time)
    }
  }

  private func change(of task: TaskItem, in parts: SyncFields, _ known: ObjectState) -> ObjectState {
    // The two registers of a recurrence are written at one time, which is later than both.
    let written = [ObjectState.Field.recurrence, .rule].compactMap { known.registers[$0]?.time }
      .filter(GeneratedTime.contains)
    let time = max(self.time, ObjectState.time(after: written.max()))
    let times = Dictionary(uniqueKeysWithValues: parts.parts.map { ($0, time) })
    return LocalChange(
      pending: PendingObject(kind: .task, id: task.id, times: times), known: known, replica: replica
    ).change(of: task.stored, isDeleted: false, completions: known.storedCompletions)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The last task of a series and the one before it; `nil` if the series has no task.
  ///
  /// Tasks in between may have been deleted, so the search goes on for some places after a missing one.
  fileprivate func lastTasks(ofSeries id: UUID) throws -> (last: TaskItem, previous: TaskItem?)? {
    var (index, end, found) = (0, Self.longestGap, [TaskItem]())
    while index < end {
      if let task = try task(RecurrenceSeries(id: id, start: .earliest, occurrence: .earliest, index: index).taskID) {
        found = found.suffix(1) + [task]
        end = index + Self.longestGap
      }
      index += 1
    }
    return found.last.map { ($0, found.count > 1 ? found[0] : nil) }
  }

  private static var longestGap: Int { 100 }
}

extension TaskItem {
  /// The parts whose values are instants.
  fileprivate var partsWithInstants: SyncFields {
    var parts: SyncFields = []
    if dueDate != nil { parts.insert(.due) }
    if reminderDate != nil { parts.insert(.reminder) }
    if otherReminders.contains(where: { $0.instant != nil }) { parts.insert(.reminders) }
    return parts
  }
}

extension SyncFields {
  /// Each part.
  fileprivate var parts: [SyncFields] { (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(contains) }
}
