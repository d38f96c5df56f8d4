import Foundation
import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The task that follows a task in its series; `nil` if the task does not repeat or its successor does not exist.
  ///
  /// - Throws: what the storage throws.
  public func successor(of task: TaskItem) throws -> TaskItem? {
    guard let series = task.series else { return nil }
    return try self.task(series.successorID)
  }

  /// The place of the task that follows a closed one; `nil` if the task does not repeat, or its series has ended.
  package func placeOfSuccessor(of task: TaskItem) throws -> RecurrenceSeries? {
    guard let closedAt = task.closedAt?.instant, let place = task.series, let series = try series(of: task) else {
      return nil
    }
    // A task that is given up early must not come back on the same day.
    let day = task.isCancelled ? max(day(of: closedAt), place.occurrence) : day(of: closedAt)
    return series.place(after: place, closedOn: day, at: dateReference)
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Creates the next task of a series when a task of it is closed, and deletes it when that task is reopened.
  ///
  /// Every way of completing or cancelling a task calls this. Imports do not, because they write tasks as given.
  mutating func followSeries(of task: TaskItem, replacing old: TaskItem?) throws {
    // Nearly all tasks have no series.
    guard task.extrasBox != nil || old?.extrasBox != nil else { return }
    switch (old?.isClosed ?? false, task.isClosed) {
    case (false, true): try addSuccessor(of: task)
    case (true, false):
      guard let old else { return }
      try deleteSuccessor(of: old)
      if old.isCancelled { try takeBackSkipping(of: old) }
    default: break
    }
  }

  /// Stores the next task with its sub-tasks, unless it exists already.
  mutating func addSuccessor(of task: TaskItem) throws {
    guard let place = task.series, let next = try placeOfSuccessor(of: task), try !isPartOfClosedTask(task),
      try self.task(after: place) == nil
    else { return }
    var created: Set<UUID> = []
    for repetition in try repetitions(of: task, at: next) where try self.task(repetition.task.id) == nil {
      var task = repetition.task
      // The parent of a sub-task may have been moved out of an earlier successor; the sub-task is then left out.
      guard task.id == next.taskID || task.parentID.map(created.contains) ?? false else { continue }
      created.insert(task.id)
      // A task in the same place as the one that it repeats keeps that task's position.
      if Place(of: task) != Place(of: repetition.origin) { task.sortOrder = try lastSortOrder(ofPlacesOf: task) }
      try check(task, replacing: nil)
      try writeGenerated(RecordChange(from: nil, to: task, at: commitSequence))
    }
    if created.contains(next.taskID) { try moveParts(partsOfNext(of: task), to: next.taskID) }
  }

  /// Deletes the next task with its sub-tasks, unless any of them has been changed.
  private mutating func deleteSuccessor(of task: TaskItem) throws {
    guard let own = task.series, let successor = try self.task(after: own), let series = successor.series else {
      return
    }
    let repetitions = try repetitions(of: task, at: series)
    let parts = try parts(of: task.id)
    let moved = try self.parts(of: successor.id).filter { part in parts.contains { part.isLater(than: $0) } }
    let records = try ([successor] + descendants(of: successor.id, without: Set(moved.map(\.id)))).map {
      try require(TaskRecord.self, $0.id)
    }
    // A sub-task that the user has added to the next task is not among the repetitions.
    let areUnchanged = records.allSatisfy { record in
      repetitions.contains {
        $0.task.id == record.item.id && (record.isAsCreated || $0.task.isRepeated(by: record.item))
      }
    }
    guard areUnchanged else { return }
    try moveParts(moved, to: task.id)
    for record in records.reversed() { try writeGenerated(RecordChange(from: record, to: nil, at: commitSequence)) }
  }

  /// Gives sub-tasks that belong to the next occurrence another parent; they and their own sub-tasks go to its list.
  private mutating func moveParts(_ parts: [TaskItem], to parentID: UUID) throws {
    let listID = try require(TaskRecord.self, parentID).item.listID
    for part in parts {
      let record = try require(TaskRecord.self, part.id)
      var moved = record.item
      (moved.parentID, moved.listID) = (parentID, listID)
      moved.updatedAt = timeOfChange(after: moved.updatedAt)
      try check(moved, replacing: record.item)
      try writeGenerated(RecordChange(from: record, to: moved, at: commitSequence))
      if record.item.listID != listID { try moveParts(try self.parts(of: part.id), to: part.id) }
    }
  }

  /// Writes a change made by the program: it loses to a person's change of the task on another device.
  private mutating func writeGenerated(_ change: RecordChange<TaskRecord>) throws {
    var change = change
    change.generatedFields = .all
    try write(change)
  }
}

/// A task to be repeated, together with the task that it repeats.
private struct Repetition {
  let task: TaskItem
  let origin: TaskItem
}

extension StoreTransaction where Base: ~Copyable {
  /// A task and its sub-tasks, repeated at another position of the task's series, parents first.
  private func repetitions(of task: TaskItem, at place: RecurrenceSeries) throws -> [Repetition] {
    guard let own = task.series, let series = try series(of: task) else { return [] }
    let move = PartMove(from: own, to: place, of: series, in: calendar.timeZone)
    var repetition = series.task(at: place, in: calendar.timeZone, createdAt: stamp)
    repetition.sortOrder = task.sortOrder
    if let parentID = task.parentID {
      (repetition.parentID, repetition.listID) = (parentID, task.listID)
    } else {
      repetition.listID = try repetition.listID.flatMap { try list($0)?.id }
    }
    return [Repetition(task: repetition, origin: task)]
      + (try repetitions(
        of: try parts(ofOccurrence: task), asPartsOf: repetition, by: move, index: place.index))
  }

  /// Sub-tasks, repeated below the successor of their parent.
  private func repetitions(
    of parts: [TaskItem], asPartsOf parent: TaskItem, by move: PartMove, index: Int
  ) throws -> [Repetition] {
    try parts.flatMap { part in
      var repetition = try asFirst(part, of: move).again(
        withID: UUID(derivedFrom: part.id, index: UInt64(clamping: index)), at: stamp)
      (repetition.parentID, repetition.listID) = (parent.id, parent.listID)
      move.apply(to: &repetition)
      repetition.series = nil
      repetition.updateSeries(replacing: nil, in: calendar)
      let parts = try self.parts(of: part.id).latestOfSeries
      return [Repetition(task: repetition, origin: part)]
        + (try repetitions(of: parts, asPartsOf: repetition, by: move, index: index))
    }
  }

  /// A sub-task as the first of its own series, if that has begun with this occurrence of its parent: the copy begins as
  /// that one did, however far the series has gone on meanwhile.
  private func asFirst(_ part: TaskItem, of move: PartMove) throws -> TaskItem {
    guard let place = part.series, place.start >= move.occurrence, let series = try series(of: part) else {
      return part
    }
    let first = RecurrenceSeries(startingWith: place.id, on: place.start)
    var task = series.task(at: first, in: calendar.timeZone, createdAt: stamp)
    task.sortOrder = part.sortOrder
    return task
  }

  /// Whether the parent of this task is closed; if so, the task is not repeated.
  private func isPartOfClosedTask(_ task: TaskItem) throws -> Bool {
    guard let parentID = task.parentID else { return false }
    return try self.task(parentID)?.isClosed ?? false
  }

  /// All sub-tasks of a task, at every level, parents first.
  private func descendants(of id: UUID, without excluded: Set<UUID>) throws -> [TaskItem] {
    try parts(of: id).filter { !excluded.contains($0.id) }
      .flatMap { [$0] + (try descendants(of: $0.id, without: excluded)) }
  }

  private func parts(of id: UUID) throws -> [TaskItem] {
    try tables.subtaskIDs(of: id, in: base).map { try indexedTask($0) }
  }

  /// The sub-tasks of a repeating task that are repeated with it: of a series among them, only the latest task.
  private func parts(ofOccurrence task: TaskItem) throws -> [TaskItem] {
    let next = Set(try partsOfNext(of: task).map(\.id))
    return try parts(of: task.id).latestOfSeries.filter { !next.contains($0.id) }
  }

  /// The open sub-tasks of a repeating task that belong to its next occurrence.
  ///
  /// A sub-task that repeats by itself and has been done is followed by one below the same parent. If that one is for a
  /// day still to come, or on or after the parent's next occurrence, the parent that is closed does not close it; it
  /// moves to the next.
  func partsOfNext(of task: TaskItem) throws -> [TaskItem] {
    guard let place = task.series, let recurrence = task.recurrence,
      let next = recurrence.hours == nil
        ? place.next(by: recurrence, completedOn: place.occurrence, today: place.occurrence)
        : try series(of: task)?.next(after: place)
    else { return [] }
    let (parts, tomorrow) = (try parts(of: task.id), CalendarDay(clamping: Int64(today.dayNumber) + 1))
    guard !parts.isEmpty else { return [] }
    let time = try recurrence.hours.flatMap { _ in
      try series(of: task)?.task(at: next, in: calendar.timeZone, createdAt: stamp).timeOfStep
    }
    return parts.filter { part in
      guard part.isOpen, let occurrence = part.series?.occurrence, occurrence >= min(next.occurrence, tomorrow) else {
        return false
      }
      // By hours, the next occurrence may be on the same day.
      if let time, let own = part.timeOfStep, own < time, occurrence < tomorrow { return false }
      return parts.contains { part.isLater(than: $0) }
    }
  }
}

extension RecurrenceSeries {
  /// The id of the next task in the series.
  fileprivate var successorID: UUID {
    RecurrenceSeries(id: id, start: start, occurrence: occurrence, index: index + 1).taskID
  }
}

extension [TaskItem] {
  /// The tasks without those that a later one of the same series follows.
  fileprivate var latestOfSeries: [TaskItem] { filter { task in !contains { $0.isLater(than: task) } } }
}

extension TaskItem {
  /// Whether this task comes after another one in the same series.
  fileprivate func isLater(than other: TaskItem) -> Bool {
    guard let series, let others = other.series else { return false }
    return series.id == others.id && series.index > others.index
  }

  /// Whether a stored task equals this one, except for when it was created and where it was moved.
  fileprivate func isRepeated(by stored: TaskItem) -> Bool {
    var task = self
    (task.createdAt, task.updatedAt, task.sortOrder) = (stored.createdAt, stored.updatedAt, stored.sortOrder)
    return task.isIdentical(to: stored)
  }
}

extension TaskRecord {
  /// Whether nothing has been written since the commit that created it, here or in the store a document comes from.
  fileprivate var isAsCreated: Bool {
    stamp.created == stamp.changed && item.createdAt == item.updatedAt && item.state == .notStarted
  }
}
