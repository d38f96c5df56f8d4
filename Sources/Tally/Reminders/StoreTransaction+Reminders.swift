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
