public import Foundation
public import LMDB
public import TallyEngine

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

  /// A sub-task as the first of its own series, if that series began with this occurrence of its parent: the copy
  /// begins as the first one did, however far the series has advanced since then.
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

extension StoreTransaction where Base: ~Copyable {
  /// The series of a repeating task; `nil` if the task does not repeat.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: one lookup.
  public func series(of task: TaskItem) throws -> TaskSeries? {
    guard task.recurrence != nil, let place = task.series else { return nil }
    return try storedSeries(place.id) ?? TaskSeries(describedBy: task, in: calendar.timeZone)
  }

  /// The series with an id, as it is stored; `nil` if there is none.
  package func storedSeries(_ id: UUID) throws -> TaskSeries? {
    let key = try TaskSeries.key(of: id)
    return try tables.values.value(forKey: key, in: base).flatMap { TaskSeries(stored: $0, under: key) }
  }

  /// The stored series, in the order of their ids.
  package func storedSeries() throws -> [TaskSeries] {
    try values(in: TaskSeries.namespace).compactMap { TaskSeries(stored: $0.bytes, under: $0.key) }
  }

  /// The open task of the series of a task, which may be that task; `nil` if there is none.
  ///
  /// A task that does not repeat is its own.
  package func openTask(ofSeriesWith task: TaskItem) throws -> TaskItem? {
    var next: TaskItem? = task
    while let closed = next, closed.isClosed, closed.recurrence != nil, let place = closed.series {
      next = try self.task(after: place)
    }
    return next
  }

  /// The next task that exists after a place of a series; `nil` if there is none.
  ///
  /// The tasks between may have been deleted: as many as the series leaves days out, and a few more, as a rule for hours
  /// leaves none out.
  package func task(after place: RecurrenceSeries) throws -> TaskItem? {
    if let near = try task(after: place, distances: 1...Self.mostDeleted) { return near }
    guard let count = try storedSeries(place.id)?.skippedDays.count, count > 0 else { return nil }
    return try task(after: place, distances: Self.mostDeleted + 1...Self.mostDeleted + count)
  }

  private func task(after place: RecurrenceSeries, distances: ClosedRange<Int>) throws -> TaskItem? {
    for distance in distances {
      let next = RecurrenceSeries(
        id: place.id, start: place.start, occurrence: place.occurrence, index: place.index + distance)
      if try tables.tasks.contains(IDKey(next.taskID), in: base) { return try task(next.taskID) }
    }
    return nil
  }

  /// How many places in a row are looked at in every series.
  private static var mostDeleted: Int { 8 }

  /// The days of a series between two of its tasks that have no task: they had passed when the first one was closed.
  ///
  /// The days that a person has left out are not among them.
  ///
  /// - Parameters:
  ///   - task: A closed task.
  ///   - next: The task that follows it.
  ///   - limit: The most days to return.
  /// - Returns: The days, ascending.
  /// - Throws: what the storage throws.
  public func skippedDays(between task: TaskItem, and next: TaskItem, limit: Int = 100) throws -> [CalendarDay] {
    guard let series = try series(of: next) else { return [] }
    let days = try skippedPlaces(between: task, and: next, limit: series.recurrence.hours == nil ? limit : 24 * limit)
      .map(\.occurrence)
    return Array(Set(days).sorted().prefix(limit))
  }

  /// The places of a series between two of its tasks that have no task, as ``skippedDays(between:and:limit:)`` finds
  /// them.
  package func skippedPlaces(
    between task: TaskItem, and next: TaskItem, limit: Int = 100
  ) throws -> [RecurrenceSeries] {
    guard let from = task.series, let to = next.series, from.id == to.id, let series = try series(of: next) else {
      return []
    }
    let isHourly = series.recurrence.hours != nil
    // Steps of another start say nothing about those between the tasks.
    guard !isHourly || from.start == to.start else { return [] }
    var places: [RecurrenceSeries] = []
    var place = series.next(after: from)
    while let skipped = place, isHourly ? skipped.step < to.step : skipped.occurrence < to.occurrence,
      places.count < limit
    {
      if isHourly || !series.skippedDays.contains(skipped.occurrence) { places.append(skipped) }
      place = series.next(after: skipped)
    }
    return places
  }
}

/// The task that a series makes in one place, before and after a change.
struct OccurrenceChange {
  let old: TaskItem
  let new: TaskItem

  /// Whether the change concerns what tasks of a series have in common.
  var isChanged: Bool { !TaskItem.differences(old, new).isDisjoint(with: TaskSeries.commonParts) }
  /// Whether the series has another rule, or goes on from another day.
  var isMoved: Bool { old.recurrence != new.recurrence || old.series != new.series }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Changes a repeating task and all that follow it.
  ///
  /// ```swift
  /// try store.writeAndWait { try $0.updateSeries(of: id) { $0.title = "Water all plants" } }
  /// ```
  ///
  /// The closure runs twice: once for the open task, and once for the task that the series would make in its place. So
  /// what a person has changed of the open task alone stays with that task. A series that moves to another day goes on
  /// from that day by its rule, which names the new day if it named one day. Of a task that does not repeat, it changes
  /// that task.
  ///
  /// - Parameters:
  ///   - id: a task of the series; a closed one stands for the open one.
  ///   - keepsReminder: as for ``update(_:keepingReminder:_:)``.
  ///   - change: changes a task; the same way each time.
  /// - Returns: the open task as stored.
  /// - Throws: what ``update(_:keepingReminder:_:)`` throws; `invalidRecurrence` if no task of the series is open.
  @discardableResult
  public mutating func updateSeries(
    of id: UUID, keepingReminder keepsReminder: Bool = false, _ change: (inout TaskItem) throws -> Void
  ) throws -> TaskItem {
    let task = try requireOpenTask(ofSeriesWith: id)
    return try update(task.id, closingSubtasks: true, keepingReminder: keepsReminder, inSeries: true, change)
  }

  /// Applies a change to the task that the series itself would make in place of its open one.
  ///
  /// - Parameters:
  ///   - task: the open task before the change.
  ///   - changed: the open task after the change. A new rule goes on from the day to which that task was moved alone.
  ///   - keepsReminder: as for ``update(_:keepingReminder:_:)``.
  ///   - change: the change.
  /// - Returns: that task before and after the change; `nil` without a series.
  /// - Throws: what the change throws, and what the store refuses.
  func occurrence(
    ofSeriesWith task: TaskItem, as changed: TaskItem, keepingReminder keepsReminder: Bool,
    _ change: (inout TaskItem) throws -> Void
  ) throws -> OccurrenceChange? {
    guard var place = task.series, let series = try series(of: task) else { return nil }
    let hasRule = changed.recurrence == task.recurrence
    let zone = series.timeZone(or: calendar.timeZone)
    if !hasRule, place.step == 0, let day = task.ownFirstDay(in: zone) {
      place = RecurrenceSeries(id: place.id, start: place.start, occurrence: day, index: place.index)
    }
    var old = series.task(at: place, in: calendar.timeZone, createdAt: task.createdAt)
    (old.parentID, old.dependsOn) = (task.parentID, task.dependsOn)
    var (new, _) = try self.changed(old, keepingReminder: keepsReminder, change)
    new.moveSeries(from: old, in: zone)
    if hasRule, new.series != old.series, case .rule(let rule)? = new.recurrence, let day = new.series?.start {
      // The last task moves alone: nothing follows it.
      let rest = series.rest(of: rule, at: place, from: day)
      (new.recurrence, new.series) = rest.map { (.rule($0), new.series) } ?? (old.recurrence, old.series)
    }
    try new.checkRecurrence(replacing: old, today: today, in: calendar.timeZone)
    try new.validate()
    return OccurrenceChange(old: old, new: new)
  }

  /// The open task of the series of a task; the task itself if it does not repeat.
  private func requireOpenTask(ofSeriesWith id: UUID) throws -> TaskItem {
    let task = try require(TaskRecord.self, id).item.shown(in: calendar.timeZone)
    if let open = try openTask(ofSeriesWith: task) { return open }
    throw TallyError.invalidRecurrence(
      "No task of this series is open, so there is nothing to change", remedy: "Reopen a task of it first")
  }

  /// Refuses another rule for a closed task whose series goes on: only its open task decides how it repeats.
  func checkRuleOfClosed(_ task: TaskItem, replacing old: TaskItem) throws {
    guard old.isClosed, task.isClosed, let former = old.recurrence, let rule = task.recurrence, rule != former,
      let open = try openTask(ofSeriesWith: old)
    else { return }
    throw TallyError.invalidRecurrence(
      "The task is \(task.state.name), and its series goes on with \(try handle(of: open.id))",
      remedy: "Give the rule to \(try handle(of: open.id))")
  }

  /// Fixes the times of a series to a time zone, or lets them be those of the person again.
  ///
  /// The times of its open task move to the zone, unless a person has given that task others.
  ///
  /// - Parameters:
  ///   - zone: the zone; `nil` for that of the person.
  ///   - id: a task of the series, open or closed.
  /// - Throws: `taskNotFound`; `invalidRecurrence` if the task does not repeat, or if no task of its series is open; what
  ///   the storage throws.
  public mutating func setTimeZone(_ zone: TimeZone?, ofSeriesWith id: UUID) throws {
    let task = try requireOpenTask(ofSeriesWith: id)
    guard var series = try series(of: task) else {
      throw TallyError.invalidRecurrence(
        "The task does not repeat, so it has no series", remedy: "Give it a rule first")
    }
    let former = series
    series.timeZoneIdentifier = zone?.identifier
    series.touch(at: timeOfChange(after: series.updatedAt))
    try write(series)
    if let place = task.series {
      let dates = former.task(at: place, in: calendar.timeZone, createdAt: stamp)
      let moved = series.task(at: place, in: calendar.timeZone, createdAt: stamp)
      try update(task.id, keepingReminder: true) { task in
        if task.dueDate == dates.dueDate { task.dueDate = moved.dueDate }
        if task.reminderDate == dates.reminderDate { task.reminderDate = moved.reminderDate }
        if task.otherReminders == dates.otherReminders { task.otherReminders = moved.otherReminders }
        task.float(as: moved)
      }
    }
  }

  /// Leaves out an open task of a series; the next one follows.
  ///
  /// The task is cancelled, and its day is one of the days that are left out of the series. A series that repeats by hours
  /// leaves no day out. A task that is cancelled already stays as it is.
  ///
  /// - Returns: the cancelled task.
  /// - Throws: `taskNotFound`; `inconsistentTask` if the task is completed; `invalidRecurrence` if it does not repeat.
  ///   On an error nothing is changed.
  @discardableResult
  public mutating func skip(_ id: UUID) throws -> TaskItem {
    let task = try repeatingTask(id)
    let cancelled = try cancel(id)
    if task.isOpen { try leaveOut(task) }
    return cancelled
  }

  /// Deletes one task of a series with its sub-tasks; if it is open, its day is left out, and the next one follows.
  ///
  /// - Returns: the deleted task.
  /// - Throws: `taskNotFound`; `invalidRecurrence` if the task does not repeat. On an error nothing is changed.
  @discardableResult
  public mutating func deleteOccurrence(_ id: UUID) throws -> TaskItem {
    let task = try repeatingTask(id)
    guard task.isOpen else { return try delete(id) }
    var closed = task
    (closed.state, closed.cancelledAt) = (.cancelled, OffsetTimestamp(now, in: calendar.timeZone))
    try addSuccessor(of: closed)
    try delete(id, endingSeries: false)
    try leaveOut(task)
    return task
  }

  private func repeatingTask(_ id: UUID) throws -> TaskItem {
    let task = try require(TaskRecord.self, id).item.shown(in: calendar.timeZone)
    guard task.recurrence != nil else {
      throw TallyError.invalidRecurrence(
        "The task does not repeat, so there is no next one", remedy: "Cancel or delete it instead")
    }
    return task
  }

  /// Adds the day of a task to those that are left out of its series; by hours, the others of that day stay.
  private mutating func leaveOut(_ task: TaskItem) throws {
    guard var series = try series(of: task), series.recurrence.hours == nil, let day = task.series?.occurrence,
      !series.skippedDays.contains(day)
    else { return }
    series.skippedDays = (series.skippedDays + [day]).sorted()
    series.touch(at: timeOfChange(after: series.updatedAt))
    try write(series)
  }

  /// Removes the day of a task from those that are left out: somebody has reopened the task.
  mutating func takeBackSkipping(of task: TaskItem) throws {
    guard let place = task.series, task.recurrence?.hours == nil, var series = try storedSeries(place.id),
      series.skippedDays.contains(place.occurrence)
    else { return }
    series.skippedDays.removeAll { $0 == place.occurrence }
    series.touch(at: timeOfChange(after: series.updatedAt))
    try write(series)
  }

  /// Keeps what a series has in common when one of its tasks is created or changed.
  ///
  /// - Parameters:
  ///   - task: the task as it will be stored.
  ///   - old: the task before; `nil` for a new one.
  ///   - occurrence: the change of the series' own task, if the change is meant for the tasks that follow, too. A new
  ///     recurrence always is.
  /// - Throws: what the storage throws.
  mutating func keepSeries(of task: TaskItem, replacing old: TaskItem?, by occurrence: OccurrenceChange? = nil) throws {
    // Nearly all tasks have no series.
    guard task.extrasBox != nil || old?.extrasBox != nil else { return }
    guard task.recurrence != nil, let place = task.series else {
      if let old, old.isOpen, let former = old.series { try endSeries(former.id) }
      return
    }
    let zone = calendar.timeZone
    guard let old, old.series != nil else {
      if let series = TaskSeries(describedBy: task, in: zone) { try write(series) }
      return
    }
    let own = OccurrenceChange(old: old, new: task)
    let change = occurrence ?? own
    guard own.isChanged || change.isChanged, old.isOpen else { return }
    let stored = try storedSeries(place.id)
    guard var series = stored ?? TaskSeries(describedBy: old, in: zone) else { return }
    // From now on the task may differ from what it describes.
    if stored == nil { try write(series, isGenerated: true) }
    guard change.isChanged, occurrence != nil || change.isMoved else { return }
    let former = series
    series.adopt(change.new, replacing: change.old, in: zone)
    series.touch(at: former.updatedAt)
    if series == former { return }
    series.touch(at: timeOfChange(after: former.updatedAt))
    try write(series)
  }

  /// Lets the times of an open task float that are those of its series.
  func letFloat(_ task: inout TaskItem, replacing old: TaskItem?) throws {
    guard task.extrasBox != nil, task.isOpen, task.recurrence != nil, let place = task.series else { return }
    let parts = old.map { TaskItem.differences($0, task) } ?? .all
    guard old?.floating == nil || !parts.isDisjoint(with: [.due, .reminder, .reminders, .recurrence]) else { return }
    guard let series = try storedSeries(place.id) else { return }
    task.float(as: series.task(at: place, in: calendar.timeZone, createdAt: task.createdAt))
  }

  /// Changes a series whose open task has received a new recurrence from a document, as
  /// ``updateSeries(of:keepingReminder:_:)`` does.
  ///
  /// A series that is not stored is what its task says.
  mutating func adoptImported(_ task: TaskItem, replacing old: TaskItem) throws {
    guard old.isOpen, let former = old.series else { return }
    guard task.recurrence != nil, task.series?.id == former.id else { return try endSeries(former.id) }
    guard var series = try storedSeries(former.id) else { return }
    // The document may have the series as it was, and must not bring it back when it is imported again.
    let time = max(timeOfChange(after: task.updatedAt), series.updatedAt.adding(microseconds: 1))
    series.adopt(task, replacing: old, in: calendar.timeZone)
    series.touch(at: time)
    try write(series)
  }

  /// Ends a series: its open task was deleted, or does not repeat any more.
  mutating func endSeries(_ id: UUID) throws {
    try removeValues([TaskSeries.key(of: id)])
  }

  /// Stores a series.
  ///
  /// - Parameters:
  ///   - series: the series.
  ///   - isGenerated: whether a program made it, so that it loses to what a person writes on another device.
  /// - Throws: what the storage throws.
  package mutating func write(_ series: TaskSeries, isGenerated: Bool = false) throws {
    let (bytes, key) = (try series.storedBytes, try TaskSeries.key(of: series.id))
    let writer = recordWriter
    try changeIfNeeded { (_, images, base) throws(LMDBError) in
      try writer.require(.taskLife, in: &base)
      return try ValueWriter(with: writer).write(
        bytes, forKey: key, isGenerated: isGenerated, recording: &images, in: &base)
    }
  }
}
