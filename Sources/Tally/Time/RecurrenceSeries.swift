public import Foundation

/// The place of a task in its series: the tasks that one recurring task becomes, one after the other.
public struct RecurrenceSeries: Hashable, Sendable {
  /// The id of the series' first task.
  public let id: UUID
  /// The day with which the series began: `DTSTART` of RFC 5545.
  public let start: CalendarDay
  /// The day that the recurrence gives this task, wherever the task has been moved since.
  public let occurrence: CalendarDay
  /// How many tasks of the series came before this one; zero for the first.
  public let index: Int

  /// Creates a place in a series.
  public init(id: UUID, start: CalendarDay, occurrence: CalendarDay, index: Int) {
    (self.id, self.start, self.occurrence, self.index) = (id, start, occurrence, index)
  }

  /// Begins a series with a task, on a day.
  public init(startingWith id: UUID, on start: CalendarDay) {
    self.init(id: id, start: start, occurrence: start, index: 0)
  }
}

extension RecurrenceSeries {
  /// The place of the task after this one.
  ///
  /// By a rule it is on the rule's first day that is after this occurrence, after the day of completion, and not before
  /// today: a task that is done early does not shorten the series, and one that is done late stands for the occurrences it
  /// has missed, so they do not pile up. After completion it is exactly the interval later, even if that has passed.
  ///
  /// The index, and so the id, is the same whenever the task is completed: two devices that complete it on different days
  /// make one task, not two.
  ///
  /// - Parameters:
  ///   - recurrence: How the task repeats.
  ///   - completion: The local day on which the task was completed.
  ///   - today: The current local day.
  /// - Returns: The place; `nil` if the recurrence has ended.
  /// - Complexity: as ``RecurrenceRule/next(after:from:)``.
  public func next(
    by recurrence: Recurrence, completedOn completion: CalendarDay, today: CalendarDay
  ) -> RecurrenceSeries? {
    let day: CalendarDay?
    switch recurrence {
    case .rule(let rule):
      let yesterday = CalendarDay(clamping: Int64(today.dayNumber) - 1)
      day = rule.next(after: max(occurrence, completion, yesterday), from: start)
    case .afterCompletion(let interval): day = interval.day(after: completion)
    }
    return day.map { RecurrenceSeries(id: id, start: start, occurrence: $0, index: index + 1) }
  }

  /// The id of the task at this place, which follows from the series and the index alone.
  public var taskID: UUID {
    index == 0 ? id : UUID(derivedFrom: id, index: UInt64(clamping: index))
  }
}

extension RecurrenceSeries {
  /// How many bytes the stored value takes.
  static let storedByteCount = 28
}
