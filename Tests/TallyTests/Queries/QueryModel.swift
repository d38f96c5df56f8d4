import Foundation

@testable import Tally

/// What queries find, by looking at every task and sorting.
struct QueryModel {
  let tasks: [TaskItem]
  let filters: FilterModel

  init(_ tasks: [TaskItem], lists: [TaskList], now: Timestamp, calendar: Calendar) {
    self.tasks = tasks
    filters = FilterModel(
      now: now, calendar: calendar, lists: lists, parentIDs: Set(tasks.compactMap(\.parentID)))
  }

  func ids(_ filter: TaskFilter, by order: TaskOrder) -> [UUID] {
    let found = tasks.filter { filters.matches(filter, $0) }
    switch order.key {
    case .place: return sorted(found) { place($0) }
    case .created: return sorted(found, order.isReversed) { (instant($0.createdAt), $0.id.uuidString) }
    case .updated: return sorted(found, !order.isReversed) { (instant($0.updatedAt), $0.id.uuidString) }
    case .completed: return presentFirst(found, !order.isReversed) { $0.completedAt?.instant }
    case .due: return presentFirst(found, order.isReversed) { due(of: $0) }
    case .priority:
      let sign = order.isReversed ? 1 : -1
      return sorted(found) { Lexical([sign * Int($0.priority.rawValue)] + place($0).numbers, place($0).id) }
    case .next: return sorted(found) { next($0) }
    }
  }

  private struct Lexical: Comparable {
    let numbers: [Int]
    let id: String

    init(_ numbers: [Int], _ id: String) {
      (self.numbers, self.id) = (numbers, id)
    }

    static func < (left: Lexical, right: Lexical) -> Bool {
      left.numbers == right.numbers ? left.id < right.id : left.numbers.lexicographicallyPrecedes(right.numbers)
    }
  }

  private func instant(_ instant: Timestamp) -> Int { Int(instant.microsecondsSince1970) }

  private func sorted<Key: Comparable>(_ tasks: [TaskItem], _ key: (TaskItem) -> Key) -> [UUID] {
    tasks.sorted { key($0) < key($1) }.map(\.id)
  }

  private func sorted(_ tasks: [TaskItem], _ isDescending: Bool, _ key: (TaskItem) -> (Int, String)) -> [UUID] {
    tasks.sorted { isDescending ? key($1) < key($0) : key($0) < key($1) }.map(\.id)
  }

  /// Those with an instant, then the others by creation.
  private func presentFirst(
    _ tasks: [TaskItem], _ isDescending: Bool, _ key: (TaskItem) -> Timestamp?
  ) -> [UUID] {
    let present = tasks.filter { key($0) != nil }
    return sorted(present, isDescending) { (instant(key($0) ?? .earliest), $0.id.uuidString) }
      + sorted(tasks.filter { key($0) == nil }, false) { (instant($0.createdAt), $0.id.uuidString) }
  }

  private func place(_ task: TaskItem) -> Lexical {
    let rank = [TaskState.active: 0, .notStarted: 1, .completed: 2][task.state] ?? 3
    return Lexical([rank, Int(task.sortOrder), instant(task.createdAt)], task.id.uuidString)
  }

  private func due(of task: TaskItem) -> Timestamp? {
    task.dueDate
      ?? task.dueDay.map { day in
        (try? day.adding(days: 1).start(in: filters.calendar).adding(microseconds: -1)) ?? .latest
      }
  }

  private func next(_ task: TaskItem) -> Lexical {
    let week = CalendarDay(clamping: Int64(filters.today.dayNumber) + 7)
    let isSoon = task.dueDay(in: filters.calendar.timeZone).map { $0 <= week } ?? false
    let (rank, date): (Int, Timestamp?) =
      switch task.state {
      case .active: (0, nil)
      case .completed: (4, nil)
      case .notStarted where task.isOverdue(at: filters.now, in: filters.calendar.timeZone):
        (1, due(of: task) ?? task.reminderDate)
      case .notStarted: isSoon ? (2, due(of: task)) : (3, nil)
      }
    let place = place(task)
    return Lexical([rank, date.map(instant) ?? 0, -Int(task.priority.rawValue)] + place.numbers, place.id)
  }
}
