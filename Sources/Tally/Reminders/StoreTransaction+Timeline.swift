import Foundation

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
