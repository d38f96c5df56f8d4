import Foundation
import LMDB
import TallyEngine

/// The key of `byDay`: open or completed, the scheduled day, the state's rank, then the order within it; 38 bytes.
///
/// Open tasks come first, so that the Past view never scans the completed ones.
struct DayKey: IndexKey {
  static let width = 6 + OrderKey.width
  let isCompleted: Bool
  let dayNumber: Int32
  let rankRawValue: UInt8
  let order: OrderKey

  var id: UUID { order.id }

  init(isCompleted: Bool, dayNumber: Int32, rankRawValue: UInt8, order: OrderKey) {
    assert(rankRawValue <= StateRank.endRawValue, "a rank out of range")
    self.isCompleted = isCompleted
    self.dayNumber = dayNumber
    self.rankRawValue = rankRawValue
    self.order = order
  }

  init(fields bytes: RawSpan) {
    isCompleted = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    dayNumber = bytes.load(orderedInt32At: 1)
    rankRawValue = bytes.load(bigEndianAt: 5)
    order = OrderKey(fields: bytes.extracting(6..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(isCompleted ? 1 : 0)
    output.append(ordered: dayNumber)
    output.append(rankRawValue)
    order.encode(into: &output)
  }
}

extension DayKey {
  /// The key of a task; `nil` if it has no scheduled day.
  init?(of task: TaskItem) {
    guard let day = task.scheduledDate else { return nil }
    self.init(
      isCompleted: task.isClosed, dayNumber: day.dayNumber, rankRawValue: StateRank(task.state).rawValue,
      order: OrderKey(of: task))
  }

  /// The lowest possible key of a day.
  static func start(of dayNumber: Int32, isCompleted: Bool) -> DayKey {
    DayKey(isCompleted: isCompleted, dayNumber: dayNumber, rankRawValue: 0, order: .lowest)
  }

  /// A key after every key of a day.
  static func end(of dayNumber: Int32, isCompleted: Bool) -> DayKey {
    DayKey(isCompleted: isCompleted, dayNumber: dayNumber, rankRawValue: StateRank.endRawValue, order: .lowest)
  }
}

/// The key of `byDue`: a kind, then an instant and the identifier; 25 bytes.
struct DueKey: IndexKey {
  /// The meaning of the instant; the raw values are stored: do not change them.
  enum Kind: UInt8 {
    /// An open task: its due date, or its reminder if it has neither a due date nor a due day.
    case open = 0
    /// A completed or cancelled task: its due date.
    case completed = 1
    /// An open task: the first instant, in UTC, of its due day.
    case openDay = 2
    /// A completed or cancelled task: the first instant, in UTC, of its due day.
    case completedDay = 3
    /// A cancelled task: when it was cancelled, or created if that was later; beside the key of its due date or day.
    case cancelled = 4
    /// An open task: the first instant, in UTC, of its start day, or the last instant if it starts on no day.
    ///
    case openStart = 5
    /// An open task: its due date, or its reminder if it has no other date, as a wall-clock time written as in UTC.
    case openFloating = 6
  }

  static let width = 1 + InstantKey.width
  let kindRawValue: UInt8
  let due: InstantKey

  var id: UUID { due.id }

  init(_ kind: Kind, _ due: InstantKey) {
    kindRawValue = kind.rawValue
    self.due = due
  }

  init(fields bytes: RawSpan) {
    kindRawValue = bytes.load(bigEndianAt: 0)
    due = InstantKey(fields: bytes.extracting(1..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(kindRawValue)
    due.encode(into: &output)
  }
}

extension DueKey {
  /// The key of a task; `nil` without a due date and a due day, unless the task is open and has a reminder.
  init?(of task: TaskItem) {
    if let local = task.floatingOverdue {
      self.init(.openFloating, InstantKey(microseconds: local.microsecondsSince1970, id: task.id))
    } else if let day = task.dueDay {
      let instant = Self.microseconds(of: day.dayNumber)
      self.init(task.isClosed ? .completedDay : .openDay, InstantKey(microseconds: instant, id: task.id))
    } else if let due = task.isClosed ? task.dueDate : task.overdueDate {
      let instant = due.microsecondsSince1970
      self.init(task.isClosed ? .completed : .open, InstantKey(microseconds: instant, id: task.id))
    } else {
      return nil
    }
  }

  /// The key of a cancellation; `nil` for a task that is not cancelled.
  init?(cancellationOf task: TaskItem) {
    guard let microseconds = CountedTask.cancellation(of: task) else { return nil }
    self.init(.cancelled, InstantKey(microseconds: microseconds, id: task.id))
  }

  /// The key of the start of a task; `nil` if the task is closed or has no start.
  init?(startOf task: TaskItem) {
    guard let start = task.openStart else { return nil }
    let instant = start.day.map { Self.microseconds(of: $0.dayNumber) } ?? .max
    self.init(.openStart, InstantKey(microseconds: instant, id: task.id))
  }

  /// A key before those of the tasks that start after a day, and after those of all others.
  static func starts(after day: CalendarDay) -> DueKey {
    DueKey(.openStart, .start(at: microseconds(of: day.dayNumber + 1)))
  }

  /// A key after those of all starts.
  static let endOfStarts = DueKey(.openFloating, .start(at: .min))

  /// The lowest possible key of a day.
  static func start(of dayNumber: Int32, isCompleted: Bool) -> DueKey {
    DueKey(isCompleted ? .completedDay : .openDay, .start(at: microseconds(of: dayNumber)))
  }

  /// The due day, for a key of a kind that has one.
  var dayNumber: Int32 {
    Int32(clamping: floorDivide(due.microseconds, by: QuarterHour.microsecondsPerDay))
  }

  /// The instant that stands for a day; a day outside the calendar is replaced by the nearest one inside.
  static func microseconds(of dayNumber: Int32) -> Int64 {
    let days = CalendarDay.earliest.dayNumber...(CalendarDay.latest.dayNumber + 1)
    return Int64(min(max(dayNumber, days.lowerBound), days.upperBound)) * QuarterHour.microsecondsPerDay
  }
}

/// An instant, then an identifier, the key of `byCreated` and `byReminder`; 24 bytes.
struct InstantKey: IndexKey {
  static let width = 24
  let microseconds: Int64
  let id: UUID

  init(microseconds: Int64, id: UUID) {
    self.microseconds = microseconds
    self.id = id
  }

  init(fields bytes: RawSpan) {
    microseconds = bytes.load(orderedInt64At: 0)
    id = bytes.load(idAt: 8)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(ordered: microseconds)
    output.append(id)
  }

  /// The lowest possible key at an instant.
  static func start(at microseconds: Int64) -> InstantKey {
    InstantKey(microseconds: microseconds, id: .lowest)
  }
}

extension InstantKey {
  /// The key of a task in `byCreated`.
  init(creationOf task: TaskItem) {
    self.init(microseconds: task.createdAt.microsecondsSince1970, id: task.id)
  }

  /// The key of a task in `byReminder`; `nil` if the task is closed or has no reminder.
  init?(reminderOf task: TaskItem) {
    guard let reminder = task.reminderDate, task.isOpen else { return nil }
    self.init(microseconds: reminder.microsecondsSince1970, id: task.id)
  }
}

/// The key of `completions`: whether the task has been deleted, then the instant and the identifier; 25 bytes.
///
/// Entries of live tasks come first, so that the Completed view scans them without skipping deleted ones.
struct CompletionKey: IndexKey {
  static var width: Int { 1 + InstantKey.width }
  let isTaskDeleted: Bool
  let completed: InstantKey

  var id: UUID { completed.id }

  init(isTaskDeleted: Bool, completed: InstantKey) {
    self.isTaskDeleted = isTaskDeleted
    self.completed = completed
  }

  init(fields bytes: RawSpan) {
    isTaskDeleted = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    completed = InstantKey(fields: bytes.extracting(1..<Self.width))
  }

  /// The key of a task's completion; `nil` for an open task.
  init?(of task: TaskItem) {
    guard let completedAt = task.completedAt else { return nil }
    self.init(
      isTaskDeleted: false,
      completed: InstantKey(microseconds: completedAt.instant.microsecondsSince1970, id: task.id))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(isTaskDeleted ? 1 : 0)
    completed.encode(into: &output)
  }
}

/// The key of `deletedByCreated`: creation, completion and id of a deleted task whose completion is kept; 32 bytes.
///
/// Together with `byCreated` it finds the tasks, deleted ones included, that were created in a part of a quarter hour.
struct DeletedCreationKey: IndexKey {
  static let width = 8 + InstantKey.width
  let createdAtMicroseconds: Int64
  let completed: InstantKey

  var id: UUID { completed.id }

  init(createdAtMicroseconds: Int64, completed: InstantKey) {
    self.createdAtMicroseconds = createdAtMicroseconds
    self.completed = completed
  }

  init(_ completed: InstantKey, _ record: CompletionRecord) {
    self.init(createdAtMicroseconds: record.createdAtMicroseconds, completed: completed)
  }

  init(fields bytes: RawSpan) {
    createdAtMicroseconds = bytes.load(orderedInt64At: 0)
    completed = InstantKey(fields: bytes.extracting(8..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(ordered: createdAtMicroseconds)
    completed.encode(into: &output)
  }
}

/// The position of a state in a view: active tasks first, then those not started, then the closed ones.
///
/// It is part of stored keys: do not change the numbers.
enum StateRank: UInt8 {
  case active = 0
  case notStarted = 1
  /// Completed and cancelled tasks, which share one order.
  case completed = 2

  init(_ state: TaskState) {
    switch state {
    case .active: self = .active
    case .notStarted: self = .notStarted
    case .completed, .cancelled: self = .completed
    }
  }

  /// The number after the last rank, an upper bound for ranges of keys.
  static let endRawValue: UInt8 = 3
}
