public import Foundation
public import TallyEngine

/// The reminder that an occurrence of a series had before it was snoozed or dismissed for this occurrence only.
///
/// It is stored in an attribute of the task: the series' reminder, a slash, and the reminder that replaced it.
/// Either may be empty. The next occurrence gets the series' reminder.
///
/// The attribute is valid only while the task has the second reminder. If any program sets another reminder, or
/// copies the attribute to a task with another reminder, it is ignored.
struct SnoozedReminder: Hashable, Sendable {
  /// The name of the attribute, which is stored and synchronised: do not change it.
  static let attributeName = "tally.snoozed"

  /// The reminder that the series gives; `nil` if it gives none.
  let original: Timestamp?
  /// The reminder that replaced it; `nil` if it was dismissed.
  let current: Timestamp?
}

extension SnoozedReminder {
  /// Reads the snooze of a task; `nil` if the task has the series' reminder.
  init?(of task: TaskItem) {
    guard task.extrasBox != nil, case .text(let text)? = task.attributes[Self.attributeName] else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let instants = parts.map { try? Timestamp(iso8601: String($0)) }
    guard parts.count == 2, zip(parts, instants).allSatisfy({ $0.isEmpty || $1 != nil }),
      instants[1] == task.reminderDate
    else { return nil }
    self.init(original: instants[0], current: instants[1])
  }

  /// Stores the snooze in a task; skipped if the attributes have no room for it, since snoozing must always work.
  func store(in task: inout TaskItem) {
    let attributes = task.attributes
    guard original != current else { return task.attributes[Self.attributeName] = nil }
    task.attributes[Self.attributeName] = .text([original, current].map { $0?.iso8601 ?? "" }.joined(separator: "/"))
    if (try? AttributeValue.validate(task.attributes)) == nil { task.attributes = attributes }
  }
}

/// The same for the reminders besides that of ``TaskItem/reminderDate``, in an attribute of its own.
struct SnoozedOtherReminders: Hashable, Sendable {
  /// The name of the attribute, which is stored and synchronised: do not change it.
  static let attributeName = "tally.snoozed.others"

  let original: ReminderSet
  let current: ReminderSet
}

extension SnoozedOtherReminders {
  /// Reads the snooze of a task; `nil` if the task has the series' reminders.
  init?(of task: TaskItem) {
    guard task.extrasBox != nil, case .text(let text)? = task.attributes[Self.attributeName] else { return nil }
    let sets = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
      let texts = part.split(separator: ";")
      let reminders = texts.compactMap { try? Reminder(text: String($0)) }
      return reminders.count == texts.count ? ReminderSet(reminders) : nil
    }
    guard sets.count == 2, let original = sets[0], sets[1] == task.otherReminders else { return nil }
    self.init(original: original, current: task.otherReminders)
  }

  /// Stores the snooze in a task, as ``SnoozedReminder/store(in:)`` does.
  func store(in task: inout TaskItem) {
    let attributes = task.attributes
    guard original != current else { return task.attributes[Self.attributeName] = nil }
    let texts = [original, current].map { $0.map(\.text).joined(separator: ";") }
    task.attributes[Self.attributeName] = .text(texts.joined(separator: "/"))
    if (try? AttributeValue.validate(task.attributes)) == nil { task.attributes = attributes }
  }
}

extension TaskItem {
  /// Whether a reminder of a repeating task was snoozed or dismissed once, so that the next task gets a different one.
  ///
  /// A sub-task counts in any case, as the task alone does not know whether its parent repeats.
  public var isReminderSnoozed: Bool {
    (recurrence != nil || parentID != nil)
      && (SnoozedReminder(of: self) != nil || SnoozedOtherReminders(of: self) != nil)
  }

  /// The attributes that people and applications have set: all but those that record a snooze.
  package var ownAttributes: [String: AttributeValue] {
    attributes.filter { $0.key != SnoozedReminder.attributeName && $0.key != SnoozedOtherReminders.attributeName }
  }

  /// Replaces the reminders that have passed, or else the next one.
  ///
  /// - Parameters:
  ///   - instant: The new reminder; `nil` for none.
  ///   - now: The present.
  ///   - timeZone: The time zone of the person.
  ///   - isOnce: Whether the next occurrence gets the reminders of the series.
  mutating func snooze(until instant: Timestamp?, at now: Timestamp, in timeZone: TimeZone, onlyOnce isOnce: Bool) {
    let (oldDate, oldOthers) = (reminderDate, otherReminders)
    let (snooze, others) = (SnoozedReminder(of: self), SnoozedOtherReminders(of: self))
    replaceReminders(with: instant, at: now, in: timeZone)
    // A relative reminder comes back when its date moves, and both must be known until then.
    guard isOnce || oldOthers.contains(where: { $0.relative != nil && !otherReminders.contains($0) }) else { return }
    SnoozedReminder(original: snooze == nil ? oldDate : snooze?.original, current: reminderDate).store(in: &self)
    if !oldOthers.isEmpty || !otherReminders.isEmpty {
      SnoozedOtherReminders(original: others?.original ?? oldOthers, current: otherReminders).store(in: &self)
    }
  }

  private mutating func replaceReminders(with instant: Timestamp?, at now: Timestamp, in timeZone: TimeZone) {
    guard !otherReminders.isEmpty else { return reminderDate = instant }
    let next = nextReminder(from: now, in: timeZone)
    let instants = reminders.compactMap { reminder in
      self.instant(of: reminder, in: timeZone).map { (reminder: reminder, instant: $0) }
    }
    let passed = instants.filter { $0.instant < now }
    let replaced = passed.isEmpty ? instants.filter { $0.instant == next } : passed
    var left = otherReminders
    for reminder in replaced.map(\.reminder) { left.remove(reminder) }
    let replacesMain = replaced.contains { $0.reminder.instant != nil && $0.reminder.instant == reminderDate }
    if instant != nil, !replacesMain, let reminderDate { left.insert(.at(reminderDate)) }
    if instant != nil || replacesMain { reminderDate = instant }
    otherReminders = left
  }

  /// Restores the reminders of the series, for the next occurrence.
  mutating func endSnooze() {
    guard extrasBox != nil else { return }
    if attributes[SnoozedReminder.attributeName] != nil {
      if let snooze = SnoozedReminder(of: self) { reminderDate = snooze.original }
      attributes[SnoozedReminder.attributeName] = nil
    }
    if attributes[SnoozedOtherReminders.attributeName] != nil {
      if let snooze = SnoozedOtherReminders(of: self) { otherReminders = snooze.original }
      attributes[SnoozedOtherReminders.attributeName] = nil
    }
  }

  /// Removes the record of a snooze if other reminders have been set since.
  mutating func dropOverwrittenSnooze(replacing old: TaskItem) {
    guard extrasBox != nil else { return }
    if reminderDate != old.reminderDate, attributes[SnoozedReminder.attributeName] != nil,
      SnoozedReminder(of: self) == nil
    {
      attributes[SnoozedReminder.attributeName] = nil
    }
    if otherReminders != old.otherReminders, attributes[SnoozedOtherReminders.attributeName] != nil,
      SnoozedOtherReminders(of: self) == nil
    {
      attributes[SnoozedOtherReminders.attributeName] = nil
    }
  }
}

/// What happens to the reminder of a task whose planned day, due day or due time changes.
///
/// A reminder on the planned day moves as far as that day does. A reminder on the day on which the task is due moves as
/// far as the due day or the due time does. Distances are in local time: 9:00 stays 9:00 across a clock change. A
/// reminder on any other day stays, and so does one whose day is removed. A snooze to a day before the new one ends. A
/// relative reminder follows its date, comes back if it was snoozed, and reminds of nothing while the task has no such
/// date.
public enum ReminderMove: Hashable, Sendable {
  /// The reminder is now at this instant.
  case moved(to: Timestamp)
  /// The reminder stays at this instant, which is neither on the task's planned day nor on the day on which it is due.
  case stayed(at: Timestamp)
  /// The task has lost the date from which the reminder counts.
  case ended(RelativeReminder)
}

extension TaskItem {
  /// What happened to the reminder when the task's days changed, for an application to report.
  ///
  /// ```swift
  /// let (before, after) = (tasks[0], tasks[1])
  /// switch after.reminderMove(from: before, in: .current) {
  /// case .moved(let instant): print("Reminder moved to", instant)
  /// case .stayed(let instant): print("Reminder stays at", instant)
  /// case .ended, nil: break
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - old: The task before the change.
  ///   - timeZone: The time zone of the person.
  /// - Returns: What happened; `nil` if no day changed, the task is closed, it had or has no reminder, or
  ///   the reminder stayed and is on one of the task's new days.
  public func reminderMove(from old: TaskItem, in timeZone: TimeZone) -> ReminderMove? {
    guard isOpen, hasOtherDays(than: old), let former = old.reminderDate, let reminder = reminderDate else {
      return nil
    }
    return reminder != former ? .moved(to: reminder) : stay(of: reminder, from: old, in: timeZone)
  }

  private func stay(of reminder: Timestamp, from old: TaskItem, in timeZone: TimeZone) -> ReminderMove? {
    guard scheduledDate != old.scheduledDate || hasOtherDue(than: old, in: timeZone) else { return nil }
    let day = CalendarDay(containing: reminder, in: timeZone)
    return day == scheduledDate || day == dueDay(in: timeZone) ? nil : .stayed(at: reminder)
  }

  /// What happened to each of the reminders when the task's days changed: that of ``reminderDate`` first, as
  /// ``reminderMove(from:in:)`` says.
  public func reminderMoves(from old: TaskItem, in timeZone: TimeZone) -> [ReminderMove] {
    let move = reminderMove(from: old, in: timeZone).map { [$0] } ?? []
    guard isOpen, hasOtherDays(than: old), !old.otherReminders.isEmpty else { return move }
    return move
      + otherReminders.compactMap { reminder in
        switch reminder {
        case .at(let instant):
          return old.reminders.contains(reminder)
            ? stay(of: instant, from: old, in: timeZone) : .moved(to: instant)
        case .before(let relative):
          let (former, new) = (old.instant(of: reminder, in: timeZone), self.instant(of: reminder, in: timeZone))
          guard former != new, old.otherReminders.contains(reminder) else { return nil }
          return new.map { .moved(to: $0) } ?? .ended(relative)
        }
      }
  }

  /// Moves the reminder, and the one that a snooze replaced, together with the days and the due time that have changed.
  ///
  /// A snooze ends if the task moves beyond the day to which the reminder was snoozed.
  mutating func moveReminder(from old: TaskItem, in timeZone: TimeZone) {
    guard hasOtherDays(than: old) else { return }
    endSnoozeOfRelativeReminder(from: old, in: timeZone)
    moveOtherReminders(from: old, in: timeZone)
    let snooze = SnoozedReminder(of: self)
    if let reminder = reminderDate { reminderDate = moved(reminder, from: old, in: timeZone) }
    guard let snooze else { return }
    let original = snooze.original.map { moved($0, from: old, in: timeZone) }
    if let original, original != snooze.original, let current = reminderDate, current == snooze.current,
      CalendarDay(containing: current, in: timeZone) < CalendarDay(containing: original, in: timeZone)
    {
      // The reminder was snoozed to a day before the new one, which would otherwise have no reminder.
      reminderDate = original
    }
    SnoozedReminder(original: original, current: reminderDate).store(in: &self)
  }

  /// Ends the snooze of a relative reminder whose date moves: it rings at its new time, and no longer at the snoozed one.
  private mutating func endSnoozeOfRelativeReminder(from old: TaskItem, in timeZone: TimeZone) {
    guard let snooze = SnoozedOtherReminders(of: self) else { return }
    let comesBack = snooze.original.contains { reminder in
      reminder.relative != nil && !snooze.current.contains(reminder)
        && instant(of: reminder, in: timeZone) != old.instant(of: reminder, in: timeZone)
    }
    if comesBack { endSnooze() }
  }

  private mutating func moveOtherReminders(from old: TaskItem, in timeZone: TimeZone) {
    let snooze = SnoozedOtherReminders(of: self)
    guard snooze != nil || !otherReminders.isEmpty else { return }
    func moved(_ reminders: ReminderSet) -> ReminderSet {
      reminders.movingInstants { self.moved($0, from: old, in: timeZone) }
    }
    otherReminders = moved(otherReminders).allowed
    guard let snooze else { return }
    SnoozedOtherReminders(original: moved(snooze.original), current: otherReminders).store(in: &self)
  }

  /// Whether the due day or due time has changed; giving a due day a time of that day is no change.
  private func hasOtherDue(than old: TaskItem, in timeZone: TimeZone) -> Bool {
    if let oldDue = old.dueDate, let newDue = dueDate { return oldDue != newDue }
    return dueDay(in: timeZone) != old.dueDay(in: timeZone)
  }

  private func hasOtherDays(than old: TaskItem) -> Bool {
    scheduledDate != old.scheduledDate || dueDate != old.dueDate || dueDay != old.dueDay
  }

  /// Returns an instant at the same distance from the day or the due time to which it belonged.
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

/// Moves the dates of a task from one occurrence of its series to a later one.
///
/// One of the dates belongs to the occurrence and moves exactly to the new day, wherever the user has moved it
/// since: what was put off once is not put off for ever. It is the planned day, or else the due day, or else
/// the day of the reminder. But if the due day is still the occurrence's day, and the task was only planned for
/// an earlier one, it is the due day.
///
/// The other dates keep their distance to the occurrence. A date on or after the following occurrence was moved
/// together with the task, and keeps its distance to the date that belongs to the occurrence. A snoozed
/// reminder counts as the reminder that it replaced (``SnoozedReminder``). A reminder that is beyond the task's
/// days anyway, as older versions could leave it, moves to the last of those days. The start day is one of the other
/// dates; a task for someday has no start after the move.
struct OccurrenceMove {
  let occurrence: CalendarDay
  /// The next occurrence by the recurrence, whether or not the task moves to it.
  let following: CalendarDay
  let newOccurrence: CalendarDay
  let timeZone: TimeZone

  /// Creates the move between two places of a series.
  init(from old: RecurrenceSeries, to new: RecurrenceSeries, by recurrence: Recurrence, in timeZone: TimeZone) {
    let following =
      switch recurrence {
      case .rule(let rule): rule.next(after: old.occurrence, from: old.start)
      case .afterCompletion(let interval): interval.day(after: old.occurrence)
      }
    (occurrence, newOccurrence) = (old.occurrence, new.occurrence)
    (self.following, self.timeZone) = (following ?? .latest, timeZone)
  }
}

extension OccurrenceMove {
  /// Moves the dates of the task at this occurrence; a task without dates is planned for the new day.
  func apply(to task: inout TaskItem) {
    task.endSnooze()
    let (planned, due) = (task.scheduledDate, task.dueDay(in: timeZone))
    let isOfDue = due == occurrence && planned.map { $0 < occurrence } ?? true
    let reminder = (task.reminderDate ?? task.otherReminders.first?.instant).map {
      CalendarDay(containing: $0, in: timeZone)
    }
    let start = task.start?.day
    if task.start != nil { task.start = nil }
    guard let own = isOfDue ? due : planned ?? due ?? reminder else {
      if let start { task.start = .day(self.moved(start, from: occurrence)) }
      return task.scheduledDate = newOccurrence
    }
    func moved(_ day: CalendarDay) -> CalendarDay {
      day == own ? newOccurrence : self.moved(day, from: day < following ? occurrence : own)
    }
    let (newPlanned, newDue) = (planned.map(moved), due.map(moved))
    task.scheduledDate = newPlanned
    move(dueOf: &task, to: newDue)
    if let start { task.start = .day(moved(start)) }
    guard let reminder else { return }
    let last = [newPlanned, newDue].compactMap { $0 }.max() ?? .latest
    task.reminderDate = task.reminderDate?.moved(from: reminder, to: min(moved(reminder), last), in: timeZone)
    task.moveInstants { instant in
      let day = CalendarDay(containing: instant, in: timeZone)
      return instant.moved(from: day, to: min(moved(day), last), in: timeZone)
    }
  }

  /// Moves the dates of a part of that task, which keep their distance to the occurrence.
  func apply(toPart task: inout TaskItem) {
    task.endSnooze()
    task.scheduledDate = task.scheduledDate.map { moved($0, from: occurrence) }
    move(dueOf: &task, to: task.dueDay(in: timeZone).map { moved($0, from: occurrence) })
    task.reminderDate = task.reminderDate?.moved(from: occurrence, to: newOccurrence, in: timeZone)
    task.moveInstants { $0.moved(from: occurrence, to: newOccurrence, in: timeZone) }
    if task.start != nil { task.start = task.start?.day.map { .day(moved($0, from: occurrence)) } }
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

extension TaskItem {
  /// Moves the reminders at an instant besides ``reminderDate``.
  fileprivate mutating func moveInstants(_ move: (Timestamp) -> Timestamp) {
    if !otherReminders.isEmpty { otherReminders = otherReminders.movingInstants(move) }
  }
}

extension ReminderSet {
  /// The same reminders, those at an instant moved.
  func movingInstants(_ move: (Timestamp) -> Timestamp) -> ReminderSet {
    ReminderSet(map { reminder in reminder.instant.map { .at(move($0)) } ?? reminder })
  }
}
