/// The dates of a sentence, collected before they are resolved: a time may belong to a day that comes later.
struct QuickEntryDates {
  var schedule = DateSlot()
  var due = DateSlot()
  var reminder = DateSlot()
  var recurrence: Recurrence?
  /// Whether a day without a time is one to be reminded on.
  var remindsOfDay = false

  /// Keeps a date or a recurrence, unless its field has a value already or the dates would not fit together.
  mutating func take(_ finding: QuickEntryParser.Finding, reference: DateReference) -> Bool {
    var changed = self
    let isNew =
      switch finding {
      case .schedule(let expression), .span(let expression): changed.schedule.take(expression)
      case .due(let expression): changed.due.take(expression)
      case .reminder(let expression): changed.reminder.take(expression)
      case .recurrence(let recurrence, let expression):
        self.recurrence == nil && changed.take(recurrence, expression, reference: reference)
      case .lastDay(let expression): changed.take(lastDay: expression, reference: reference)
      case .tag, .priority, .list: false
      }
    // A time on the planned day is that of the reminder, or else the due time: a task has no other.
    guard isNew, !changed.schedule.hasTime || changed.due.isEmpty || changed.reminder.isEmpty else { return false }
    self = changed
    return true
  }

  private mutating func take(
    _ recurrence: Recurrence, _ expression: DateExpression?, reference: DateReference
  ) -> Bool {
    self.recurrence = recurrence
    let hasRoom = expression.map { schedule.take($0) } ?? true
    return hasRoom && first(of: recurrence, from: reference.today) != nil
  }

  /// Ends the recurrence, unless it has an end or ends before it begins.
  private mutating func take(lastDay: DateExpression, reference: DateReference) -> Bool {
    guard case .rule(let rule)? = recurrence, rule.end == .never, let day = try? lastDay.day(against: reference),
      let ending = try? RecurrenceRule(
        every: rule.interval, on: rule.weekdays, onMonthDays: rule.monthDays, end: .until(day),
        weekStart: rule.weekStart)
    else { return false }
    recurrence = .rule(ending)
    return first(of: .rule(ending), from: reference.today) != nil
  }

  /// The first day of a recurrence from a day on; its intervals begin there.
  private func first(of recurrence: Recurrence, from day: CalendarDay) -> CalendarDay? {
    guard case .rule(let rule) = recurrence, let interval = try? RecurrenceInterval(1, rule.interval.unit),
      let each = try? RecurrenceRule(
        every: interval, on: rule.weekdays, onMonthDays: rule.monthDays, end: rule.end)
    else { return day }
    return each.occurrences(from: day).first { _ in true }
  }
}

/// The place for a date: a day, a time, or both, from one expression or two.
struct DateSlot {
  private(set) var day: DateExpression.Day?
  private(set) var time: DateExpression.TimeOfDay?
  private(set) var instant: DateExpression?

  var isEmpty: Bool { day == nil && time == nil && instant == nil }
  var hasTime: Bool { time != nil || instant != nil }

  /// Adds an expression, unless there is one like it already.
  mutating func take(_ expression: DateExpression) -> Bool {
    switch expression.form {
    case .day(let new) where day == nil && instant == nil: day = new
    case .time(let new) where time == nil && instant == nil: time = new
    case .dayAndTime(let newDay, let newTime) where isEmpty: (day, time) = (newDay, newTime)
    case .sinceNow where isEmpty, .instant where isEmpty: instant = expression
    default: return false
    }
    return true
  }

  /// The whole expression; `nil` for an empty slot.
  var expression: DateExpression? {
    switch (day, time) {
    case (let day?, let time?): DateExpression(.dayAndTime(day, time))
    case (let day?, nil): DateExpression(.day(day))
    case (nil, let time?): DateExpression(.time(time))
    case (nil, nil): instant
    }
  }

  func resolved(against reference: DateReference) -> ResolvedDate? {
    expression.flatMap { try? $0.resolved(against: reference) }
  }
}

extension QuickEntryDates {
  /// Gives the dates to a task.
  mutating func apply(to entry: inout QuickEntry, reference: DateReference) {
    entry.recurrence = recurrence
    if remindsOfDay, schedule.isEmpty { _ = schedule.take(DateExpression(.time(.morning))) }
    let start = start(against: reference)
    entry.scheduledDate = start?.day
    switch onDay(due, start?.day, reference) {
    case .day(let day)?: entry.dueDay = day
    case .instant(let instant)?: entry.dueDate = instant
    case nil: break
    }
    let day = start?.day ?? entry.dueDay ?? entry.dueDate.map { CalendarDay(containing: $0, in: reference.timeZone) }
    switch onDay(reminder, day, reference) {
    case .day(let day)?: entry.reminderDate = day.morning(in: reference)
    case .instant(let instant)?: entry.reminderDate = instant
    case nil where remindsOfDay: entry.reminderDate = start?.instant ?? start?.day.morning(in: reference)
    case nil: entry.reminderDate = start?.instant
    }
    if !reminder.isEmpty, let instant = start?.instant { entry.dueDate = instant }
  }

  /// The planned day, and the time on it.
  private func start(against reference: DateReference) -> (day: CalendarDay, instant: Timestamp?)? {
    let resolved = schedule.resolved(against: reference)
    switch resolved {
    case .day(let day)?: return (day, nil)
    case .instant(let instant)?:
      let day = CalendarDay(containing: instant, in: reference.timeZone)
      guard schedule.day == nil, let time = schedule.time, let recurrence, let first = first(of: recurrence, from: day)
      else { return (day, instant) }
      return (first, first.instant(atMinute: time.minute, in: reference.timeZone))
    case nil:
      guard due.day == nil, due.instant == nil, let recurrence else { return nil }
      return first(of: recurrence, from: reference.today).map { ($0, nil) }
    }
  }

  /// What a slot means, with a time alone on a day if there is one.
  private func onDay(_ slot: DateSlot, _ day: CalendarDay?, _ reference: DateReference) -> ResolvedDate? {
    guard slot.day == nil, let time = slot.time, let day else { return slot.resolved(against: reference) }
    return .instant(day.instant(atMinute: time.minute, in: reference.timeZone))
  }
}

extension CalendarDay {
  /// When a reminder without a time comes: midnight would wake people up.
  fileprivate func morning(in reference: DateReference) -> Timestamp {
    instant(atMinute: DateExpression.TimeOfDay.morning.minute, in: reference.timeZone)
  }
}
