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
  let zone: TimeZone??
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
    // The outer optional is for an option that is not given, the inner one for `none`.
    let day: CalendarDay?? =
      options.today
      ? clock.today
      : options.tomorrow
        ? try clock.today.adding(days: 1) : try options.on.map { $0.isNone ? nil : try clock.day($0, of: "--on") }
    let due: ResolvedDate?? = try options.due.map { $0.isNone ? nil : try clock.date($0, of: "--due") }
    let dueMinute = isForSeries ? options.due.flatMap(clock.minuteOfDay) : nil
    let reminders = try options.remind.filter { !$0.isNone }.map {
      try ReminderOption($0, ofSeries: isForSeries, clock)
    }
    let priority = try options.priority.map { text in
      try CommandFailure.naming("--priority", quoting: text) { try Priority(name: text.lowercased()) }
    }
    let reference = try clock.reference(countingWeeks: options.recurrence != nil)
    let recurrence: WrittenRecurrence?? = try options.recurrence.map { text in
      try CommandFailure.naming("--repeat", quoting: text) {
        text.isNone ? nil : try WrittenRecurrence(text, reference: reference)
      }
    }
    let start: TaskStart?? = try options.wait.map { text in
      if text.isNone { return nil }
      return text.lowercased() == "someday" ? .someday : .day(try clock.day(text, of: "--wait"))
    }
    let attributes = try options.attributes.map { text in
      try CommandFailure.naming("--set") { try Self.attribute(text) }
    }
    let (tags, notes) = (options.tags, options.notes)
    let setsReminders = !options.remind.isEmpty
    (list, parent, reminderDates) = (options.list, options.parent, reminders.compactMap(\.instant))
    dependencies = options.after
    zone = try options.zone.map { $0.isNone ? nil : try NamedTimeZone.named($0, by: "--zone").zone }
    setOthers = { task in
      if let day { task.scheduledDate = day }
      if let due {
        let own = (day ?? nil) ?? task.dueDay(in: clock.timeZone) ?? task.scheduledDate
        task.setDue(dueMinute.flatMap { own?.instant(atMinute: $0, in: clock.timeZone) }.map { .instant($0) } ?? due)
      }
      for tag in tags {
        if tag.isNone { task.tags = [] } else { task.tags.insert(tag.withoutNumberSign) }
      }
      if let priority { task.priority = priority }
      if recurrence != nil { task.recurrence = nil }
      recurrence??.apply(to: &task, isNew: isNew, reference: reference)
      if let start { task.start = start }
      for (name, value) in attributes { task.attributes[name] = value }
      if let notes { task.notes = notes.isEmpty || notes.isNone ? nil : notes }
      // Relative ones count from the dates that the task has in the end.
      if setsReminders { task.reminders = try reminders.map { try $0.reminder(of: task) } }
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

  /// Sets the time zone of the series of a task, if the options name one.
  ///
  /// - Returns: The task as stored.
  /// - Throws: `invalidRecurrence` if the task does not repeat; what the storage throws.
  func setTimeZone(of task: TaskItem, in transaction: inout StoreWriteTransaction) throws -> TaskItem {
    guard let zone else { return task }
    try transaction.setTimeZone(zone, ofSeriesWith: task.id)
    return try transaction.task(task.id) ?? task
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

/// A reminder as an option gives it: an instant, or a time before the task in words.
struct ReminderOption {
  /// The instant, if it does not depend on the task.
  var instant: Timestamp? { minute == nil ? written : nil }
  /// The instant as it is written; `nil` for a time before the task.
  private let written: Timestamp?
  /// The time of a reminder on the task's own day, in minutes since midnight; `nil` for any other.
  private let minute: Int?
  private let text: String
  private let timeZone: TimeZone

  /// Reads the value of `--remind`.
  ///
  /// - Throws: ``CommandFailure`` for a text that is neither.
  init(_ text: String, ofSeries isForSeries: Bool = false, _ clock: LocalClock) throws {
    (self.text, timeZone) = (text, clock.timeZone)
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
    let day = task.scheduledDate ?? task.dueDay(in: timeZone)
    if let minute, let day { return .at(day.instant(atMinute: minute, in: timeZone)) }
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
  /// A number that would be printed otherwise than it is typed is a text, such as a postal code of `02134` or version `1.10`.
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
