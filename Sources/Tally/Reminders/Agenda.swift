import Foundation
import LMDB

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
