public import Foundation
public import LMDB
public import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// Returns the open tasks with a reminder from an instant on, soonest first.
  ///
  /// ```swift
  /// let next = try store.read { try $0.pendingReminders(limit: 64) }
  /// ```
  ///
  /// - Parameters:
  ///   - instant: The first instant to include; `nil` for now.
  ///   - limit: The maximum number of tasks; notification centres hold 64.
  /// - Returns: Each task once, in the order of its first reminder from that instant on.
  /// - Throws: Errors of the storage.
  /// - Complexity: The number of tasks returned.
  public func pendingReminders(from instant: Timestamp? = nil, limit: Int = .max) throws -> [TaskItem] {
    try reminders(from: instant ?? now, to: nil, limit: limit)
  }

  /// Returns the reminders of open tasks from an instant on, soonest first; a task may have several.
  ///
  /// ```swift
  /// let next = try store.read { try $0.scheduledReminders(limit: 64) }
  /// ```
  ///
  /// - Parameters:
  ///   - instant: The first instant to include; `nil` for now.
  ///   - end: The end, not included; `nil` for all later ones.
  ///   - limit: The maximum number of reminders.
  /// - Returns: The reminders. Those before a due day or a planned day are in this transaction's time zone.
  /// - Throws: Errors of the storage.
  /// - Complexity: The number of reminders returned, and of relative ones within two days of the span.
  public func scheduledReminders(
    from instant: Timestamp? = nil, to end: Timestamp? = nil, limit: Int = .max
  ) throws -> [ScheduledReminder] {
    guard limit > 0 else { return [] }
    let start = instant ?? now
    // Only the places of relative reminders in the index depend on the time zone.
    let shift = try mayHaveDependencies ? ByReminder.mostShift : 0
    let first = start.adding(microseconds: -shift)
    var bound = end.map { $0.adding(microseconds: shift) }
    var (found, seen): ([ScheduledReminder], Set<UUID>) = ([], [])
    try scan(tables.byReminder, from: .start(at: first.microsecondsSince1970), to: nil) { key in
      if let bound, key.microseconds >= bound.microsecondsSince1970 { return false }
      guard shift == 0 || seen.insert(key.id).inserted else { return true }
      let task = try indexedTask(key.id)
      for date in task.reminderInstants(in: calendar.timeZone) where date >= start && end.map({ date < $0 }) ?? true {
        found.append(ScheduledReminder(date: date, task: task))
      }
      if found.count >= limit {
        guard shift > 0 else { return false }
        found = Array(found.sorted().prefix(limit))
        let last = found[limit - 1].date.adding(microseconds: shift + 1)
        bound = bound.map { min($0, last) } ?? last
      }
      return true
    }
    return shift == 0 ? found : Array(found.sorted().prefix(limit))
  }

  /// Returns the open tasks whose reminders have passed since an instant, oldest first.
  ///
  /// - Parameters:
  ///   - instant: The first instant to include, such as that of the last check.
  ///   - limit: The maximum number of tasks.
  /// - Returns: Tasks with a `reminderDate` before now.
  /// - Throws: Errors of the storage.
  /// - Complexity: The number of tasks returned.
  public func missedReminders(since instant: Timestamp, limit: Int = .max) throws -> [TaskItem] {
    try reminders(from: instant, to: now, limit: limit)
  }

  /// The tasks with reminders from one instant up to, but not including, another; each once.
  private func reminders(from start: Timestamp, to end: Timestamp?, limit: Int = .max) throws -> [TaskItem] {
    // The limit counts tasks, which may have several reminders.
    let perTask = try mayHaveDependencies ? ReminderSet.maximumCount + 1 : 1
    let (most, isTooLarge) = limit.multipliedReportingOverflow(by: perTask)
    var seen: Set<UUID> = []
    let reminders = try scheduledReminders(from: start, to: end, limit: isTooLarge ? .max : most)
    return Array(reminders.map(\.task).filter { seen.insert($0.id).inserted }.prefix(max(0, limit)))
  }
}

/// A reminder of an open task, at an instant.
public struct ScheduledReminder: Hashable, Sendable, Comparable {
  /// When to remind.
  public let date: Timestamp
  /// The task, which may have other reminders, too.
  public let task: TaskItem

  /// Whether the first one comes earlier, or at the same instant and of a task with a lower id.
  public static func < (left: ScheduledReminder, right: ScheduledReminder) -> Bool {
    left.date == right.date ? left.task.id.precedes(right.task.id) : left.date < right.date
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Snoozes a task's reminder until an instant.
  ///
  /// In a series, this affects only one task: the next one has the reminder that it would have had without the snooze.
  ///
  /// - Parameters:
  ///   - id: The id of the task.
  ///   - instant: The instant of the new reminder, which replaces those that have passed, or else the next one.
  /// - Returns: The task as stored.
  /// - Throws: `taskNotFound`; `inconsistentTask` if the task is closed, since such tasks have no reminders.
  @discardableResult
  public mutating func snooze(_ id: UUID, until instant: Timestamp) throws -> TaskItem {
    let isRepeated = try isRepeated(id)
    let now = now
    let timeZone = calendar.timeZone
    return try update(id) { task in
      guard task.isOpen else {
        throw TallyError(
          .inconsistentTask, "The task is \(task.state.name), so there is nothing to remind of",
          remedy: "Reopen it first")
      }
      task.snooze(until: instant, at: now, in: timeZone, onlyOnce: isRepeated)
    }
  }

  /// Removes a task's reminders that have passed, or else the next one, and changes nothing else; the next task of a
  /// series has its reminders again.
  ///
  /// To mark the task as done instead, `complete` it: completed tasks have no reminders. To end the reminders
  /// of a series, set `reminderDate` to `nil` with ``update(_:keepingReminder:_:)``.
  ///
  /// - Returns: The task as stored.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func dismissReminder(of id: UUID) throws -> TaskItem {
    let isRepeated = try isRepeated(id)
    let (now, timeZone) = (now, calendar.timeZone)
    return try update(id) { $0.snooze(until: nil, at: now, in: timeZone, onlyOnce: isRepeated) }
  }

  /// Whether the task or an ancestor repeats, so that completing that one creates a copy of the task.
  private func isRepeated(_ id: UUID) throws -> Bool {
    var next = try task(id)
    // The parents in a damaged store may form a cycle.
    for _ in 0...SubtaskRules.maximumDepth {
      guard let task = next else { return false }
      if task.recurrence != nil { return true }
      next = try task.parentID.flatMap { try self.task($0) }
    }
    return false
  }
}

/// The content of a home-screen widget from an instant on: the tasks due on that day, and the overdue tasks.
public struct TimelineEntry: Hashable, Sendable {
  /// The instant from which the entry is valid, until that of the next entry.
  public let date: Timestamp
  /// The tasks due within the local day, in any state, in the order of views.
  public let dueToday: [TaskItem]
  /// The open tasks whose due date has passed, oldest first.
  public let overdue: [TaskItem]
}

/// The tasks that a timeline includes.
public enum TimelineScope: Hashable, Sendable {
  /// All tasks.
  case all
  /// The tasks of some lists.
  case lists(Set<UUID>)

  func contains(_ task: TaskItem) -> Bool {
    switch self {
    case .all: true
    case .lists(let ids): task.listID.map(ids.contains) ?? false
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Returns the instants at which the due and overdue tasks change, with the tasks to show from each instant on.
  ///
  /// The first entry is at `start`. A task becomes overdue one microsecond after its due date, and the day
  /// changes at its local start in the time zone.
  ///
  /// - Parameters:
  ///   - start: The first instant; `nil` for now.
  ///   - end: The last instant; `nil` for 24 hours after the first.
  ///   - scope: All tasks, or those of some lists.
  /// - Returns: At least one entry, in order; each differs from the previous one.
  /// - Throws: `valueOutOfRange` if the end is before the start.
  /// - Complexity: The number of overdue tasks and tasks due in the interval, for each change.
  public func timeline(
    from start: Timestamp? = nil, to end: Timestamp? = nil, for scope: TimelineScope = .all
  ) throws -> [TimelineEntry] {
    let start = start ?? now
    let end = end ?? start.adding(seconds: 86_400)
    guard start <= end else {
      throw TallyError(.valueOutOfRange, "The timeline ends before it begins", remedy: "Give an end after the start")
    }
    let tasks = TimelineTasks(try dueTasks(from: start, to: end).filter(scope.contains), in: calendar)
    var entries: [TimelineEntry] = []
    for date in tasks.changes(from: start, to: end) {
      let entry = tasks.entry(at: date)
      let isNew = entries.last.map { $0.dueToday != entry.dueToday || $0.overdue != entry.overdue } ?? true
      if isNew { entries.append(entry) }
    }
    return entries
  }

  /// The open tasks that are overdue or due by the end of the last day, and the completed tasks due on one of the days.
  private func dueTasks(from start: Timestamp, to end: Timestamp) throws -> [TaskItem] {
    let first = CalendarDay(containing: start, in: calendar).start(in: calendar)
    let lastDay = CalendarDay(containing: end, in: calendar)
    let last = (try? lastDay.adding(days: 1))?.start(in: calendar) ?? .latest
    // A day may begin twice if clocks go back over midnight; tasks of other days are filtered out later.
    let margin: Int64 = 3 * 3_600
    var tasks: [TaskItem] = []
    for isCompleted in [false, true] {
      let from = isCompleted ? first.adding(seconds: -margin).microsecondsSince1970 : .min
      let to = last.adding(seconds: margin).microsecondsSince1970
      let kind: DueKey.Kind = isCompleted ? .completed : .open
      try forEachKey(of: tables.byDue, from: DueKey(kind, .start(at: from)), to: DueKey(kind, .start(at: to))) { key in
        tasks.append(try indexedTask(key.id))
      }
      if !isCompleted {
        try forEachFloating(from: .min, to: to + QuarterHour.microsecondsPerDay) { id, _, due in
          if due.microsecondsSince1970 < to { tasks.append(try indexedTask(id)) }
        }
      }
      let firstDay = isCompleted ? CalendarDay(containing: start, in: calendar).dayNumber : .min
      try forEachKey(
        of: tables.byDue, from: .start(of: firstDay, isCompleted: isCompleted),
        to: .start(of: lastDay.dayNumber + 1, isCompleted: isCompleted)
      ) { key in tasks.append(try indexedTask(key.id)) }
    }
    return tasks
  }
}

/// The tasks of a timeline, and the days on which they are due.
private struct TimelineTasks {
  private let calendar: Calendar
  /// The open tasks, in the order in which they become overdue.
  private let open: [(overdueFrom: Timestamp, task: TaskItem)]
  private let byDay: [CalendarDay: [TaskItem]]

  init(_ tasks: [TaskItem], in calendar: Calendar) {
    self.calendar = calendar
    open = tasks.filter(\.isOpen).compactMap { task in
      guard var start = task.overdueStart(in: calendar.timeZone), task.start != .someday else { return nil }
      if let day = task.start?.day { start = max(start, day.start(in: calendar)) }
      return (overdueFrom: start, task: task)
    }.sorted { left, right in
      left.overdueFrom == right.overdueFrom
        ? left.task.id.precedes(right.task.id) : left.overdueFrom < right.overdueFrom
    }
    let inOrder = tasks.compactMap { task in
      task.dueDay(in: calendar.timeZone).map { (day: $0, position: ViewKey(of: task, dueOn: $0), task: task) }
    }.filter { !$0.task.isWaiting(on: $0.day) }.sorted { $0.position < $1.position }
    byDay = Dictionary(grouping: inOrder, by: \.day).mapValues { $0.map(\.task) }
  }

  /// The instants at which something may change, in ascending order.
  func changes(from start: Timestamp, to end: Timestamp) -> [Timestamp] {
    let (first, last) = (start.microsecondsSince1970, end.microsecondsSince1970)
    let margin = 3 * QuarterHour.microsecondsPerDay
    let (firstDay, lastDay) = (CalendarDay(containing: start, in: calendar), CalendarDay(containing: end, in: calendar))
    let offsets = ZoneOffsets(of: calendar.timeZone, in: first - margin..<last + margin)
    // A day that begins twice, because the clock goes back over midnight, has two pieces.
    let pieces = LocalDays(firstDay.dayNumber...lastDay.dayNumber, offsets: offsets, dayStartInMicroseconds: 0).pieces
    let instants = [first] + pieces.map(\.start) + open.map(\.overdueFrom.microsecondsSince1970)
    return Set(instants).filter { $0 >= first && $0 <= last }.sorted().map { Timestamp(clamping: $0) }
  }

  func entry(at date: Timestamp) -> TimelineEntry {
    TimelineEntry(
      date: date, dueToday: byDay[CalendarDay(containing: date, in: calendar)] ?? [],
      overdue: open.prefix { $0.overdueFrom <= date }.map(\.task))
  }
}

/// The tasks that need attention today (overdue, due today, planned for today or left from yesterday, each
/// listed once) and the number of others waiting elsewhere.
///
/// ```swift
/// let agenda = try store.read { try $0.agenda() }
/// for task in agenda.overdue + agenda.dueToday + agenda.planned { print(task.title) }
/// ```
public struct Agenda: Hashable, Sendable {
  /// The overdue open tasks, oldest first, as in ``TaskView/overdue``.
  public let overdue: [TaskItem]
  /// The open tasks due later today, in the order of views.
  public let dueToday: [TaskItem]
  /// The other open tasks scheduled for today, in the order of views.
  public let planned: [TaskItem]
  /// The other open tasks scheduled for yesterday, in the order of views.
  public let yesterday: [TaskItem]
  /// The number of completed tasks scheduled for today or due today.
  public let completedCount: Int
  /// The number of other open tasks scheduled for days before yesterday.
  public let pastCount: Int
  /// The number of other open tasks in the inbox.
  public let inboxCount: Int
  /// The other open tasks whose reminder has passed, oldest first; also of tasks that wait for their start.
  public let missedReminders: [TaskItem]
  /// The number of open tasks that wait for their start, as in ``TaskView/waiting``.
  public let waitingCount: Int

  /// The listed tasks, each once.
  public var tasks: [TaskItem] { overdue + dueToday + planned + yesterday }
}

extension StoreTransaction where Base: ~Copyable {
  /// Returns the tasks that need attention today.
  ///
  /// - Returns: The agenda for this transaction's clock and calendar.
  /// - Throws: Errors of the storage.
  /// - Complexity: The number of tasks that it lists and counts.
  public func agenda() throws -> Agenda {
    let overdue = try view(.overdue).tasks
    var shown = Set(overdue.map(\.id))
    let isNew = { (task: TaskItem) in task.isOpen && shown.insert(task.id).inserted }
    let dueToday = try view(.due(on: today)).tasks.filter(isNew)
    let scheduled = try view(.today).tasks
    let planned = scheduled.filter(isNew)
    let dayBefore = try? today.adding(days: -1)
    var (yesterday, pastCount): ([UUID], Int) = ([], 0)
    _ = try scan(.past, after: nil) { id, day in
      if shown.contains(id) { return true }
      if day == dayBefore { yesterday.append(id) } else { pastCount += 1 }
      return true
    }
    shown.formUnion(yesterday)
    let missedReminders = try missedReminders(since: .earliest).filter { !shown.contains($0.id) }
    let waiting = try waitingTasks(on: today)
    return Agenda(
      overdue: overdue, dueToday: dueToday, planned: planned, yesterday: try yesterday.map { try indexedTask($0) },
      completedCount: scheduled.count(where: \.isCompleted), pastCount: pastCount,
      inboxCount: try openInboxCount(without: showsWaiting ? shown : shown.union(waiting)),
      missedReminders: missedReminders, waitingCount: waiting.count)
  }

  private func openInboxCount(without shown: Set<UUID>) throws -> Int {
    var count = 0
    try forEachKey(
      of: tables.byPlace, from: PlaceKey(listID: nil, rankRawValue: 0, order: .lowest),
      to: PlaceKey(listID: nil, rankRawValue: StateRank.completed.rawValue, order: .lowest)
    ) { key in
      if !shown.contains(key.id) { count += 1 }
    }
    return count
  }
}
