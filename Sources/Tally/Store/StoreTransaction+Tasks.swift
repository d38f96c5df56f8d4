public import Foundation
public import LMDB

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a new task, last in its place.
  ///
  /// ```swift
  /// let draft = TaskDraft(title: "Renew the passport", dueDate: deadline)
  /// let task = try store.write { try $0.add(draft) }
  /// ```
  ///
  /// - Returns: the task as stored.
  /// - Throws: `blankTitle`, `listNotFound`, `duplicateID` or `valueOutOfRange`; nothing is stored then.
  @discardableResult
  public mutating func add(_ draft: TaskDraft) throws -> TaskItem {
    let id = draft.id ?? ids.next(at: now)
    if try tables.tasks.contains(IDKey(id), in: base) { throw TallyError.duplicateID(id) }
    var task = TaskItem(
      id: id, title: draft.title, notes: draft.notes, scheduledDate: draft.scheduledDate, dueDate: draft.dueDate,
      reminderDate: draft.reminderDate, listID: draft.listID, createdAt: now, updatedAt: now)
    try check(task)
    task.sortOrder = try lastSortOrder(ofPlacesOf: task)
    try write(TaskChange(old: nil, new: TaskRecord(item: task)))
    return task
  }

  /// Stores a new task where it is captured: the inbox, today, upcoming (tomorrow) or a list.
  ///
  /// - Throws: as `add(_:)` with a draft.
  @discardableResult
  public mutating func add(_ title: String, to place: CapturePlace) throws -> TaskItem {
    var draft = TaskDraft(title: title)
    switch place {
    case .inbox: break
    case .today: draft.scheduledDate = today
    case .upcoming: draft.scheduledDate = try today.adding(days: 1)
    case .list(let id): draft.listID = id
    }
    return try add(draft)
  }

  /// Changes a task.
  ///
  /// ```swift
  /// try store.write { try $0.update(id) { $0.title = "Renew both passports" } }
  /// ```
  ///
  /// The time of change is set; a task that becomes completed without a completion time gets one, and one that is
  /// no longer completed loses it; a task that changes its list, or its day while in no list, goes last in its new
  /// place. A change that changes nothing writes nothing.
  ///
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`, `blankTitle`, `listNotFound` or `valueOutOfRange`, `inconsistentTask` if the closure puts
  ///   another task in its place, or what the closure throws; nothing is changed then.
  @discardableResult
  public mutating func update(_ id: UUID, _ change: (inout TaskItem) throws -> Void) throws -> TaskItem {
    let old = try requireTaskRecord(id)
    var new = old
    try change(&new.item)
    guard new.item.id == id else { throw TallyError.foreignTask }
    settleCompletion(of: &new.item)
    if Place(of: new.item) != Place(of: old.item), new.item.sortOrder == old.item.sortOrder {
      new.item.sortOrder = try lastSortOrder(ofPlacesOf: new.item)
    }
    guard !new.item.isIdentical(to: old.item) else { return old.item }
    new.item.updatedAt = timeOfChange(after: old.item.updatedAt)
    try check(new.item)
    try write(TaskChange(old: old, new: new))
    return new.item
  }

  /// Deletes a task; its list stays, and so does its completion in the statistics.
  ///
  /// - Returns: the task as it was.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func delete(_ id: UUID) throws -> TaskItem {
    let old = try requireTaskRecord(id)
    try write(TaskChange(old: old, new: nil))
    return old.item
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// The time of a change of something that was changed before.
  ///
  /// Never an earlier one, whatever the clock says: who asks for what has changed since some time must find it.
  func timeOfChange(after last: Timestamp) -> Timestamp {
    max(now, last)
  }

  /// Writes one change of a task.
  mutating func write(_ taskChange: TaskChange) throws {
    try change { (writer, images, base) throws(LMDBError) in
      try writer.apply(taskChange, recording: &images, in: &base)
    }
  }

  /// Sees to it that a task about to be stored obeys the model's rules and names a list that exists.
  func check(_ task: TaskItem) throws {
    try checkFields(of: task)
    if let listID = task.listID { try checkList(listID) }
  }

  /// Sees to it that a task about to be stored obeys the model's rules.
  func checkFields(of task: TaskItem) throws {
    try task.validate()
    try task.validateTextSize()
  }

  /// Sees to it that a list exists.
  func checkList(_ id: UUID) throws {
    guard try tables.lists.contains(IDKey(id), in: base) else { throw TallyError.listNotFound(id) }
  }

  /// Gives a completed task its completion time, and takes it from an open one.
  private func settleCompletion(of task: inout TaskItem) {
    if !task.isCompleted {
      task.completedAt = nil
    } else if task.completedAt == nil {
      task.completedAt = OffsetTimestamp(now, in: calendar.timeZone)
    }
  }
}

extension TaskItem {
  /// Sees to it that the task's texts fit into one record.
  func validateTextSize() throws {
    guard title.utf8.count + (notes?.utf8.count ?? 0) <= TaskRecord.maximumTextByteCount else {
      throw TallyError(
        .valueOutOfRange, "The title and notes together take more than a gibibyte", remedy: "Shorten them")
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The sort order of a task that is to go last: in its list or the inbox, and on its day.
  func lastSortOrder(ofPlacesOf task: TaskItem) throws -> Int64 {
    var last: Int64?
    for rank in 0..<StateRank.endRawValue {
      if task.listID != nil || task.scheduledDate == nil {
        let end = PlaceKey(listID: task.listID, rankRawValue: rank + 1, order: .lowest)
        let start = PlaceKey(listID: task.listID, rankRawValue: rank, order: .lowest)
        last = try max(last, lastSortOrder(in: tables.byPlace, from: start, to: end, excluding: task.id))
      }
      if let day = task.scheduledDate?.dayNumber {
        let isCompleted = rank == StateRank.completed.rawValue
        let end = DayKey(isCompleted: isCompleted, dayNumber: day, rankRawValue: rank + 1, order: .lowest)
        let start = DayKey(isCompleted: isCompleted, dayNumber: day, rankRawValue: rank, order: .lowest)
        last = try max(last, lastSortOrder(in: tables.byDay, from: start, to: end, excluding: task.id))
      }
    }
    // No room behind the last one is rarer than rare; the limit itself is then shared, and creation tells them apart.
    return SortOrder.between(last, nil) ?? SortOrder.limit
  }

  private func lastSortOrder<Key: PlacedKey>(
    in index: Index<Key>, from start: Key, to end: Key, excluding id: UUID
  ) throws -> Int64? {
    var last: Int64?
    _ = try scanReversed(index, from: start, to: end) { key in
      guard key.id == id else {
        last = key.order.sortOrder
        return false
      }
      return true
    }
    return last
  }
}

/// The greater of two numbers that may be missing.
private func max(_ left: Int64?, _ right: Int64?) -> Int64? {
  guard let left, let right else { return left ?? right }
  return Swift.max(left, right)
}
