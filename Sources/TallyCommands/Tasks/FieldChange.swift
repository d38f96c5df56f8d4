import Foundation
import Tally
import TallySystem

/// The changes of a task that options describe; the names of a list and of a parent are looked up in the store later.
struct FieldChange {
  /// The instants of reminders that the tasks get.
  let reminderDates: [Timestamp]
  private let list: String?
  private let parent: String?
  private let dependencies: [String]
  /// The time zone of the series: the outer optional is for an option that is not given, the inner one for `none`.
  let zone: NamedTimeZone??
  /// Whether the tasks get a rule.
  let setsRule: Bool
  private let dayStartInMinutes: Int
  private let setOthers: (inout TaskItem) throws -> Void

  /// Reads the options.
  ///
  /// - Parameters:
  ///   - options: the options.
  ///   - isNew: whether the tasks are being added, so that a recurrence begins on their planned day or later.
  ///   - isForSeries: whether the change is for series, so that a time alone is one of the task's own day.
  ///   - clock: the present.
  /// - Throws: ``CommandFailure`` with the name of the option that is wrong.
  init(
    _ options: FieldOptions, ofNew isNew: Bool = false, ofSeries isForSeries: Bool = false, _ clock: LocalClock
  ) throws {
    let zone: NamedTimeZone?? = try options.zone.map { $0.isNone ? nil : try NamedTimeZone.named($0, by: "--zone") }
    self.zone = zone
    // Times are those of the zone that the series gets.
    let timeClock = (zone ?? nil).map { clock.in($0) } ?? clock
    let dates = try DateChange(options, ofNew: isNew, ofSeries: isForSeries, clock, times: timeClock)
    let priority = try options.priority.map { text in
      try CommandFailure.naming("--priority", quoting: text) { try Priority(name: text.lowercased()) }
    }
    let start: TaskStart?? = try options.wait.map { text in
      if text.isNone { return nil }
      return text.lowercased() == "someday" ? .someday : .day(try clock.day(text, of: "--wait"))
    }
    let attributes = try options.attributes.map { text in
      try CommandFailure.naming("--set") { try Self.attribute(text) }
    }
    let (tags, notes) = (options.tags, options.notes)
    (list, parent, reminderDates) = (options.list, options.parent, dates.reminders.compactMap(\.instant))
    (dependencies, setsRule, dayStartInMinutes) = (options.after, dates.setsRule, clock.dayStartInMinutes)
    setOthers = { task in
      try dates.apply(to: &task)
      for tag in tags {
        if tag.isNone { task.tags = [] } else { task.tags.insert(tag.withoutNumberSign) }
      }
      if let priority { task.priority = priority }
      if let start { task.start = start }
      for (name, value) in attributes { task.attributes[name] = value }
      if let notes { task.notes = notes.isEmpty || notes.isNone ? nil : notes }
    }
  }

  /// Reads `NAME=VALUE`; `nil` for a value of `none`.
  private static func attribute(_ text: String) throws -> (name: String, value: AttributeValue?) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw CommandFailure.usage(
        "'\(text.escapedForDisplay())' does not set a field", code: "invalidAttribute",
        remedy: "Write a name, = and a value, as in --set estimate=90")
    }
    let value = String(text[text.index(after: equals)...])
    return (String(text[..<equals]), value.isNone ? nil : AttributeValue(typed: value))
  }

  /// Adds or changes tasks of a series in the zone that the options name, so that its times are those of that zone.
  ///
  /// - Parameters:
  ///   - transaction: where to change them; its calendar is the person's again afterwards.
  ///   - body: changes them.
  /// - Returns: what the body returns.
  /// - Throws: what the body throws.
  func inZone<R>(
    of transaction: inout StoreWriteTransaction, _ body: (inout StoreWriteTransaction) throws -> R
  ) throws -> R {
    guard let zone = (zone ?? nil)?.zone else { return try body(&transaction) }
    let own = transaction.calendar
    var calendar = own
    calendar.timeZone = zone
    transaction.countDays(in: calendar, startingAtMinute: dayStartInMinutes)
    defer { transaction.countDays(in: own, startingAtMinute: dayStartInMinutes) }
    return try body(&transaction)
  }

  /// Sets the time zone of the series of a task, if the options name one.
  ///
  /// - Throws: `invalidRecurrence` if the task does not repeat; what the storage throws.
  func setTimeZone(of task: TaskItem, in transaction: inout StoreWriteTransaction) throws {
    if let zone { try transaction.setTimeZone(zone?.zone, ofSeriesWith: task.id) }
  }

  /// Whether the options name a task or a list, so that a store must exist.
  var namesSomething: Bool {
    ([list, parent] + dependencies).contains { $0.map { !$0.isNone } ?? false }
  }

  /// A closure that changes a task, once the list and the other tasks are found.
  ///
  /// - Throws: ``CommandFailure`` for a list or another task that does not exist, and for a list that is not the parent's.
  func resolved<Base: ~Copyable>(
    in transaction: borrowing StoreTransaction<Base>
  ) throws -> (inout TaskItem) throws -> Void {
    let newList = try list.map { $0.isNone ? nil : try transaction.list(named: $0).id }
    let newParent = try parent.map { $0.isNone ? nil : try transaction.task(named: $0) }
    if let newList, let parent = newParent ?? nil, parent.listID != newList {
      throw CommandFailure.usage(
        "--list: A sub-task is in the list of its parent", code: "invalidParent",
        remedy: "Leave --list out, or give the list of the parent")
    }
    // `nil` for `none`.
    let newDependencies = try dependencies.map { $0.isNone ? nil : try transaction.task(named: $0).id }
    return { task in
      try setOthers(&task)
      for dependency in newDependencies {
        if let dependency { task.dependsOn.insert(dependency) } else { task.dependsOn = [] }
      }
      if let newParent { task.parentID = newParent?.id }
      if let newList { task.listID = newList }
    }
  }
}

/// The dates of a task that options describe, with its rule and its reminders.
private struct DateChange {
  /// Whether the tasks get a rule.
  var setsRule: Bool { recurrence?.map { _ in true } ?? false }
  let reminders: [ReminderOption]
  // The outer optional is for an option that is not given, the inner one for `none`.
  private let day: CalendarDay??
  private let due: ResolvedDate??
  private let recurrence: WrittenRecurrence??
  /// The due time on the task's own day, in minutes since midnight; `nil` for any other due date.
  private let dueMinute: Int?
  private let isNew: Bool
  private let setsReminders: Bool
  /// The present in the zone of the times.
  private let reference: DateReference

  init(
    _ options: FieldOptions, ofNew isNew: Bool, ofSeries isForSeries: Bool, _ clock: LocalClock, times: LocalClock
  ) throws {
    self.isNew = isNew
    day =
      options.today
      ? clock.today
      : options.tomorrow
        ? try clock.today.adding(days: 1) : try options.on.map { $0.isNone ? nil : try clock.day($0, of: "--on") }
    due = try options.due.map { $0.isNone ? nil : try times.date($0, of: "--due") }
    let reference = try times.reference(countingWeeks: options.recurrence != nil)
    self.reference = reference
    let recurrence: WrittenRecurrence?? = try options.recurrence.map { text in
      try CommandFailure.naming("--repeat", quoting: text) {
        text.isNone ? nil : try WrittenRecurrence(text, reference: reference)
      }
    }
    self.recurrence = recurrence
    // A time alone is one on the days of the series.
    let isOfSeries = isForSeries || recurrence ?? nil != nil
    dueMinute = isOfSeries ? options.due.flatMap(times.minuteOfDay) : nil
    reminders = try options.remind.filter { !$0.isNone }.map { try ReminderOption($0, ofSeries: isOfSeries, times) }
    setsReminders = !options.remind.isEmpty
  }

  /// Sets the dates of a task.
  ///
  /// - Throws: ``CommandFailure`` for a reminder before a date that the task does not have, and for a day before the first
  ///   one of the rule.
  func apply(to task: inout TaskItem) throws {
    let former = task.ownFirstDay(in: reference.timeZone)
    if let day { task.scheduledDate = day }
    if let due {
      let own = ownDay ?? task.dueDay(in: reference.timeZone) ?? task.scheduledDate
      task.setDue(dueMinute.flatMap { time(at: $0, on: own, or: due) }.map { .instant($0) } ?? due)
    }
    // The day of a task that has no other is that of its reminder.
    let isReminderFirst = isNew || former == nil
    if setsReminders, isReminderFirst { task.reminders = reminders.compactMap(\.instant).map { .at($0) } }
    if let recurrence {
      task.recurrence = nil
      try setRule(recurrence, of: &task, former: former)
    }
    guard setsReminders else { return }
    // Relative ones count from the dates that the task has in the end.
    let dated = task
    let own = dated.scheduledDate ?? dated.dueDay(in: reference.timeZone)
    let others = try reminders.filter { !isReminderFirst || $0.instant == nil }.map { option -> Reminder in
      if let (minute, next) = option.timeOfDay, let time = time(at: minute, on: own, or: .instant(next)) {
        return .at(time)
      }
      return try option.reminder(of: dated)
    }
    task.reminders = (isReminderFirst ? task.reminders : []) + others
  }

  private var ownDay: CalendarDay? { day ?? nil }

  /// A time of the clock on a day of a series: on the task's own day, or else on the first day of the new rule.
  ///
  /// - Parameters:
  ///   - minute: The time, in minutes since midnight.
  ///   - own: The task's own day.
  ///   - next: When clocks show the time next.
  /// - Returns: The instant; `nil` without such a day.
  private func time(at minute: Int, on own: CalendarDay?, or next: ResolvedDate?) -> Timestamp? {
    var day = own
    if own == nil, let written = recurrence ?? nil, case .instant(let instant)? = next {
      let earliest = CalendarDay(containing: instant, in: reference.timeZone)
      day = written.recurrence.firstDay(onOrAfter: max(earliest, written.start ?? earliest))
    }
    return day?.instant(atMinute: minute, in: reference.timeZone)
  }

  private func setRule(_ recurrence: WrittenRecurrence?, of task: inout TaskItem, former: CalendarDay?) throws {
    guard let recurrence else { return }
    let isDayNew = day == nil && task.scheduledDate == nil && task.ownFirstDay(in: reference.timeZone) != former
    let hasOwnDay = isNew || ownDay != nil || isDayNew
    if hasOwnDay, let start = recurrence.start, let own = task.ownFirstDay(in: reference.timeZone), own < start {
      throw CommandFailure.usage(
        "--repeat: The rule begins on \(start), but the task's day is \(own)", code: "invalidRecurrence",
        remedy: "Give the task \(start) or a later day, or leave out its day or the start of the rule")
    }
    recurrence.apply(to: &task, isNew: isNew, hasOwnDay: hasOwnDay, reference: reference)
  }
}

/// A reminder as an option gives it: an instant, or a time before the task in words.
struct ReminderOption {
  /// The instant, if it does not depend on the task.
  var instant: Timestamp? { minute == nil ? written : nil }
  /// The time of a reminder on a day of the task's series, in minutes since midnight, and when clocks show it next.
  var timeOfDay: (minute: Int, next: Timestamp)? { written.flatMap { next in minute.map { ($0, next) } } }
  /// The instant as it is written; `nil` for a time before the task.
  private let written: Timestamp?
  /// The time of a reminder on the task's own day, in minutes since midnight; `nil` for any other.
  private let minute: Int?
  private let text: String

  /// Reads the value of `--remind`.
  ///
  /// - Throws: ``CommandFailure`` for a text that is neither.
  init(_ text: String, ofSeries isForSeries: Bool = false, _ clock: LocalClock) throws {
    self.text = text
    minute = isForSeries ? clock.minuteOfDay(text) : nil
    let isRelative = try CommandFailure.naming("--remind", quoting: text) {
      try RelativeReminder(words: text, of: .due) != nil
    }
    let named = { (error: any Error) in
      CommandFailure(error).adding(
        remedy: "Or, before the task is due or planned, write \(SharedHelp.relativeReminders)")
    }
    written =
      isRelative
      ? nil : try CommandFailure.replacing(named) { try clock.instant(text, of: "--remind", bareDay: .morning) }
  }

  /// The reminder of a task: before its due date, or else before its planned day, unless the text says which.
  ///
  /// - Throws: ``CommandFailure`` if the task has no such date.
  func reminder(of task: TaskItem) throws -> Reminder {
    if let written { return .at(written) }
    guard let relative = try RelativeReminder(words: text, of: task.reminderAnchor),
      task.instant(of: .before(relative), in: .gmt) != nil
    else {
      throw CommandFailure.usage(
        "--remind: '\(text.escapedForDisplay())' needs a date of the task to count from", code: "inconsistentTask",
        remedy: "Give --due or --on, too")
    }
    return .before(relative)
  }
}

extension AttributeValue {
  /// The integers that every reader of JSON reads exactly, and that an attribute can have: ±(2^53 − 1).
  private static let integers: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991

  /// The value that a text stands for: a number, true or false, a day, an instant, else the text itself.
  ///
  /// A number that would be printed differently from how it was typed is a text, such as a postal code of `02134` or
  /// version `1.10`.
  init(typed text: String) {
    if let number = Int64(text), String(number) == text, Self.integers.contains(number) {
      self = .integer(number)
    } else if let number = Double(text), String(number) == text, number.isFinite {
      self = .real(number)
    } else if let day = try? CalendarDay(iso8601: text) {
      self = .day(day)
    } else if let instant = try? Timestamp(iso8601: text) {
      self = .instant(instant)
    } else if text == "true" || text == "false" {
      self = .flag(text == "true")
    } else {
      self = .text(text)
    }
  }
}

extension TaskItem {
  /// Makes the task due on a day or at an instant, or never.
  mutating func setDue(_ due: ResolvedDate?) {
    switch due {
    case .day(let day): dueDay = day
    case .instant(let instant): dueDate = instant
    case nil: (dueDate, dueDay) = (nil, nil)
    }
  }
}
