import Foundation
public import TallyEngine

/// A distance from the time at which a task is due, or from its planned day.
///
/// It is a distance in local time: one day before 10:00 is 10:00, whatever the clocks do in between. A day without a
/// time counts as 09:00, and so does a due time in the last second of a day, which stands for the whole day. The instant depends on the task and on the time zone of the person; see
/// ``TaskItem/reminderInstants(in:)``.
public struct RelativeReminder: Hashable, Sendable {
  /// The date from which the distance is measured.
  public enum Anchor: String, CaseIterable, Sendable {
    /// The due time or the due day.
    case due
    /// The planned day.
    case scheduled
  }

  /// The date from which the distance is measured.
  public let anchor: Anchor
  /// The days before it.
  public let days: Int
  /// The minutes before it, besides the days; zero with a time.
  public let minutes: Int
  /// The minute of the day at which to remind, if that is not the time of the anchor.
  public let minuteOfDay: Int?

  /// The maximum number of days.
  public static let maximumDays = 3_650
  /// The maximum number of minutes: those of a year.
  public static let maximumMinutes = 527_040

  /// Creates a distance.
  ///
  /// - Throws: `valueOutOfRange` for a negative or too large number, a minute outside the day, or minutes together with
  ///   a minute of the day.
  public init(
    daysBefore days: Int = 0, minutesBefore minutes: Int = 0, _ anchor: Anchor = .due, atMinute minuteOfDay: Int? = nil
  ) throws(TallyError) {
    guard (0...Self.maximumDays).contains(days), (0...Self.maximumMinutes).contains(minutes),
      minuteOfDay.map({ (0..<1_440).contains($0) && minutes == 0 }) ?? true
    else {
      throw TallyError(
        .valueOutOfRange, "The reminder is too far before the task, or its time does not exist",
        remedy: "Write at most \(Self.maximumDays) days, or a time as in '9:00 the day before'")
    }
    (self.anchor, self.days, self.minutes, self.minuteOfDay) = (anchor, days, minutes, minuteOfDay)
  }

  /// The instant for the dates of a task; `nil` if the task has no such date.
  func instant(due: Timestamp?, dueDay: CalendarDay?, planned: CalendarDay?, in timeZone: TimeZone) -> Timestamp? {
    let due = anchor == .due ? due : nil
    guard let day = due.map({ CalendarDay(containing: $0, in: timeZone) }) ?? (anchor == .due ? dueDay : planned) else {
      return nil
    }
    let earlier = CalendarDay(clamping: Int64(day.dayNumber) - Int64(days))
    guard let due, minuteOfDay == nil, !WallTime(at: due, in: timeZone).isLastSecondOfDay else {
      let minute = minuteOfDay ?? DateExpression.TimeOfDay.morning.minute
      return earlier.instant(atMinute: minute, in: timeZone).adding(seconds: -60 * Int64(minutes))
    }
    let instant = days == 0 ? due : due.moved(from: day, to: earlier, in: timeZone)
    return instant.adding(seconds: -60 * Int64(minutes))
  }
}
