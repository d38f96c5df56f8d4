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
  /// Gives a task that repeats its place in a series and its first day; refuses a rule that has ended.
  static func beginSeries(
    of task: inout TaskItem, replacing old: TaskItem?, now: Timestamp, timeZone: TimeZone
  ) -> TallyError.Code? {
    let today = CalendarDay(containing: now, in: timeZone)
    let isNewRule = task.recurrence != old?.recurrence
    if isNewRule, !task.state.isClosed, case .rule(let rule)? = task.recurrence {
      if case .until(let last) = rule.end, last < today { return .invalidRecurrence }
      if !hasDay(task) { task.scheduledDate = firstDay(of: rule, today) }
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
    let instant = task.dueDate ?? task.reminderDate ?? task.createdAt
    let first = task.scheduledDate ?? task.dueDay ?? CalendarDay(containing: instant, in: timeZone)
    task.series = RecurrenceSeries(startingWith: task.id, on: first)
  }

  private static func hasDay(_ task: TaskItem) -> Bool {
    task.scheduledDate != nil || task.dueDay != nil || task.dueDate != nil || task.reminderDate != nil
  }

  /// Creates the next task of a series when one is closed, and deletes it when that one is reopened.
  mutating func followSeries(of task: TaskItem, replacing old: TaskItem, now: Timestamp, timeZone: TimeZone) {
    if task.state.isClosed, !old.state.isClosed { addSuccessor(of: task, now: now, timeZone) }
    if old.state.isClosed, !task.state.isClosed { deleteSuccessor(of: old, now: now, timeZone) }
  }

  private mutating func addSuccessor(of task: TaskItem, now: Timestamp, _ timeZone: TimeZone) {
    guard let recurrence = task.recurrence, let completed = (task.completedAt ?? task.cancelledAt)?.instant,
      task.parentID.map({ tasks[$0]?.state.isClosed ?? false }) != true,
      let next = task.series?.next(
        by: recurrence, completedOn: CalendarDay(containing: completed, in: timeZone),
        today: CalendarDay(containing: now, in: timeZone)),
      tasks[next.taskID] == nil
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
  }

  private mutating func deleteSuccessor(of task: TaskItem, now: Timestamp, _ timeZone: TimeZone) {
    guard let series = task.series, let successor = tasks[series.later(by: 1, of: series.id).taskID],
      let place = successor.series
    else { return }
    let copies = copies(of: task, at: place, now: now, timeZone).map(\.copy)
    let branch = [successor] + branches(of: successor.id)
    let isUntouched = branch.allSatisfy { task in
      copies.contains { $0.id == task.id && (isAsCreated(task) || Self.isSame(task, as: $0)) }
    }
    if isUntouched { for task in branch { remove(task.id) } }
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

  private func branches(of id: UUID) -> [TaskItem] {
    subtasks(of: id).flatMap { [$0] + branches(of: $0.id) }
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
    guard let dates = MovedDates(of: task, to: place, now: now, timeZone) else { return [] }
    var copy = Self.open(task, id: place.taskID, at: now)
    copy.series = place
    dates.move(&copy)
    return [(task, copy)] + copies(ofPartsOf: task.id, into: place.taskID, at: place, dates)
  }

  private func copies(
    ofPartsOf id: UUID, into newID: UUID, at place: RecurrenceSeries, _ dates: MovedDates
  ) -> [(origin: TaskItem, copy: TaskItem)] {
    let parts = subtasks(of: id)
    // Of a series among the parts only the latest task.
    let latest = parts.filter { part in
      !parts.contains {
        guard let series = part.series, let other = $0.series else { return false }
        return other.id == series.id && other.index > series.index
      }
    }
    return latest.flatMap { part in
      var copy = Self.open(part, id: place.later(by: 0, of: part.id).taskID, at: dates.now)
      copy.parentID = newID
      dates.movePart(&copy)
      copy.series = nil
      Self.beginSeries(of: &copy, replacing: nil, dates.timeZone)
      return [(part, copy)] + copies(ofPartsOf: part.id, into: copy.id, at: place, dates)
    }
  }

  private static func open(_ task: TaskItem, id: UUID, at now: Timestamp) -> TaskItem {
    TaskItem(
      id: id, title: task.title, notes: task.notes, scheduledDate: task.scheduledDate, dueDate: task.dueDate,
      reminderDate: task.reminderDate, listID: task.listID, sortOrder: task.sortOrder, createdAt: now,
      dueDay: task.dueDay, priority: task.priority, tags: task.tags, parentID: task.parentID,
      recurrence: task.recurrence, series: task.series, attributes: task.attributes)
  }
}

/// The dates of a task at a later occurrence: as the documentation of recurrence says, written down a second time.
private struct MovedDates {
  let now: Timestamp
  let timeZone: TimeZone
  private let old: CalendarDay
  private let new: CalendarDay
  /// The occurrence that follows the old one by the recurrence.
  private let following: CalendarDay

  init?(of task: TaskItem, to place: RecurrenceSeries, now: Timestamp, _ timeZone: TimeZone) {
    guard let series = task.series, let recurrence = task.recurrence,
      let following = series.next(by: recurrence, completedOn: series.occurrence, today: series.occurrence)
    else { return nil }
    (self.now, self.timeZone) = (now, timeZone)
    (old, new, self.following) = (series.occurrence, place.occurrence, following.occurrence)
  }

  func move(_ task: inout TaskItem) {
    ReminderModel.forget(&task)
    let planned = task.scheduledDate
    let due = task.dueDay ?? task.dueDate.map { CalendarDay(containing: $0, in: timeZone) }
    let reminder = task.reminderDate.map { CalendarDay(containing: $0, in: timeZone) }
    var own = planned ?? due ?? reminder
    if let due, due == old, planned == nil || planned.map({ $0 < old }) ?? false { own = due }
    guard let own else { return task.scheduledDate = new }
    func moved(_ day: CalendarDay) -> CalendarDay {
      if day == own { return new }
      return shifted(day, from: day < following ? old : own)
    }
    task.scheduledDate = planned.map(moved)
    moveDue(of: &task, by: moved)
    guard let reminder else { return }
    let days = [planned, due].compactMap { $0.map(moved) }
    let day = min(moved(reminder), days.max() ?? .latest)
    task.reminderDate = task.reminderDate?.moved(from: reminder, to: day, in: timeZone)
  }

  func movePart(_ task: inout TaskItem) {
    ReminderModel.forget(&task)
    task.scheduledDate = task.scheduledDate.map { shifted($0, from: old) }
    moveDue(of: &task) { shifted($0, from: old) }
    task.reminderDate = task.reminderDate?.moved(from: old, to: new, in: timeZone)
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
