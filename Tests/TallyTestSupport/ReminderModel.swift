public import Foundation
public import Tally

/// Where reminders go, as plain arithmetic on what clocks on the wall show: the reference for the rules of the library.
///
/// Offsets are Foundation's, and local times are found by trying all offsets around.
public enum ReminderModel {
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
    if task.reminderDate == old.reminderDate {
      let (original, isNoted) = (reminderOfSeries(task), isNoteValid(task))
      task.reminderDate = task.reminderDate.map { reminder($0, from: old, to: task, in: zone) }
      let daysChange =
        task.scheduledDate != old.scheduledDate || task.dueDate != old.dueDate || task.dueDay != old.dueDay
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
