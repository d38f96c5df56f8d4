public import Foundation
public import Tally

/// The expected contents of a store, as plain Swift values: the reference that stores are tested against.
public struct TaskModel: Sendable {
  /// The tasks by id.
  public var tasks: [UUID: TaskItem] = [:]
  /// The lists by id.
  public var lists: [UUID: TaskList] = [:]
  /// The series, by ``seriesKey(_:)``.
  var series: [UUID: ModelSeries] = [:]
  /// When each task was written, in numbers of transactions.
  var stamps: [UUID: ModelStamp] = [:]
  private var transaction = 0
  /// The tasks and lists that the current transaction has written.
  public internal(set) var touched: Set<UUID> = []

  /// Creates an empty model.
  public init() {}

  /// Begins the next transaction: a task that only its own transaction has written counts as untouched.
  public mutating func beginTransaction() {
    transaction += 1
    touched = []
  }

  /// Stores a task, as the current transaction writes it.
  mutating func store(_ task: TaskItem) {
    let created = tasks[task.id] == nil ? transaction : stamps[task.id]?.created
    tasks[task.id] = task
    stamps[task.id] = ModelStamp(created: created ?? transaction, changed: transaction)
    touched.insert(task.id)
  }

  /// Deletes a task, as the current transaction does.
  mutating func remove(_ id: UUID) {
    tasks[id] = nil
    touched.insert(id)
  }

  /// Undoes a transaction: what it touched is as in the model before it, but changed now.
  public mutating func undo(to before: TaskModel, touched ids: Set<UUID>, now: Timestamp) {
    beginTransaction()
    for id in ids {
      let (old, new) = (tasks[id], before.tasks[id])
      if var new, old != new {
        new.updatedAt = max(now, new.updatedAt, old?.updatedAt ?? now)
        store(new)
      } else if new == nil, old != nil {
        remove(id)
      }
      series[id] = before.series[id]
      let (oldList, newList) = (lists[id], before.lists[id])
      lists[id] = newList
      if oldList == newList { continue }
      lists[id]?.updatedAt = max(now, newList?.updatedAt ?? now, oldList?.updatedAt ?? now)
      touched.insert(id)
    }
  }

  /// The lists in their order.
  public var orderedLists: [TaskList] {
    lists.values.sorted {
      ($0.sortOrder, $0.createdAt, $0.id.uuidString) < ($1.sortOrder, $1.createdAt, $1.id.uuidString)
    }
  }

  /// Every view except those of lists, for tests that compare all of them: a new view must be added here.
  public static func views(dueOn day: CalendarDay, completedIn interval: Range<Timestamp>? = nil) -> [TaskView] {
    let views: [TaskView] = [
      .inbox, .today, .upcoming, .past, .overdue, .due(on: day), .active, .completed(nil), .all, .waiting,
    ]
    return views + (interval.map { [.completed($0)] } ?? [])
  }

  /// Whether an open task has not started on a day.
  public static func isWaiting(_ task: TaskItem, on today: CalendarDay) -> Bool {
    switch task.start {
    case .day(let day): day > today && !task.isClosed
    case .someday: !task.isClosed
    case nil: false
    }
  }

  /// The tasks that a view shows, in its order; with those that wait for their start, if they are asked for.
  public func tasks(
    in view: TaskView, now: Timestamp, calendar: Calendar, showsWaiting: Bool = false
  ) -> [TaskItem] {
    let today = CalendarDay(containing: now, in: calendar)
    let showsAll = showsWaiting || [.all, .waiting].contains(view)
    let all = tasks.values.filter { showsAll || !Self.isWaiting($0, on: today) }
    switch view {
    case .inbox: return all.filter { $0.listID == nil && $0.scheduledDate == nil }.sorted(by: Self.viewOrder)
    case .today:
      return all.filter { task in
        let due = task.dueDay ?? task.dueDate.map { CalendarDay(containing: $0, in: calendar) }
        return task.scheduledDate == today || due == today
      }.sorted(by: Self.viewOrder)
    case .upcoming:
      return byDay(all.filter { $0.scheduledDate.map { $0 > today } ?? false }) { $0 < $1 }
    case .past:
      return byDay(all.filter { !$0.state.isClosed && ($0.scheduledDate.map { $0 < today } ?? false) }) { $0 > $1 }
    case .list(let id): return all.filter { $0.listID == id }.sorted(by: Self.viewOrder)
    case .overdue:
      func start(_ task: TaskItem) -> Timestamp? {
        let dayEnd = task.dueDay.flatMap { try? $0.adding(days: 1) }?.start(in: calendar)
        let instant = task.dueDate ?? (task.dueDay == nil ? task.reminderDate : nil)
        return dayEnd ?? instant?.adding(microseconds: 1)
      }
      return all.filter { !$0.state.isClosed && (start($0).map { $0 <= now } ?? false) }
        .sorted { Self.order(start($0), $0, before: start($1), $1) }
    case .due(let day):
      return all.filter { task in
        task.dueDay == day || task.dueDate.map { CalendarDay(containing: $0, in: calendar) } == day
      }.sorted(by: Self.viewOrder)
    case .active: return all.filter { $0.state == .active }.sorted(by: Self.viewOrder)
    case .completed(let interval):
      return all.filter { task in
        task.completedAt.map { interval?.contains($0.instant) ?? true } ?? false
      }.sorted { Self.order($1.completedAt?.instant, $1, before: $0.completedAt?.instant, $0) }
    case .all: return all.sorted { Self.order($0.createdAt, $0, before: $1.createdAt, $1) }
    case .waiting:
      func start(_ task: TaskItem) -> (Int, String) { (Int(task.start?.day?.dayNumber ?? .max), task.id.uuidString) }
      return all.filter { Self.isWaiting($0, on: today) }.sorted { start($0) < start($1) }
    // Compared with a model of their own, in the tests of queries.
    case .next, .matching: return []
    }
  }

  /// Active tasks, then those not started, then the closed ones; inside a rank by order, creation and id.
  public static func viewOrder(_ left: TaskItem, _ right: TaskItem) -> Bool {
    func key(_ task: TaskItem) -> (Int, Int64, Timestamp, String) {
      let rank = [TaskState.active: 0, .notStarted: 1, .completed: 2, .cancelled: 2][task.state] ?? 3
      return (rank, task.sortOrder, task.createdAt, task.id.uuidString)
    }
    return key(left) < key(right)
  }

  private func byDay(_ tasks: [TaskItem], _ dayOrder: (CalendarDay, CalendarDay) -> Bool) -> [TaskItem] {
    tasks.sorted { left, right in
      guard let leftDay = left.scheduledDate, let rightDay = right.scheduledDate else { return false }
      return leftDay == rightDay ? Self.viewOrder(left, right) : dayOrder(leftDay, rightDay)
    }
  }

  private static func order(
    _ leftInstant: Timestamp?, _ left: TaskItem, before rightInstant: Timestamp?, _ right: TaskItem
  ) -> Bool {
    guard let leftInstant, let rightInstant else { return false }
    return (leftInstant, left.id.uuidString) < (rightInstant, right.id.uuidString)
  }
}
