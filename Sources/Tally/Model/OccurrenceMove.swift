import Foundation

/// Moves the dates of a task from one occurrence of its series to a later one.
///
/// One of the dates is the occurrence's own and comes exactly on the new day, wherever the user has moved it since: what
/// was put off once is not put off for ever. It is the planned day, else the due one, else the reminder's; but the due one
/// if that is still on the occurrence's day and the task was only planned for an earlier one.
///
/// The other dates keep their distance to the occurrence. One on or after the following occurrence has been moved with the
/// task, and keeps its distance to the date that is the occurrence's own. A reminder that was put off for this once counts as
/// the one that it replaced (``SnoozedReminder``); one that is beyond the task's days all the same, as older versions left
/// it, comes on the last one of them.
struct OccurrenceMove {
  let occurrence: CalendarDay
  /// The occurrence after it by the recurrence, whether or not that is the new one.
  let following: CalendarDay
  let newOccurrence: CalendarDay
  let timeZone: TimeZone

  /// The move between two places of a series; `nil` if nothing follows the first one.
  init?(from old: RecurrenceSeries, to new: RecurrenceSeries, by recurrence: Recurrence, in timeZone: TimeZone) {
    let following =
      switch recurrence {
      case .rule(let rule): rule.next(after: old.occurrence, from: old.start)
      case .afterCompletion(let interval): interval.day(after: old.occurrence)
      }
    guard let following else { return nil }
    (occurrence, newOccurrence) = (old.occurrence, new.occurrence)
    (self.following, self.timeZone) = (following, timeZone)
  }
}

extension OccurrenceMove {
  /// Moves the dates of the task whose occurrence it is; one without dates is planned for the new day.
  func apply(to task: inout TaskItem) {
    task.endSnooze()
    let (planned, due) = (task.scheduledDate, task.dueDay(in: timeZone))
    let isOfDue = due == occurrence && planned.map { $0 < occurrence } ?? true
    let reminder = task.reminderDate.map { CalendarDay(containing: $0, in: timeZone) }
    guard let own = isOfDue ? due : planned ?? due ?? reminder else { return task.scheduledDate = newOccurrence }
    func moved(_ day: CalendarDay) -> CalendarDay {
      day == own ? newOccurrence : self.moved(day, from: day < following ? occurrence : own)
    }
    let (newPlanned, newDue) = (planned.map(moved), due.map(moved))
    task.scheduledDate = newPlanned
    move(dueOf: &task, to: newDue)
    guard let reminder else { return }
    let last = [newPlanned, newDue].compactMap { $0 }.max() ?? .latest
    task.reminderDate = task.reminderDate?.moved(from: reminder, to: min(moved(reminder), last), in: timeZone)
  }

  /// Moves the dates of a part of that task, which keep their distance to the occurrence.
  func apply(toPart task: inout TaskItem) {
    task.endSnooze()
    task.scheduledDate = task.scheduledDate.map { moved($0, from: occurrence) }
    move(dueOf: &task, to: task.dueDay(in: timeZone).map { moved($0, from: occurrence) })
    task.reminderDate = task.reminderDate?.moved(from: occurrence, to: newOccurrence, in: timeZone)
  }

  private func move(dueOf task: inout TaskItem, to newDay: CalendarDay?) {
    guard let newDay, let day = task.dueDay(in: timeZone) else { return }
    if let due = task.dueDate {
      task.dueDate = due.moved(from: day, to: newDay, in: timeZone)
    } else {
      task.dueDay = newDay
    }
  }

  private func moved(_ day: CalendarDay, from base: CalendarDay) -> CalendarDay {
    CalendarDay(clamping: Int64(day.dayNumber) - Int64(base.dayNumber) + Int64(newOccurrence.dayNumber))
  }
}
