import Foundation
import LMDB

/// The position of a task in an order, as bytes that compare as the order does; all end in the task's id.
struct QuerySorter {
  let order: TaskOrder
  private let now: Int64
  private let today: Int32
  private let timeZone: TimeZone
  private let weights: NextWeights
  /// The ends of due days that have been asked for: each costs some microseconds.
  private var endsOfDays: [Int32: Int64] = [:]

  init(_ order: TaskOrder, against reference: DateReference, _ weights: NextWeights) {
    self.order = order
    now = reference.now.microsecondsSince1970
    today = reference.today.dayNumber
    timeZone = reference.timeZone
    self.weights = weights
  }

  /// The last tag of a field that the order looks at.
  var lastTag: UInt8 {
    switch order.key {
    case .place, .created, .updated: 0
    case .due, .next: TaskField.priority.tag
    case .priority: TaskField.priority.tag
    case .completed: TaskField.completedAt.tag
    }
  }

  /// The position of a task.
  mutating func key(of task: borrowing FilterFacts) -> ViewKey {
    var bytes = KeyBytes()
    switch order.key {
    case .place: bytes.append(place: task)
    case .priority:
      let rank = task.priority.rawValue
      bytes.append(order.isReversed ? rank : .max - rank)
      bytes.append(place: task)
    case .due: bytes = key(of: due(of: task), task)
    case .created: bytes = key(of: task.created, task)
    case .updated: bytes = key(of: task.updated, task)
    case .completed: bytes = key(of: task.has(.completedAt) ? task.completed : nil, task)
    case .next: appendNext(task, to: &bytes)
    }
    return ViewKey(prefix: KeyBytes(), bytes, isReversed: false)
  }

  /// An instant and the id, the other way round if the order is; tasks without one last.
  private func key(of microseconds: Int64?, _ task: borrowing FilterFacts) -> KeyBytes {
    let instant = InstantKey(microseconds: microseconds ?? task.created, id: task.id)
    let isDescending = order.isReversed != order.key.isDescendingByDefault
    if !order.key.mayBeAbsent { return isDescending ? KeyBytes(instant).flipped : KeyBytes(instant) }
    var bytes = KeyBytes(UInt8(microseconds == nil ? 1 : 0))
    let key = KeyBytes(instant)
    bytes.append(microseconds != nil && isDescending ? key.flipped : key)
    return bytes
  }

  private mutating func due(of task: borrowing FilterFacts) -> Int64? {
    if task.has(.dueDate) { return task.due }
    return task.has(.dueDay) ? end(ofDay: task.dueDay) : nil
  }

  private mutating func end(ofDay day: Int32) -> Int64 {
    if let end = endsOfDays[day] { return end }
    let end = CalendarDay(clamping: Int64(day)).end(in: timeZone).microsecondsSince1970
    endsOfDays[day] = end
    return end
  }

  /// The rank by the weights, the due day and the priority, the due time; completed tasks last.
  private mutating func appendNext(_ task: borrowing FilterFacts, to bytes: inout KeyBytes) {
    guard task.isOpen else {
      bytes.append(UInt8.max)
      bytes.append(place: task)
      return
    }
    let isOverdue = task.isOverdue(at: now, today)
    let isLateByReminder = isOverdue && !task.has(.dueDate) && !task.has(.dueDay)
    let instant = due(of: task) ?? (isLateByReminder ? task.reminder : nil)
    // The end of a due day is known already; the day of an instant depends on the zone.
    let day: Int32? = task.has(.dueDay) ? task.dueDay : instant.map(localDay)
    let planned = task.has(.scheduledDate) ? NextWeights.DayRelation(of: task.day, to: today) : nil
    bytes.append(
      weights.rank(
        isStarted: task.state == .active, isOverdue: isOverdue, isDueToday: !isLateByReminder && day == today,
        planned: planned))
    let priority = UInt8.max - task.priority.rawValue
    if weights.priority > weights.due { bytes.append(priority) }
    bytes.append(day ?? .max)
    if weights.priority <= weights.due { bytes.append(priority) }
    bytes.append(InstantKey(microseconds: instant ?? .max, id: .lowest).instantBytes)
    bytes.append(place: task)
  }

  private func localDay(of microseconds: Int64) -> Int32 {
    CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone).dayNumber
  }
}

extension TaskOrder.Key {
  /// Whether a task may lack the compared value.
  var mayBeAbsent: Bool { self == .due || self == .completed }
}

extension InstantKey {
  /// The instant alone.
  fileprivate var instantBytes: KeyBytes { KeyBytes(self)[0..<8] }
}

extension KeyBytes {
  /// Appends the rank of the state and the position inside it.
  fileprivate mutating func append(place task: borrowing FilterFacts) {
    append(StateRank(task.state).rawValue)
    append(task.order)
  }
}
