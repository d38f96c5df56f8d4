import Tally

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
