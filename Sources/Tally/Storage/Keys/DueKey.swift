import Foundation
import LMDB
import TallyEngine

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
