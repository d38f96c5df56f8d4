public import Foundation
public import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The upcoming reminders from an instant on, soonest first: the tasks that have them, never completed ones.
  ///
  /// ```swift
  /// let next = try store.read { try $0.pendingReminders(limit: 64) }
  /// ```
  ///
  /// - Parameters:
  ///   - instant: the first instant that counts; `nil` for now.
  ///   - limit: the greatest number of tasks; notification centres hold 64.
  /// - Returns: tasks with a `reminderDate`.
  /// - Throws: errors of the storage.
  /// - Complexity: the number of tasks returned.
  public func pendingReminders(from instant: Timestamp? = nil, limit: Int = .max) throws -> [TaskItem] {
    try reminders(from: instant ?? now, to: nil, limit: limit)
  }

  /// The reminders that have passed since an instant and whose tasks are still open, oldest first.
  ///
  /// - Parameters:
  ///   - instant: the first instant that counts, such as that of the last look.
  ///   - limit: the greatest number of tasks.
  /// - Returns: tasks with a `reminderDate` before now.
  /// - Throws: errors of the storage.
  /// - Complexity: the number of tasks returned.
  public func missedReminders(since instant: Timestamp, limit: Int = .max) throws -> [TaskItem] {
    try reminders(from: instant, to: now, limit: limit)
  }

  /// The reminders from an instant on, up to but not including another one.
  package func reminders(from start: Timestamp, to end: Timestamp?, limit: Int = .max) throws -> [TaskItem] {
    var ids: [UUID] = []
    guard limit > 0 else { return [] }
    try scan(
      tables.byReminder, from: .start(at: start.microsecondsSince1970),
      to: end.map { .start(at: $0.microsecondsSince1970) }
    ) { key in
      ids.append(key.id)
      return ids.count < limit
    }
    return try ids.map { try indexedTask($0) }
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Reminds of a task again later.
  ///
  /// Of a series this changes one task alone: the next one has the reminder that it would have had without the snooze.
  ///
  /// - Parameters:
  ///   - id: the task.
  ///   - instant: when to be reminded; replaces the task's reminder.
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`; `inconsistentTask` if the task is completed, as such tasks have no reminders.
  @discardableResult
  public mutating func snooze(_ id: UUID, until instant: Timestamp) throws -> TaskItem {
    let isRepeated = try isRepeated(id)
    return try update(id) { task in
      guard !task.isCompleted else {
        throw TallyError(
          .inconsistentTask, "The task is completed, so there is nothing to remind of", remedy: "Reopen it first")
      }
      if isRepeated { task.snooze(until: instant) } else { task.reminderDate = instant }
    }
  }

  /// Removes a task's reminder and changes nothing else; the next task of a series has its reminder again.
  ///
  /// To mark the task done instead, `complete` it: completed tasks have no reminders. To end the reminders of a series, set
  /// `reminderDate` to `nil` with ``update(_:keepingReminder:_:)``.
  ///
  /// - Returns: the task as stored.
  /// - Throws: `taskNotFound`.
  @discardableResult
  public mutating func dismissReminder(of id: UUID) throws -> TaskItem {
    let isRepeated = try isRepeated(id)
    return try update(id) { task in
      if isRepeated { task.snooze(until: nil) } else { task.reminderDate = nil }
    }
  }

  /// Whether a task or one above it repeats, so that completing makes another one like it.
  private func isRepeated(_ id: UUID) throws -> Bool {
    var next = try task(id)
    // The parents of a damaged store may form a circle.
    for _ in 0...SubtaskRules.maximumDepth {
      guard let task = next else { return false }
      if task.recurrence != nil { return true }
      next = try task.parentID.flatMap { try self.task($0) }
    }
    return false
  }
}

/// The content of a home-screen widget from an instant on: the tasks due on that day, and those overdue.
public struct TimelineEntry: Hashable, Sendable {
  /// The instant from which this is valid, until the next entry.
  public let date: Timestamp
  /// The tasks due inside the local day, in any state, in the order of views.
  public let dueToday: [TaskItem]
  /// The open tasks whose due date has passed, oldest first.
  public let overdue: [TaskItem]
}

/// The tasks of a timeline.
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
  /// The instants at which "due today" and "overdue" change, with the tasks to show from each on.
  ///
  /// The first entry is that of `start`. A task becomes overdue in the microsecond after its due date, and a day
  /// changes when it does in the zone.
  ///
  /// - Parameters:
  ///   - start: the first instant; `nil` for now.
  ///   - end: the last instant; `nil` for 24 hours after the first.
  ///   - scope: all tasks, or those of some lists.
  /// - Returns: at least one entry, in order; each differs from the one before.
  /// - Throws: `valueOutOfRange` if the end lies before the start.
  /// - Complexity: the overdue tasks and those due in the interval, for each change.
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

  /// The open tasks that are overdue or due by the end of the last day, and the completed ones due on one of the days.
  private func dueTasks(from start: Timestamp, to end: Timestamp) throws -> [TaskItem] {
    let first = CalendarDay(containing: start, in: calendar).start(in: calendar)
    let lastDay = CalendarDay(containing: end, in: calendar)
    let last = (try? lastDay.adding(days: 1))?.start(in: calendar) ?? .latest
    // A day may begin twice where clocks go back over midnight; tasks outside are filtered out by their day.
    let margin: Int64 = 3 * 3_600
    var tasks: [TaskItem] = []
    for isCompleted in [false, true] {
      let from = isCompleted ? first.adding(seconds: -margin).microsecondsSince1970 : .min
      let to = last.adding(seconds: margin).microsecondsSince1970
      let kind: DueKey.Kind = isCompleted ? .completed : .open
      try forEachKey(of: tables.byDue, from: DueKey(kind, .start(at: from)), to: DueKey(kind, .start(at: to))) { key in
        tasks.append(try indexedTask(key.id))
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
    open = tasks.filter { !$0.isCompleted }.compactMap { task in
      task.overdueStart(in: calendar.timeZone).map { (overdueFrom: $0, task: task) }
    }.sorted { left, right in
      left.overdueFrom == right.overdueFrom
        ? left.task.id.precedes(right.task.id) : left.overdueFrom < right.overdueFrom
    }
    let inOrder = tasks.compactMap { task in
      task.dueDay(in: calendar.timeZone).map { (day: $0, position: ViewKey(of: task, dueOn: $0), task: task) }
    }.sorted { $0.position < $1.position }
    byDay = Dictionary(grouping: inOrder, by: \.day).mapValues { $0.map(\.task) }
  }

  /// The instants at which something may change, in order.
  func changes(from start: Timestamp, to end: Timestamp) -> [Timestamp] {
    let (first, last) = (start.microsecondsSince1970, end.microsecondsSince1970)
    let margin = 3 * QuarterHour.microsecondsPerDay
    let (firstDay, lastDay) = (CalendarDay(containing: start, in: calendar), CalendarDay(containing: end, in: calendar))
    let offsets = ZoneOffsets(of: calendar.timeZone, in: first - margin..<last + margin)
    // A day that begins twice, where the clock goes back over midnight, is two pieces.
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

/// What asks for attention today: tasks that are late, due today, planned for today or left from yesterday, each once, and
/// how many others wait elsewhere.
///
/// ```swift
/// let agenda = try store.read { try $0.agenda() }
/// for task in agenda.overdue + agenda.dueToday + agenda.planned { print(task.title) }
/// ```
public struct Agenda: Hashable, Sendable {
  /// The open tasks that are late, oldest first, as in ``TaskView/overdue``.
  public let overdue: [TaskItem]
  /// The open tasks that are due later today, in the order of views.
  public let dueToday: [TaskItem]
  /// The other open tasks that are scheduled for today, in the order of views.
  public let planned: [TaskItem]
  /// The other open tasks that are scheduled for yesterday, in the order of views.
  public let yesterday: [TaskItem]
  /// The number of completed tasks that are scheduled for today or due today.
  public let completedCount: Int
  /// The number of other open tasks that are scheduled for days before yesterday.
  public let pastCount: Int
  /// The number of other open tasks in the inbox.
  public let inboxCount: Int
  /// The other open tasks whose reminder has passed, oldest first.
  public let missedReminders: [TaskItem]

  /// The tasks that are shown, each once.
  public var tasks: [TaskItem] { overdue + dueToday + planned + yesterday }
}

extension StoreTransaction where Base: ~Copyable {
  /// What asks for attention today.
  ///
  /// - Returns: the agenda for this transaction's clock and calendar.
  /// - Throws: what the storage throws.
  /// - Complexity: the tasks that it shows and counts.
  public func agenda() throws -> Agenda {
    let overdue = try view(.overdue).tasks
    var shown = Set(overdue.map(\.id))
    let isNew = { (task: TaskItem) in !task.isCompleted && shown.insert(task.id).inserted }
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
    let missedReminders = try reminders(from: .earliest, to: now).filter { !shown.contains($0.id) }
    return Agenda(
      overdue: overdue, dueToday: dueToday, planned: planned, yesterday: try yesterday.map { try indexedTask($0) },
      completedCount: scheduled.count(where: \.isCompleted), pastCount: pastCount,
      inboxCount: try openInboxCount(without: shown), missedReminders: missedReminders)
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
