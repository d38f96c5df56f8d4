public import TallyEngine

/// When a task starts: until then it waits.
public enum TaskStart: Hashable, Sendable {
  /// At the beginning of a day, wherever its owner is then.
  case day(CalendarDay)
  /// On no day: the task waits until somebody gives it another start, or none.
  case someday

  /// The day; `nil` for ``someday``.
  public var day: CalendarDay? { if case .day(let day) = self { day } else { nil } }

  /// Whether a task with this start has not started on a day.
  func isLater(than today: CalendarDay) -> Bool { day.map { $0 > today } ?? true }
}

extension TaskItem {
  /// Whether the task waits: it is open, and its ``start`` has not come.
  ///
  /// Views of what there is to do leave such tasks out, see ``StoreTransaction/showsWaiting``.
  ///
  /// - Parameter today: The current day.
  /// - Returns: Whether it waits.
  public func isWaiting(on today: CalendarDay) -> Bool { openStart.map { $0.isLater(than: today) } ?? false }

  /// The start of an open task; closed ones do not wait.
  var openStart: TaskStart? { isOpen ? start : nil }
}
