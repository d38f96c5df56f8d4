public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a new task at the end of its place.
  ///
  /// ```swift
  /// let task = try store.writeAndWait { transaction in
  ///   try transaction.add("Renew the passport") { $0.dueDate = deadline }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - title: not blank.
  ///   - place: where the task is captured: the inbox, today, upcoming (tomorrow) or a list.
  ///   - id: of any UUID version; `nil` generates a UUIDv7.
  ///   - edit: sets further fields. If it completes the task without a completion time, the task gets one.
  /// - Returns: the task as stored.
  /// - Throws: `blankTitle`, `listNotFound`, `duplicateID` or `valueOutOfRange`, `invalidRecurrence` if a rule has
  ///   already ended or never gives a day, `inconsistentTask` if the closure replaces the task with another one, or what
  ///   the closure throws. On an error nothing is stored.
  @discardableResult
  public mutating func add(
    _ title: String, to place: CapturePlace = .inbox, id: UUID? = nil,
    _ edit: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    let id = id ?? ids.next(at: now)
    if try tables.tasks.contains(IDKey(id), in: base) { throw TallyError.duplicateID(id) }
    var task = TaskItem(id: id, title: title, createdAt: stamp)
    switch place {
    case .inbox: break
    case .today: task.scheduledDate = today
    case .upcoming: task.scheduledDate = try today.adding(days: 1)
    case .list(let id): task.listID = id
    }
    try edit(&task)
    guard task.id == id else { throw TallyError.foreignTask }
    normalizeCompletion(of: &task)
    try task.checkRecurrence(replacing: nil, today: today, in: calendar.timeZone)
    task.planFirstOccurrence(replacing: nil, today: today)
    task.updateSeries(replacing: nil, in: calendar)
    try adoptList(of: &task, replacing: nil)
    try check(task, replacing: nil)
    if task.sortOrder == 0 { task.sortOrder = try lastSortOrder(ofPlacesOf: task) }
    try keepSeries(of: task, replacing: nil)
    try letFloat(&task, replacing: nil)
    try write(RecordChange<TaskRecord>(from: nil, to: task, at: commitSequence))
    try followSeries(of: task, replacing: nil)
    return task
  }

  /// Changes a task.
  ///
  /// ```swift
  /// try store.writeAndWait { try $0.update(id) { $0.title = "Renew both passports" } }
  /// ```
  ///
  /// The time of change is set. A task that becomes completed without a completion time gets one, and a reopened one
  /// loses it; the same holds for a cancelled task. A task that moves to another list, or to another day while in no
  /// list, goes to the end of its new place. Sub-tasks follow a parent to another list, and the open ones are completed
  /// or cancelled with it. If the task gets another day, due day or due time, its reminder moves along, see
  /// ``ReminderMove``, unless the closure sets another reminder. A change that changes nothing writes nothing.
  ///
  /// Of a series, only this task changes, see ``updateSeries(of:keepingReminder:_:)``; another recurrence and an end of it
  /// concern the tasks that follow.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - keepsReminder: whether to keep the reminder that the closure leaves, even if it is the old one on the old day.
  ///   - change: changes the task.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`, `blankTitle`, `listNotFound`, `invalidParent`, `invalidDependency`, another error of
  ///   ``TaskItem/validate()``,
  ///   `invalidRecurrence` if a new rule has already ended, never gives a day, or is for a closed task whose series has an
  ///   open one, `inconsistentTask` if the closure replaces the task with another one, or what the closure throws. On an
  ///   error nothing is changed.
  @discardableResult
  public mutating func update(
    _ id: UUID, keepingReminder keepsReminder: Bool = false, _ change: (inout TaskItem) throws -> Void
  ) throws -> TaskItem {
    try update(id, closingSubtasks: true, keepingReminder: keepsReminder, change)
  }

  @discardableResult
  mutating func update(
    _ id: UUID, closingSubtasks: Bool, keepingReminder: Bool = false, inSeries isForSeries: Bool = false,
    _ change: (inout TaskItem) throws -> Void
  ) throws -> TaskItem {
    let record = try require(TaskRecord.self, id)
    let old = record.item.shown(in: calendar.timeZone)
    var (task, generatedFields) = try changed(old, keepingReminder: keepingReminder, change)
    let occurrence =
      isForSeries ? try occurrence(ofSeriesWith: old, as: task, keepingReminder: keepingReminder, change) : nil
    if let occurrence, occurrence.isMoved {
      (task.recurrence, task.series) = (occurrence.new.recurrence, occurrence.new.series)
    }
    try checkRuleOfClosed(task, replacing: old)
    if Place(of: task) != Place(of: old), task.sortOrder == old.sortOrder {
      task.sortOrder = try lastSortOrder(ofPlacesOf: task)
    }
    let isUnchanged = task.isIdentical(to: old)
    guard !isUnchanged || occurrence?.isChanged ?? false else { return task }
    if !isUnchanged { task.updatedAt = timeOfChange(after: old.updatedAt) }
    try check(task, replacing: old)
    try keepSeries(of: task, replacing: old, by: occurrence)
    try letFloat(&task, replacing: old)
    // The times of a task that a person has not changed may float again.
    if isUnchanged, task.isIdentical(to: old) { return task }
    var taskChange = RecordChange<TaskRecord>(from: record, to: task, at: commitSequence)
    taskChange.generatedFields = generatedFields
    try write(taskChange)
    try updateSubtasks(of: task, replacing: old, closing: closingSubtasks)
    try followSeries(of: task, replacing: old)
    return task
  }

  /// A task as a change leaves it, with what follows from the change, and the fields that the person has not written.
  func changed(
    _ old: TaskItem, keepingReminder: Bool, _ change: (inout TaskItem) throws -> Void
  ) throws -> (task: TaskItem, generatedFields: SyncFields) {
    var task = old
    try change(&task)
    guard task.id == old.id else { throw TallyError.foreignTask }
    if !keepingReminder, task.reminderDate == old.reminderDate, task.otherReminders == old.otherReminders {
      task.moveReminder(from: old, in: calendar.timeZone)
    }
    task.dropOverwrittenSnooze(replacing: old)
    normalizeCompletion(of: &task)
    try task.checkRecurrence(replacing: old, today: today, in: calendar.timeZone)
    let isPlanned = task.scheduledDate != nil
    task.planFirstOccurrence(replacing: old, today: today)
    task.updateSeries(replacing: old, in: calendar)
    try adoptList(of: &task, replacing: old)
    return (task, isPlanned || task.scheduledDate == nil ? [] : .scheduledDate)
  }

  /// Deletes a task with its sub-tasks; its list stays, and so do its completions in the statistics.
  ///
  /// The series of an open task ends; ``deleteOccurrence(_:)`` leaves out one task of it.
  ///
  /// - Returns: the deleted task.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func delete(_ id: UUID) throws -> TaskItem {
    try delete(id, endingSeries: true)
  }

  @discardableResult
  mutating func delete(_ id: UUID, endingSeries endsSeries: Bool) throws -> TaskItem {
    let old = try require(TaskRecord.self, id)
    for subtaskID in try tables.subtaskIDs(of: id, in: base) { try delete(subtaskID, endingSeries: true) }
    if endsSeries, old.item.isOpen, let place = old.item.series { try endSeries(place.id) }
    try write(RecordChange<TaskRecord>(from: old, to: nil, at: commitSequence))
    return old.item.shown(in: calendar.timeZone)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// The time of a change to something that has been changed before.
  ///
  /// It is never earlier than the last change, whatever the clock says, so that "changed since T" always finds it. It
  /// is later if the clock allows that, even if this needs a fraction of a second.
  func timeOfChange(after last: Timestamp) -> Timestamp {
    stamp > last ? stamp : max(now, last)
  }

  /// Writes one change of a task.
  mutating func write(_ taskChange: RecordChange<TaskRecord>) throws {
    try change { (writer, images, base) throws(LMDBError) in
      try writer.apply(taskChange, recording: &images, in: &base)
    }
  }

  /// Checks that a task to be stored obeys the model's rules, that its list and parent exist, and that it can be sent.
  func check(_ task: TaskItem, replacing old: TaskItem?) throws {
    try task.validate()
    try checkSendable(task, replacing: old)
    if let listID = task.listID { try checkList(listID) }
    try checkParent(of: task, replacing: old)
    try checkDependencies(of: task, replacing: old)
  }

  /// Checks that a list exists.
  func checkList(_ id: UUID) throws {
    guard try tables.lists.contains(IDKey(id), in: base) else { throw TallyError.listNotFound(id) }
  }

  /// Sets the time of completion or cancellation of a closed task if it is missing, and clears those of other states.
  private func normalizeCompletion(of task: inout TaskItem) {
    if !task.isCompleted { task.completedAt = nil }
    if !task.isCancelled { task.cancelledAt = nil }
    guard task.isClosed, task.closedAt == nil else { return }
    // A program that stores fractions may have created the task within this second; the time must not be earlier.
    let time = OffsetTimestamp(stamp >= task.createdAt ? stamp : now, in: calendar.timeZone)
    if task.isCompleted { task.completedAt = time } else { task.cancelledAt = time }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The sort order of a task that goes to the end of its places: its list or the inbox, and its day.
  func lastSortOrder(ofPlacesOf task: TaskItem) throws -> Int64 {
    var last: Int64?
    if task.listID != nil || task.scheduledDate == nil {
      last = try lastSortOrder(in: tables.byPlace, excluding: task.id) { _, bound in
        PlaceKey(listID: task.listID, rankRawValue: bound, order: .lowest)
      }
    }
    if let day = task.scheduledDate?.dayNumber {
      let inDay = try lastSortOrder(in: tables.byDay, excluding: task.id) { rank, bound in
        let isCompleted = rank == StateRank.completed.rawValue
        return DayKey(isCompleted: isCompleted, dayNumber: day, rankRawValue: bound, order: .lowest)
      }
      last = max(last, inDay)
    }
    // In the rare case that the last task is at the limit, both share it, and the time of creation orders them.
    return SortOrder.between(last, nil) ?? SortOrder.limit
  }

  /// The last sort order of all ranks, whose first and last possible keys a closure makes.
  private func lastSortOrder<Key: PlacedKey>(
    in index: Index<Key>, excluding id: UUID, _ key: (_ rank: UInt8, _ bound: UInt8) -> Key
  ) throws -> Int64? {
    var cursor = try index.cursor(in: base)
    var last: Int64?
    for rank in 0..<StateRank.endRawValue {
      guard try cursor.move(toLastBefore: key(rank, rank + 1)) else { continue }
      if try cursor.key().id == id {
        guard try cursor.previous() else { continue }
      }
      guard !cursor.keyBytes.precedes(KeyBytes(key(rank, rank)).bytes) else { continue }
      last = max(last, try cursor.key().order.sortOrder)
    }
    return last
  }
}

/// A place where a task is captured, which decides its list and day.
public enum CapturePlace: Hashable, Sendable {
  /// No list and no day.
  case inbox
  /// Scheduled for the current day.
  case today
  /// Scheduled for the day after the current one.
  case upcoming
  /// In a list, without a day.
  case list(UUID)
}

/// The greater of two optional numbers.
private func max(_ left: Int64?, _ right: Int64?) -> Int64? {
  guard let left, let right else { return left ?? right }
  return Swift.max(left, right)
}
