import Foundation
import TallyEngine

/// The wall-clock times behind the instants of an open task of a series: times without a zone ("floating" in RFC 5545,
/// section 3.3.5).
///
/// The task's ``TaskItem/dueDate``, ``TaskItem/reminderDate`` and ``TaskItem/otherReminders`` are the instants at which
/// clocks show these times in the zone of the program that reads the task. A record keeps the instants of the zone in
/// which the task was made, which programs of earlier versions read; indexes have the wall-clock times. A time floats
/// as long as nobody gives the task another instant. A closed task keeps the instants that it showed when it was
/// closed, and floats again when it is reopened.
struct FloatingTimes: Hashable, Sendable {
  /// A wall-clock time, or several of them, with the instants that stand for it.
  struct Times<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The time on the clock, written as in UTC.
    let local: Value
    /// What the record has.
    let stored: Value
    /// What the task shows.
    var shown: Value

    /// The same times in a record.
    var recorded: Self { Self(local: local, stored: stored, shown: stored) }
    /// The same times of a closed task.
    var ended: Self { Self(local: local, stored: shown, shown: shown) }
  }

  var due: Times<Timestamp>?
  var reminder: Times<Timestamp>?
  /// The reminders besides the first one; those before a date of the task have no time of their own.
  var reminders: Times<ReminderSet>?

  var isEmpty: Bool { due == nil && reminder == nil && reminders == nil }

  /// The times as a record has them.
  var recorded: FloatingTimes {
    FloatingTimes(due: due?.recorded, reminder: reminder?.recorded, reminders: reminders?.recorded)
  }

  /// The times of a task that is closed: it keeps the instants that it shows.
  var ended: FloatingTimes { FloatingTimes(due: due?.ended, reminder: reminder?.ended, reminders: reminders?.ended) }
}

/// A value that takes no part in comparisons: tasks that show the same are equal.
struct Uncompared<Value: Sendable>: Hashable, Sendable {
  var value: Value

  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

extension TaskItem {
  /// The wall-clock times that still stand for what the task shows; `nil` for none.
  var floating: FloatingTimes? {
    get {
      // Nearly all tasks have none.
      guard let box = extrasBox, var times = box.extras.floating.value else { return nil }
      if times.due?.shown != dueDate { times.due = nil }
      if times.reminder?.shown != reminderDate { times.reminder = nil }
      if times.reminders?.shown != otherReminders { times.reminders = nil }
      return times.isEmpty ? nil : times
    }
    set { extras.floating.value = newValue.flatMap { $0.isEmpty ? nil : $0 } }
  }

  /// The wall-clock time after which the open task is overdue, if that time floats.
  var floatingOverdue: Timestamp? {
    guard isOpen, let floating, dueDay == nil else { return nil }
    return dueDate == nil ? floating.reminder?.local : floating.due?.local
  }

  /// The task with the instants of its wall-clock times in a zone.
  func shown(in zone: TimeZone) -> TaskItem {
    guard isOpen, var times = floating else { return self }
    var task = self
    if let due = times.due { task.dueDate = Timestamp(wallClock: due.local, in: zone) }
    if let reminder = times.reminder { task.reminderDate = Timestamp(wallClock: reminder.local, in: zone) }
    if let reminders = times.reminders {
      task.otherReminders = reminders.local.movingInstants { Timestamp(wallClock: $0, in: zone) }
    }
    times.due?.shown = task.dueDate ?? .earliest
    times.reminder?.shown = task.reminderDate ?? .earliest
    times.reminders?.shown = task.otherReminders
    task.floating = times
    return task
  }

  /// The task as its record has it, whatever the zone of the reader.
  package var stored: TaskItem {
    guard extrasBox?.extras.floating.value != nil else { return self }
    var (task, times) = (self, floating)
    if isClosed {
      times = times?.ended
    } else {
      if let due = times?.due { task.dueDate = due.stored }
      if let reminder = times?.reminder { task.reminderDate = reminder.stored }
      if let reminders = times?.reminders { task.otherReminders = reminders.stored }
      times = times?.recorded
    }
    task.floating = times
    return task
  }

  /// Lets the instants float that stand for the times of another task, which has the same dates without a zone.
  mutating func float(at local: TaskItem) {
    floating = FloatingTimes(
      due: .init(local.dueDate, for: dueDate), reminder: .init(local.reminderDate, for: reminderDate),
      reminders: .init(local.otherReminders, for: otherReminders))
  }

  /// Leaves the instants as they are, whatever clocks show.
  mutating func endFloating() {
    if extrasBox?.extras.floating.value != nil { extras.floating.value = nil }
  }

  /// Lets the instants that equal those of another task float as they do there.
  mutating func float(as other: TaskItem) {
    guard floating != nil || other.floating != nil else { return }
    var (times, others) = (floating ?? FloatingTimes(), other.floating)
    if dueDate == other.dueDate { times.due = others?.due?.keeping(times.due) }
    if reminderDate == other.reminderDate { times.reminder = others?.reminder?.keeping(times.reminder) }
    if otherReminders == other.otherReminders { times.reminders = others?.reminders?.keeping(times.reminders) }
    floating = times
  }
}

extension FloatingTimes.Times where Value == ReminderSet {
  /// Creates the times of reminders; `nil` unless one is at an instant.
  init?(_ local: ReminderSet?, for stored: ReminderSet) {
    guard let local, local.contains(where: { $0.instant != nil }) else { return nil }
    self.init(local: local, stored: stored, shown: stored)
  }
}

extension FloatingTimes.Times {
  /// Creates the times for what a task has; `nil` without them.
  init?(_ local: Value?, for stored: Value?) {
    guard let local, let stored else { return nil }
    self.init(local: local, stored: stored, shown: stored)
  }

  /// The same time with the instant that a record has already.
  fileprivate func keeping(_ old: Self?) -> Self {
    Self(local: local, stored: old?.stored ?? stored, shown: shown)
  }
}

extension TaskExtras {
  /// Sets the instants behind wall-clock times that were read from a record.
  mutating func anchorFloating(due: Timestamp?, reminder: Timestamp?) {
    guard var times = floating.value else { return }
    times.due = .init(times.due?.local, for: due)
    times.reminder = .init(times.reminder?.local, for: reminder)
    times.reminders = .init(times.reminders?.local, for: otherReminders)
    floating.value = times.isEmpty ? nil : times
  }
}
