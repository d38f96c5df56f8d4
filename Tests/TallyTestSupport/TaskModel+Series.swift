import Foundation
import Tally

/// What a task or list knows of the transactions that wrote it.
struct ModelStamp: Hashable, Sendable {
  /// The transaction that created it.
  var created: Int
  /// The last one that wrote it.
  var changed: Int
}

extension TaskModel {
  /// Gives a task that repeats its place in a series and its first day; refuses a rule that has ended or gives no day.
  static func beginSeries(
    of task: inout TaskItem, replacing old: TaskItem?, now: Timestamp, timeZone: TimeZone
  ) -> TallyError.Code? {
    let today = CalendarDay(containing: now, in: timeZone)
    let isNewRule = task.recurrence != old?.recurrence
    if isNewRule, !task.state.isClosed, case .rule(let rule)? = task.recurrence {
      if case .until(let last) = rule.end, last < today { return .invalidRecurrence }
      if !hasDay(task) { task.scheduledDate = firstDay(of: rule, today) }
      if !hasDay(task) || Array(rule.occurrences(from: firstDay(of: task, timeZone)).prefix(1)).isEmpty {
        return .invalidRecurrence
      }
    }
    beginSeries(of: &task, replacing: old, timeZone)
    return nil
  }

  /// The first day from today on by the rule for every day, week, month or year.
  private static func firstDay(of rule: RecurrenceRule, _ today: CalendarDay) -> CalendarDay? {
    let text = rule.text.replacing(/INTERVAL=[0-9]+;?/, with: "")
    guard case .rule(let each)? = try? Recurrence(text: text.hasSuffix(";") ? String(text.dropLast()) : text) else {
      return nil
    }
    return each.occurrences(from: today).first { $0 >= today }
  }

  private static func beginSeries(of task: inout TaskItem, replacing old: TaskItem?, _ timeZone: TimeZone) {
    guard let recurrence = task.recurrence else { return task.series = nil }
    let isReplaced = old?.recurrence != nil && old?.recurrence != recurrence
    let getsFirstDay = task.series?.index == 0 && old.map { !hasDay($0) } ?? false && hasDay(task)
    guard task.series == nil || isReplaced || getsFirstDay else { return }
    let first = firstDay(of: task, timeZone)
    let (id, index) = (task.series?.id ?? task.id, task.series?.index ?? 0)
    task.series = RecurrenceSeries(id: id, start: first, occurrence: first, index: index)
  }

  private static func firstDay(of task: TaskItem, _ timeZone: TimeZone) -> CalendarDay {
    let instant = task.dueDate ?? task.reminderDate ?? task.createdAt
    return task.scheduledDate ?? task.dueDay ?? CalendarDay(containing: instant, in: timeZone)
  }

  /// Lets a series go on from another day, if a change of the series has moved its task there.
  static func moveSeries(of task: inout TaskItem, from old: TaskItem, _ timeZone: TimeZone) {
    guard let series = task.series, series == old.series, hasDay(task) else { return }
    let day = firstDay(of: task, timeZone)
    guard !hasDay(old) || day != firstDay(of: old, timeZone) else { return }
    task.series = RecurrenceSeries(id: series.id, start: day, occurrence: day, index: series.index)
    if let rule = task.recurrence, rule == old.recurrence { task.recurrence = ModelSeries.rule(rule, movedTo: day) }
  }

  /// Of a number of tasks, leaves those to a moved series that it has not had yet.
  static func countRest(of task: inout TaskItem, from old: TaskItem) {
    guard case .rule(let rule)? = old.recurrence, case .rule(let new)? = task.recurrence, task.series != old.series,
      let place = old.series, let day = task.series?.start,
      let limit = rule.text.firstMatch(of: /COUNT=([0-9]+)/).flatMap({ Int($0.1) })
    else { return }
    // Days that are left out count, too.
    func days(_ rule: RecurrenceRule, from start: CalendarDay) -> [CalendarDay] {
      guard case .rule(let all)? = try? Recurrence(text: rule.text.replacing(/;?EXDATE=[0-9,]+/, with: "")) else {
        return []
      }
      return Array(all.occurrences(from: start))
    }
    let others = limit - days(rule, from: place.start).filter { $0 <= place.occurrence }.count
    let isCounted = days(new, from: day).contains(day)
    let text = new.text.replacing(/COUNT=[0-9]+/, with: "COUNT=\(isCounted ? others + 1 : others)")
    let isLast = !isCounted && others == 0
    (task.recurrence, task.series) = isLast ? (old.recurrence, place) : (try? Recurrence(text: text), task.series)
  }

  /// The open task of the series of a task; the task itself if it does not repeat.
  func openTask(ofSeriesWith task: TaskItem) -> TaskItem? {
    guard task.state.isClosed, task.recurrence != nil, let series = task.series else { return task }
    return self.task(after: series).flatMap { openTask(ofSeriesWith: $0) }
  }

  /// The next task of a series; those in between may have been deleted.
  private func task(after series: RecurrenceSeries) -> TaskItem? {
    (1..<100).lazy.compactMap { tasks[series.later(by: $0, of: series.id).taskID] }.first
  }

  /// Keeps what a series has in common, before its next task is made from it.
  ///
  /// The task that the series would make is given before and after a change that is meant for the series.
  mutating func keepSeries(
    of task: TaskItem, replacing old: TaskItem, by own: (old: TaskItem, new: TaskItem)?, timeZone: TimeZone
  ) {
    guard let place = task.series else {
      if let former = old.series, !old.state.isClosed { setSeries(nil, former.id) }
      return
    }
    guard let former = old.series else { return setSeries(ModelSeries(of: task, in: timeZone), place.id) }
    if let own { adopt(own.new, replacing: own.old, of: old, timeZone) }
    var (copy, other) = (old, task)
    // These belong to each task.
    for keyPath in [\TaskItem.completedAt, \.cancelledAt] {
      (copy[keyPath: keyPath], other[keyPath: keyPath]) = (nil, nil)
    }
    (copy.state, copy.sortOrder, copy.updatedAt) = (.notStarted, 0, .earliest)
    (other.state, other.sortOrder, other.updatedAt) = (.notStarted, 0, .earliest)
    (copy.parentID, copy.dependsOn, other.parentID, other.dependsOn) = (nil, [], nil, [])
    guard copy != other, !old.state.isClosed else { return }
    storeSeries(of: old, timeZone)
    if own == nil, old.recurrence != task.recurrence || former.start != place.start {
      adopt(task, replacing: old, of: old, timeZone)
    }
  }

  /// Takes the difference of two states of a task over into a series, which is that of another task.
  mutating func adopt(_ new: TaskItem, replacing old: TaskItem, of task: TaskItem, _ timeZone: TimeZone) {
    guard let place = task.series, !task.state.isClosed,
      let known = series[Self.seriesKey(place.id)] ?? ModelSeries(of: task, in: timeZone)
    else { return }
    var changed = known
    changed.adopt(new, replacing: old, in: timeZone)
    if changed != known { setSeries(changed, place.id) }
  }

  /// The task that a series would make in the place of one of its tasks; `nil` if that one does not repeat.
  func seriesTask(at task: TaskItem, _ timeZone: TimeZone) -> TaskItem? {
    guard task.recurrence != nil, let place = task.series,
      let series = series[Self.seriesKey(place.id)] ?? ModelSeries(of: task, in: timeZone)
    else { return nil }
    var own = series.task(at: place, at: task.createdAt, in: timeZone)
    (own.parentID, own.dependsOn) = (task.parentID, task.dependsOn)
    return own
  }

  /// Stores the series that a task describes, if there is none: a day of it is left out.
  mutating func storeSeries(of task: TaskItem, _ timeZone: TimeZone) {
    guard let place = task.series, series[Self.seriesKey(place.id)] == nil else { return }
    setSeries(ModelSeries(of: task, in: timeZone), place.id)
  }

  /// Stores a series, or ends it.
  mutating func setSeries(_ new: ModelSeries?, _ id: UUID) {
    let key = Self.seriesKey(id)
    if series[key] != new { touched.insert(key) }
    series[key] = new
  }

  /// A key that no task has.
  static func seriesKey(_ id: UUID) -> UUID { UUID(derivedFrom: id, index: .max) }

  private static func hasDay(_ task: TaskItem) -> Bool {
    task.scheduledDate != nil || task.dueDay != nil || task.dueDate != nil || task.reminderDate != nil
  }

  /// Creates the next task of a series when one is closed, and deletes it when that one is reopened.
  mutating func followSeries(of task: TaskItem, replacing old: TaskItem, now: Timestamp, timeZone: TimeZone) {
    if task.state.isClosed, !old.state.isClosed { addSuccessor(of: task, now: now, timeZone) }
    if old.state.isClosed, !task.state.isClosed { deleteSuccessor(of: old, now: now, timeZone) }
  }

  private mutating func addSuccessor(of task: TaskItem, now: Timestamp, _ timeZone: TimeZone) {
    guard let completed = (task.completedAt ?? task.cancelledAt)?.instant, let place = task.series,
      let series = series[Self.seriesKey(place.id)] ?? ModelSeries(of: task, in: timeZone),
      task.parentID.map({ tasks[$0]?.state.isClosed ?? false }) != true,
      let next = series.place(
        after: place, closedOn: Self.dayOfClosing(task, at: completed, timeZone), now: now, in: timeZone),
      self.task(after: place) == nil
    else { return }
    var created: Set<UUID> = []
    for (origin, copy) in copies(of: task, at: next, now: now, timeZone) where tasks[copy.id] == nil {
      // A part whose parent has been moved elsewhere is not made again.
      guard copy.id == next.taskID || copy.parentID.map(created.contains) ?? false else { continue }
      var copy = copy
      if Self.place(of: copy) != Self.place(of: origin) { copy.sortOrder = lastSortOrder(for: copy) }
      store(copy)
      created.insert(copy.id)
    }
    guard created.contains(next.taskID) else { return }
    let today = CalendarDay(containing: now, in: timeZone)
    for part in partsOfNext(of: task, on: today) { moveBelow(next.taskID, part, now: now) }
  }

  /// The day from which the next task counts: that of the task itself if it was given up early.
  private static func dayOfClosing(_ task: TaskItem, at closing: Timestamp, _ timeZone: TimeZone) -> CalendarDay {
    let day = CalendarDay(containing: closing, in: timeZone)
    guard task.state == .cancelled, let own = task.series?.occurrence else { return day }
    return own > day ? own : day
  }

  private mutating func moveBelow(_ parentID: UUID, _ part: TaskItem, now: Timestamp) {
    let (parts, listID) = (subtasks(of: part.id), part.listID)
    var part = part
    (part.parentID, part.listID, part.updatedAt) = (parentID, tasks[parentID]?.listID, now)
    store(part)
    if part.listID != listID { for own in parts { moveBelow(part.id, own, now: now) } }
  }

  /// The open sub-tasks for a later day, or one on or after the next occurrence, which follow one that has been done.
  func partsOfNext(of task: TaskItem, on today: CalendarDay) -> [TaskItem] {
    guard let recurrence = task.recurrence, let series = task.series,
      let next = series.next(by: recurrence, completedOn: series.occurrence, today: series.occurrence)
    else { return [] }
    let parts = subtasks(of: task.id)
    return parts.filter { part in
      guard !part.state.isClosed, let own = part.series, own.occurrence >= next.occurrence || own.occurrence > today
      else { return false }
      return parts.contains { $0.series.map { $0.id == own.id && $0.index < own.index } ?? false }
    }
  }

  private mutating func deleteSuccessor(of task: TaskItem, now: Timestamp, _ timeZone: TimeZone) {
    guard let series = task.series, let successor = self.task(after: series),
      let place = successor.series
    else { return }
    let copies = copies(of: task, at: place, now: now, timeZone).map(\.copy)
    let own = subtasks(of: task.id).compactMap(\.series)
    let moved = subtasks(of: successor.id).filter { part in
      part.series.map { series in own.contains { $0.id == series.id && $0.index < series.index } } ?? false
    }
    let branch = ([successor] + branches(of: successor.id, without: Set(moved.map(\.id))))
    let isUntouched = branch.allSatisfy { task in
      copies.contains { $0.id == task.id && (isAsCreated(task) || Self.isSame(task, as: $0)) }
    }
    guard isUntouched else { return }
    for part in moved { moveBelow(task.id, part, now: now) }
    for task in branch { remove(task.id) }
  }

  /// Whether no transaction has changed the task after the one that created it.
  private func isAsCreated(_ task: TaskItem) -> Bool {
    guard let stamp = stamps[task.id] else { return false }
    return stamp.created == stamp.changed && task.createdAt == task.updatedAt && task.state == .notStarted
  }

  private static func isSame(_ task: TaskItem, as copy: TaskItem) -> Bool {
    var copy = copy
    (copy.createdAt, copy.updatedAt, copy.sortOrder) = (task.createdAt, task.updatedAt, task.sortOrder)
    return copy == task
  }

  private func branches(of id: UUID, without excluded: Set<UUID>) -> [TaskItem] {
    subtasks(of: id).filter { !excluded.contains($0.id) }.flatMap { [$0] + branches(of: $0.id, without: excluded) }
  }

  private static func place(of task: TaskItem) -> [String] {
    task.listID.map { ["list", $0.uuidString] } ?? task.scheduledDate.map { ["day", "\($0)"] } ?? []
  }
}

extension TaskModel {
  /// The task at a later place of its series, then its sub-tasks; each with the one that it repeats.
  private func copies(
    of task: TaskItem, at place: RecurrenceSeries, now: Timestamp, _ timeZone: TimeZone
  ) -> [(origin: TaskItem, copy: TaskItem)] {
    guard let dates = MovedDates(of: task, to: place, now: now, timeZone), let own = task.series,
      let series = series[Self.seriesKey(own.id)] ?? ModelSeries(of: task, in: timeZone)
    else { return [] }
    var copy = series.task(at: place, at: now, in: timeZone)
    copy.sortOrder = task.sortOrder
    if task.parentID != nil {
      (copy.parentID, copy.listID) = (task.parentID, task.listID)
    } else if copy.listID.map({ lists[$0] == nil }) ?? false {
      copy.listID = nil
    }
    // A series of which one moves to the next task goes on there.
    let next = partsOfNext(of: task, on: CalendarDay(containing: now, in: timeZone)).map(\.series?.id)
    let parts = subtasks(of: task.id).filter { $0.series == nil || !next.contains($0.series?.id) }
    return [(task, copy)] + copies(of: parts, below: copy, at: place, dates)
  }

  private func copies(
    of parts: [TaskItem], below parent: TaskItem, at place: RecurrenceSeries, _ dates: MovedDates
  ) -> [(origin: TaskItem, copy: TaskItem)] {
    // Of a series among the parts only the latest task.
    let latest = parts.filter { part in
      !parts.contains {
        guard let series = part.series, let other = $0.series else { return false }
        return other.id == series.id && other.index > series.index
      }
    }
    return latest.flatMap { part in
      let first = atStart(part, dates)
      var copy = Self.open(first, id: place.later(by: 0, of: part.id).taskID, at: dates.now)
      (copy.parentID, copy.listID) = (parent.id, parent.listID)
      dates.movePart(&copy)
      copy.series = nil
      Self.beginSeries(of: &copy, replacing: nil, dates.timeZone)
      return [(part, copy)] + copies(of: subtasks(of: part.id), below: copy, at: place, dates)
    }
  }

  /// A part as its series began, unless that was before the occurrence of its parent.
  private func atStart(_ part: TaskItem, _ dates: MovedDates) -> TaskItem {
    guard let own = part.series, own.start >= dates.old,
      let series = series[Self.seriesKey(own.id)] ?? ModelSeries(of: part, in: dates.timeZone)
    else { return part }
    let place = RecurrenceSeries(id: own.id, start: own.start, occurrence: own.start, index: 0)
    var first = series.task(at: place, at: dates.now, in: dates.timeZone)
    first.sortOrder = part.sortOrder
    return first
  }

  private static func open(_ task: TaskItem, id: UUID, at now: Timestamp) -> TaskItem {
    TaskItem(
      id: id, title: task.title, notes: task.notes, scheduledDate: task.scheduledDate, dueDate: task.dueDate,
      reminderDate: task.reminderDate, listID: task.listID, sortOrder: task.sortOrder, createdAt: now,
      dueDay: task.dueDay, priority: task.priority, tags: task.tags, parentID: task.parentID,
      recurrence: task.recurrence, series: task.series, attributes: task.attributes,
      otherReminders: task.otherReminders, start: task.start)
  }
}

/// The dates of a task at a later occurrence: as the documentation of recurrence says, written down a second time.
private struct MovedDates {
  let now: Timestamp
  let timeZone: TimeZone
  let old: CalendarDay
  private let new: CalendarDay

  init?(of task: TaskItem, to place: RecurrenceSeries, now: Timestamp, _ timeZone: TimeZone) {
    guard let series = task.series, task.recurrence != nil else { return nil }
    (self.now, self.timeZone) = (now, timeZone)
    (old, new) = (series.occurrence, place.occurrence)
  }

  private func moveOthers(of task: inout TaskItem, _ move: (Timestamp) -> Timestamp) {
    task.otherReminders = ReminderSet(task.otherReminders.map { $0.instant.map { .at(move($0)) } ?? $0 })
  }

  func movePart(_ task: inout TaskItem) {
    ReminderModel.forget(&task)
    task.scheduledDate = task.scheduledDate.map { shifted($0, from: old) }
    moveDue(of: &task) { shifted($0, from: old) }
    task.reminderDate = task.reminderDate?.moved(from: old, to: new, in: timeZone)
    moveOthers(of: &task) { $0.moved(from: old, to: new, in: timeZone) }
    task.start = task.start?.day.map { .day(shifted($0, from: old)) }
  }

  private func moveDue(of task: inout TaskItem, by move: (CalendarDay) -> CalendarDay) {
    if let due = task.dueDate {
      let day = CalendarDay(containing: due, in: timeZone)
      task.dueDate = due.moved(from: day, to: move(day), in: timeZone)
    } else if let day = task.dueDay {
      task.dueDay = move(day)
    }
  }

  private func shifted(_ day: CalendarDay, from base: CalendarDay) -> CalendarDay {
    CalendarDay(clamping: Int64(day.dayNumber) - Int64(base.dayNumber) + Int64(new.dayNumber))
  }
}

extension RecurrenceSeries {
  /// The place some tasks later, in the same series or one of another task.
  fileprivate func later(by count: Int, of id: UUID) -> RecurrenceSeries {
    RecurrenceSeries(id: id, start: start, occurrence: occurrence, index: index + count)
  }
}
