import Foundation

/// Where a task stands in a view: the order of the view's own walk, for a task at hand.
///
/// `ViewTests` and the tests of observation hold it against the walks over the indexes.
struct ViewKey: Comparable, Hashable {
  /// The day or the instant by which the view is ordered first; the same for all where there is none.
  private let first: Int64
  private let rankRawValue: UInt8
  private let order: OrderKey

  /// The key of a task; `nil` if the view does not show it.
  init?(_ task: TaskItem, in view: TaskView, now: Timestamp, calendar: Calendar) {
    let place = ViewOrder(task)
    switch view {
    case .inbox: guard task.listID == nil, task.scheduledDate == nil else { return nil }
    case .list(let id): guard task.listID == id else { return nil }
    case .active: guard task.state == .active else { return nil }
    case .due(let day):
      guard let due = task.dueDate, CalendarDay(containing: due, in: calendar) == day else { return nil }
    case .today, .upcoming, .past:
      guard let day = task.scheduledDate else { return nil }
      let distance = Int64(day.dayNumber) - Int64(CalendarDay(containing: now, in: calendar).dayNumber)
      switch view {
      case .today: guard distance == 0 else { return nil }
      case .past: guard distance < 0, !task.isCompleted else { return nil }
      default: guard distance > 0 else { return nil }
      }
      self.init(Int64(day.dayNumber) * (view == .past ? -1 : 1), place.rankRawValue, place.order)
      return
    case .overdue:
      guard let due = task.dueDate, due < now, !task.isCompleted else { return nil }
      self.init(instant: due, id: task.id)
      return
    case .all:
      self.init(instant: task.createdAt, id: task.id)
      return
    case .completed(let interval):
      guard let instant = task.completedAt?.instant, interval?.contains(instant) ?? true else { return nil }
      // Newest first, by identifier too.
      let words = task.id.words
      self.init(
        -instant.microsecondsSince1970, 0,
        OrderKey(sortOrder: 0, createdAtMicroseconds: 0, id: UUID(high: ~words.high, low: ~words.low)))
      return
    }
    self.init(0, place.rankRawValue, place.order)
  }

  private init(_ first: Int64, _ rankRawValue: UInt8, _ order: OrderKey) {
    self.first = first
    self.rankRawValue = rankRawValue
    self.order = order
  }

  private init(instant: Timestamp, id: UUID) {
    self.init(instant.microsecondsSince1970, 0, OrderKey(sortOrder: 0, createdAtMicroseconds: 0, id: id))
  }

  static func < (left: ViewKey, right: ViewKey) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.rankRawValue != right.rankRawValue { return left.rankRawValue < right.rankRawValue }
    return left.order < right.order
  }
}
