public import Foundation

/// What becomes of the reminder of a task that gets another day, due day or due time.
///
/// A reminder on the planned day moves as far as that day does. One on the day on which the task is due moves as far as
/// the due day or the due time does. Distances are those of clocks on the wall: 9:00 stays 9:00 over a clock change. A
/// reminder on any other day stays, and so does one whose day is removed; but where a series was snoozed to a day
/// before the new one, the snooze ends.
public enum ReminderMove: Hashable, Sendable {
  /// The reminder is now at this instant.
  case moved(to: Timestamp)
  /// The reminder stays at this instant, which is neither on the day of the task nor on that on which it is due.
  case stayed(at: Timestamp)
}

extension TaskItem {
  /// What became of the reminder when the task got other days, so that an application can say it.
  ///
  /// ```swift
  /// let (before, after) = (tasks[0], tasks[1])
  /// switch after.reminderMove(from: before, in: .current) {
  /// case .moved(let instant): print("Reminder moved to", instant)
  /// case .stayed(let instant): print("Reminder stays at", instant)
  /// case nil: break
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - old: The task before the change.
  ///   - timeZone: The time zone of the person.
  /// - Returns: What became of it; `nil` if no day changed, the task is completed, it had or has no reminder, or
  ///   the reminder stayed and is on one of the task's new days.
  public func reminderMove(from old: TaskItem, in timeZone: TimeZone) -> ReminderMove? {
    guard !isCompleted, hasOtherDays(than: old), let former = old.reminderDate, let reminder = reminderDate else {
      return nil
    }
    if reminder != former { return .moved(to: reminder) }
    guard scheduledDate != old.scheduledDate || hasOtherDue(than: old, in: timeZone) else { return nil }
    let day = CalendarDay(containing: reminder, in: timeZone)
    return day == scheduledDate || day == dueDay(in: timeZone) ? nil : .stayed(at: reminder)
  }

  /// Moves the reminder, and the one that a snooze replaced, along with the days and the due time that have changed.
  ///
  /// A snooze ends where the task moves beyond the day to which it put the reminder off.
  mutating func moveReminder(from old: TaskItem, in timeZone: TimeZone) {
    guard hasOtherDays(than: old) else { return }
    let snooze = SnoozedReminder(of: self)
    if let reminder = reminderDate { reminderDate = moved(reminder, from: old, in: timeZone) }
    guard let snooze else { return }
    let original = snooze.original.map { moved($0, from: old, in: timeZone) }
    if let original, original != snooze.original, let current = reminderDate, current == snooze.current,
      CalendarDay(containing: current, in: timeZone) < CalendarDay(containing: original, in: timeZone)
    {
      // It was put off to a day before the new one, which would be left without a reminder.
      reminderDate = original
    }
    SnoozedReminder(original: original, current: reminderDate).store(in: &self)
  }

  /// Whether the day or the time by which the task is due is another one; a day that gets a time in it is the same.
  private func hasOtherDue(than old: TaskItem, in timeZone: TimeZone) -> Bool {
    if let oldDue = old.dueDate, let newDue = dueDate { return oldDue != newDue }
    return dueDay(in: timeZone) != old.dueDay(in: timeZone)
  }

  private func hasOtherDays(than old: TaskItem) -> Bool {
    scheduledDate != old.scheduledDate || dueDate != old.dueDate || dueDay != old.dueDay
  }

  /// An instant at the same distance from the day or the due time that it was with.
  private func moved(_ instant: Timestamp, from old: TaskItem, in timeZone: TimeZone) -> Timestamp {
    let day = CalendarDay(containing: instant, in: timeZone)
    if old.scheduledDate == day, let newDay = scheduledDate, newDay != day {
      return instant.moved(from: day, to: newDay, in: timeZone)
    }
    guard old.dueDay(in: timeZone) == day, let newDay = dueDay(in: timeZone) else { return instant }
    guard let oldDue = old.dueDate, let newDue = dueDate else {
      return newDay == day ? instant : instant.moved(from: day, to: newDay, in: timeZone)
    }
    return instant.moved(byClockFrom: oldDue, to: newDue, in: timeZone)
  }
}
