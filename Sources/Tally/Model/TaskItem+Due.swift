public import Foundation

extension TaskItem {
  /// The instant after which the task is overdue while it is open, unless it has a due day.
  var overdueDate: Timestamp? { dueDate ?? (dueDay == nil ? reminderDate : nil) }

  /// The day by which the task is due in a time zone; `nil` without a due date and a due day.
  public func dueDay(in timeZone: TimeZone) -> CalendarDay? {
    dueDay ?? dueDate.map { CalendarDay(containing: $0, in: timeZone) }
  }

  /// The first instant at which the task is overdue while it is open; `nil` if it never is.
  ///
  /// A due date has then passed, a due day has ended in the time zone, or, without either, a reminder has passed.
  public func overdueStart(in timeZone: TimeZone) -> Timestamp? {
    guard let dueDay else { return overdueDate.map { $0.adding(microseconds: 1) } }
    return (try? dueDay.adding(days: 1))?.start(in: timeZone)
  }

  /// Whether the task is open and late.
  ///
  /// Where clocks go back over midnight, a due day that comes again has not ended.
  public func isOverdue(at now: Timestamp, in timeZone: TimeZone) -> Bool {
    isOverdue(at: now, on: CalendarDay(containing: now, in: timeZone))
  }

  /// Whether the task is open and late if today is some day, as views say it where days begin after midnight.
  ///
  /// - Parameters:
  ///   - now: The instant by which due dates and reminders have passed.
  ///   - today: The day before which due days have ended.
  /// - Returns: True if it is; false for a completed task.
  public func isOverdue(at now: Timestamp, on today: CalendarDay) -> Bool {
    guard !isCompleted else { return false }
    return overdueDate.map { $0 < now } ?? dueDay.map { $0 < today } ?? false
  }
}
