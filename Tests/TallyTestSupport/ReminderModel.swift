public import Foundation
public import Tally

/// Where reminders go, as plain arithmetic on what clocks on the wall show: the reference for the rules of the library.
///
/// Offsets are Foundation's, and local times are found by trying all offsets around.
public enum ReminderModel {
  /// Where the examples are, with changes of the clock on 29 March and 25 October 2026.
  public static let amsterdam = TimeZone(identifier: "Europe/Amsterdam") ?? .gmt

  /// The reminder of a task after a change that did not name it.
  public static func reminder(
    _ reminder: Timestamp, from old: TaskItem, to new: TaskItem, in zone: TimeZone
  ) -> Timestamp {
    let second = localSecond(reminder, zone)
    let day = floorDay(second)
    func dueDay(_ task: TaskItem) -> Int64? {
      task.dueDay.map { Int64($0.dayNumber) } ?? task.dueDate.map { floorDay(localSecond($0, zone)) }
    }
    var distance: Int64 = 0
    if old.scheduledDate.map({ Int64($0.dayNumber) }) == day, let planned = new.scheduledDate,
      planned != old.scheduledDate
    {
      distance = (Int64(planned.dayNumber) - day) * 86_400
    } else if dueDay(old) == day, let due = dueDay(new) {
      if let from = old.dueDate, let to = new.dueDate {
        if from == to { return reminder }
        distance = localSecond(to, zone) - localSecond(from, zone)
      } else {
        distance = (due - day) * 86_400
      }
      if distance == 0, old.dueDate == nil || new.dueDate == nil { return reminder }
    } else {
      return reminder
    }
    let fraction = reminder.microsecondsSince1970 - floorDivide(reminder.microsecondsSince1970, 1_000_000) * 1_000_000
    return instant(second + distance, zone).adding(microseconds: fraction)
  }

  /// Lets the reminders of a changed task follow its days, unless the change has set another reminder.
  static func follow(_ task: inout TaskItem, from old: TaskItem, in zone: TimeZone) {
    let daysChange =
      task.scheduledDate != old.scheduledDate || task.dueDate != old.dueDate || task.dueDay != old.dueDay
    if task.reminderDate == old.reminderDate, task.otherReminders == old.otherReminders {
      if daysChange {
        endSnoozeOfRelative(&task, from: old, in: zone)
        followOthers(&task, from: old, in: zone)
      }
      let (original, isNoted) = (reminderOfSeries(task), isNoteValid(task))
      task.reminderDate = task.reminderDate.map { reminder($0, from: old, to: task, in: zone) }
      if isNoted, daysChange {
        let moved = original.map { reminder($0, from: old, to: task, in: zone) }
        // A snooze to a day before the new one ends.
        if let moved, moved != original, let snoozed = task.reminderDate, snoozed == old.reminderDate,
          floorDay(localSecond(snoozed, zone)) < floorDay(localSecond(moved, zone))
        {
          task.reminderDate = moved
        }
        note(moved, in: &task)
      }
    }
    if task.reminderDate != old.reminderDate, !isNoteValid(task) { task.attributes[noteName] = nil }
    if task.otherReminders != old.otherReminders, othersOfSeries(task) == nil { task.attributes[othersNoteName] = nil }
  }

  /// A relative reminder that was snoozed comes back when its date moves, and all others with it.
  private static func endSnoozeOfRelative(_ task: inout TaskItem, from old: TaskItem, in zone: TimeZone) {
    func place(of reminder: Reminder, in task: TaskItem) -> Timestamp? {
      var alone = task
      (alone.reminderDate, alone.otherReminders) = (nil, [reminder])
      return instants(of: alone, in: zone).first?.instant
    }
    let (original, new) = (othersOfSeries(task) ?? [], task)
    let comesBack = original.contains { reminder in
      reminder.relative != nil && !new.otherReminders.contains(reminder)
        && place(of: reminder, in: new) != place(of: reminder, in: old)
    }
    if comesBack { forget(&task) }
  }

  private static func followOthers(_ task: inout TaskItem, from old: TaskItem, in zone: TimeZone) {
    let (reminders, new) = (task.otherReminders, task)
    func moved(_ reminders: ReminderSet) -> ReminderSet {
      ReminderSet(reminders.map { $0.instant.map { .at(reminder($0, from: old, to: new, in: zone)) } ?? $0 })
    }
    let original = othersOfSeries(task)
    task.otherReminders = moved(reminders)
    if let original { noteOthers(moved(original), in: &task) }
  }

  /// The instants of all reminders of a task, with the reminders.
  public static func instants(of task: TaskItem, in zone: TimeZone) -> [(reminder: Reminder, instant: Timestamp)] {
    let all = (task.reminderDate.map { [Reminder.at($0)] } ?? []) + Array(task.otherReminders)
    return all.compactMap { reminder in
      guard let rule = reminder.relative else { return reminder.instant.map { (reminder, $0) } }
      let isOfDue = rule.anchor == .due
      guard !isOfDue || task.dueDate == nil else {
        let local = task.dueDate.map { localSecond($0, zone) } ?? 0
        let day = floorDay(local) - Int64(rule.days)
        if rule.days == 0, rule.minuteOfDay == nil, local - floorDay(local) * 86_400 != 86_399, let due = task.dueDate {
          return (reminder, due.adding(seconds: -60 * Int64(rule.minutes)))
        }
        // The last second of a day stands for the day.
        let time = local - floorDay(local) * 86_400
        let minute = time == 86_399 ? rule.minuteOfDay ?? 540 : rule.minuteOfDay
        let second = minute.map { 60 * Int64($0) } ?? time
        let whole = instant(day * 86_400 + second, zone).adding(seconds: -60 * Int64(rule.minutes))
        let due = task.dueDate?.microsecondsSince1970 ?? 0
        let fraction = minute == nil ? due - floorDivide(due, 1_000_000) * 1_000_000 : 0
        return (reminder, whole.adding(microseconds: fraction))
      }
      guard let day = isOfDue ? task.dueDay : task.scheduledDate else { return nil }
      let second = (Int64(day.dayNumber) - Int64(rule.days)) * 86_400 + 60 * Int64(rule.minuteOfDay ?? 540)
      return (reminder, instant(second, zone).adding(seconds: -60 * Int64(rule.minutes)))
    }
  }

  /// Replaces the reminders that have passed, or the first ones to come.
  static func replace(in task: inout TaskItem, with instant: Timestamp?, now: Timestamp, _ zone: TimeZone) {
    guard !task.otherReminders.isEmpty else { return task.reminderDate = instant }
    let all = instants(of: task, in: zone)
    let first = all.map(\.instant).min()
    let gone = all.contains { $0.instant < now } ? all.filter { $0.instant < now } : all.filter { $0.instant == first }
    let main = task.reminderDate
    let losesMain = gone.contains { $0.reminder == main.map { .at($0) } }
    var left = task.otherReminders.filter { reminder in !gone.contains { $0.reminder == reminder } }
    if let main, !losesMain, instant != nil { left.append(.at(main)) }
    if losesMain || instant != nil { task.reminderDate = instant }
    task.otherReminders = ReminderSet(left)
  }

  static let othersNoteName = "tally.snoozed.others"

  /// The other reminders that the series gives a task; `nil` without a note that holds.
  static func othersOfSeries(_ task: TaskItem) -> ReminderSet? {
    guard case .text(let text)? = task.attributes[othersNoteName] else { return nil }
    let sets = text.components(separatedBy: "/").map { part in
      ReminderSet(part.components(separatedBy: ";").compactMap { try? Reminder(text: $0) })
    }
    return sets.last == task.otherReminders ? sets.first : nil
  }

  static func noteOthers(_ original: ReminderSet, in task: inout TaskItem) {
    let texts = [original, task.otherReminders].map { $0.map(\.text).joined(separator: ";") }
    task.attributes[othersNoteName] = original == task.otherReminders ? nil : .text(texts.joined(separator: "/"))
  }

  static let noteName = "tally.snoozed"

  /// The reminder that the series gives a task.
  static func reminderOfSeries(_ task: TaskItem) -> Timestamp? {
    guard isNoteValid(task), let note = note(of: task) else { return task.reminderDate }
    return note.first.flatMap { try? Timestamp(iso8601: $0) }
  }

  /// Notes the reminder of the series beside the one that the task has now.
  static func note(_ original: Timestamp?, in task: inout TaskItem) {
    let (left, right) = (original?.iso8601 ?? "", task.reminderDate?.iso8601 ?? "")
    task.attributes[noteName] = left == right ? nil : .text("\(left)/\(right)")
  }

  /// Gives a copy for the next occurrence the reminder of the series.
  static func forget(_ task: inout TaskItem) {
    task.reminderDate = reminderOfSeries(task)
    task.attributes[noteName] = nil
    task.otherReminders = othersOfSeries(task) ?? task.otherReminders
    task.attributes[othersNoteName] = nil
  }

  private static func note(of task: TaskItem) -> [String]? {
    guard case .text(let text)? = task.attributes[noteName] else { return nil }
    return text.components(separatedBy: "/")
  }

  private static func isNoteValid(_ task: TaskItem) -> Bool {
    note(of: task)?.last == task.reminderDate?.iso8601 ?? ""
  }

  private static func localSecond(_ instant: Timestamp, _ zone: TimeZone) -> Int64 {
    let second = floorDivide(instant.microsecondsSince1970, 1_000_000)
    return second + offset(second, zone)
  }

  private static func offset(_ second: Int64, _ zone: TimeZone) -> Int64 {
    Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(second))))
  }

  /// The first instant at which clocks show a time, or, if they skip it, the one by the clock before the jump.
  private static func instant(_ localSecond: Int64, _ zone: TimeZone) -> Timestamp {
    let offsets = stride(from: -36, through: 36, by: 1).map { offset(localSecond + $0 * 3_600, zone) }
    let shown = Set(offsets).map { localSecond - $0 }.filter { $0 + offset($0, zone) == localSecond }
    return .earliest.at(second: shown.min() ?? localSecond - offset(localSecond - 86_400, zone))
  }

  private static func floorDay(_ second: Int64) -> Int64 { floorDivide(second, 86_400) }

  private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }
}

extension Timestamp {
  /// Another instant, in seconds since 1970.
  fileprivate func at(second: Int64) -> Timestamp {
    adding(microseconds: second * 1_000_000 - microsecondsSince1970)
  }
}

extension TaskItem {
  /// Sets when the task is due: an instant, a day, or `nil` for neither.
  public mutating func setDue(_ text: String?) throws {
    (dueDate, dueDay) = (nil, nil)
    guard let text else { return }
    if text.contains("T") { dueDate = try Timestamp(iso8601: text) } else { dueDay = try CalendarDay(iso8601: text) }
  }
}
