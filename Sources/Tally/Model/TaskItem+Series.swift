import Foundation

extension TaskItem {
  /// Gives a task that repeats its place in a series, and removes the place of one that does not.
  ///
  /// A series begins where a recurrence is given or replaced by another one, at the task's day; again where its first task
  /// gets a day only later.
  mutating func updateSeries(replacing old: TaskItem?, in calendar: Calendar) {
    guard extrasBox != nil else { return }
    guard let recurrence else { return series = nil }
    let isNew = series == nil || old?.recurrence != nil && old?.recurrence != recurrence
    let isLate = series?.index == 0 && old?.hasDays == false && hasDays
    guard isNew || isLate else { return }
    series = RecurrenceSeries(startingWith: id, on: firstDay(in: calendar))
  }

  /// Ensures that a rule that an open task gets has not ended already.
  func checkRecurrence(replacing old: TaskItem?, today: CalendarDay) throws(TallyError) {
    guard extrasBox != nil, case .rule(let rule)? = recurrence, old?.recurrence != recurrence, !isCompleted,
      case .until(let last) = rule.end, last < today
    else { return }
    throw .invalidRecurrence(
      "The recurrence ended on \(last), before today (\(today))", remedy: "Give a later end (UNTIL), or none")
  }

  /// Plans a task that has just got a rule, and has no day of its own, for the rule's first day.
  mutating func planFirstOccurrence(replacing old: TaskItem?, today: CalendarDay) {
    guard extrasBox != nil, case .rule(let rule)? = recurrence, old?.recurrence != recurrence, !isCompleted, !hasDays
    else { return }
    scheduledDate = rule.next(after: CalendarDay(clamping: Int64(today.dayNumber) - 1), from: today)
  }

  private var hasDays: Bool { scheduledDate != nil || dueDay != nil || dueDate != nil || reminderDate != nil }

  /// The day of the first occurrence: the first of the task's days, or that of its creation.
  private func firstDay(in calendar: Calendar) -> CalendarDay {
    scheduledDate ?? dueDay ?? CalendarDay(containing: dueDate ?? reminderDate ?? createdAt, in: calendar)
  }
}

extension TaskItem {
  /// The same task to be done again: open, created now, and with another id.
  func again(withID id: UUID, at now: Timestamp) -> TaskItem {
    var task = self
    task.id = id
    task.state = .notStarted
    task.completedAt = nil
    (task.createdAt, task.updatedAt) = (now, now)
    return task
  }
}
