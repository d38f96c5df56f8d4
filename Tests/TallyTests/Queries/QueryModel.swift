import Foundation
import TallyTestSupport

@testable import Tally

/// What queries find, by looking at every task and sorting.
struct QueryModel {
  let tasks: [TaskItem]
  let filters: FilterModel
  let weights: NextWeights

  init(
    _ tasks: [TaskItem], lists: [TaskList], now: Timestamp, calendar: Calendar, weights: NextWeights = NextWeights()
  ) {
    (self.tasks, self.weights) = (tasks, weights)
    filters = FilterModel(
      now: now, calendar: calendar, lists: lists, parentIDs: Set(tasks.compactMap(\.parentID)),
      waiting: WaitingModel(tasks))
  }

  func ids(_ filter: TaskFilter, by order: TaskOrder) -> [UUID] {
    let names = ["start=", "start!", "start<", "start>", "has:start", "is:waiting", "is:someday"]
    let showsWaiting = filter.text == "is:any" || names.contains { filter.text.contains($0) }
    let found = tasks.filter { task in
      filters.matches(filter, task) && (showsWaiting || !TaskModel.isWaiting(task, on: filters.today))
    }
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
    let rank = [TaskState.active: 0, .notStarted: 1, .completed: 2, .cancelled: 2][task.state] ?? 3
    return Lexical([rank, Int(task.sortOrder), instant(task.createdAt)], task.id.uuidString)
  }

  private func due(of task: TaskItem) -> Timestamp? {
    task.dueDate
      ?? task.dueDay.map { day in
        (try? day.adding(days: 1).start(in: filters.calendar).adding(microseconds: -1)) ?? .latest
      }
  }

  /// The rule as its help says it, by comparing one thing after the other.
  private func next(_ task: TaskItem) -> Lexical {
    let (zone, today, place) = (filters.calendar.timeZone, filters.today, place(task))
    if task.isClosed { return Lexical([.max] + place.numbers, place.id) }
    let isLate = task.isOverdue(at: filters.now, in: zone)
    let dueDay = task.dueDay(in: zone)
    var own = [task.scheduledDate.map { $0 == today ? 0 : $0 < today ? weights.left : weights.later } ?? weights.free]
    if task.scheduledDate == today || dueDay == today { own.append(weights.today) }
    if isLate { own.append(weights.overdue) }
    if task.state == .active { own.append(weights.started) }
    if TaskModel.isWaiting(task, on: today) { own = [weights.later] }
    let isOnlyReminded = isLate && dueDay == nil
    let day = isOnlyReminded ? task.reminderDate.map { CalendarDay(containing: $0, in: zone) } : dueDay
    let time = isOnlyReminded ? task.reminderDate : due(of: task)
    let byDay = [day.map { Int($0.dayNumber) } ?? .max], byPriority = [-Int(task.priority.rawValue)]
    let order = weights.priority > weights.due ? byPriority + byDay : byDay + byPriority
    return Lexical(
      [filters.waiting.rank(of: task.id), -(own.max() ?? 0)] + order + [time.map(instant) ?? .max] + place.numbers,
      place.id)
  }
}
