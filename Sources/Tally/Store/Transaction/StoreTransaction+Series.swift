public import Foundation
public import LMDB
public import TallyEngine

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

  /// The places of a series between two of its tasks that have no task, as ``skippedDays(between:and:limit:)``.
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
  /// - Throws: as ``update(_:keepingReminder:_:)``; `invalidRecurrence` if no task of the series is open.
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

  /// Changes a series whose open task has got another recurrence from a document, as
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
