import Foundation
import TallyEngine

/// The events that one life of a task adds to the counters: its creation, and its completion, cancellation or
/// else its due date.
///
/// A completed task counts under the list, tags and priority of its completion, any other under its current ones, so
/// no list ever has more completions than creations. Deleting an open or cancelled task removes its creation, as if the
/// task had never been added; deleting a completed task removes neither event.
struct CountedTask: Hashable {
  var createdAtMicroseconds: Int64
  var completedAtMicroseconds: Int64?
  var utcOffsetInMinutes: Int16
  var cancelledAtMicroseconds: Int64?
  /// The instant after which an open task is overdue; `nil` for a closed task.
  var openDueMicroseconds: Int64?
  /// The first instant, in UTC, of an open task's due day, or the wall-clock time after which it is overdue as in UTC.
  var openDueDayMicroseconds: Int64?
  var classification: Classification

  /// An open or cancelled task.
  init(uncompleted task: TaskItem) {
    createdAtMicroseconds = task.createdAt.microsecondsSince1970
    completedAtMicroseconds = nil
    cancelledAtMicroseconds = Self.cancellation(of: task)
    utcOffsetInMinutes = 0
    let isOpen = cancelledAtMicroseconds == nil
    let floating = task.floatingOverdue?.microsecondsSince1970
    openDueMicroseconds = isOpen && floating == nil ? task.overdueDate?.microsecondsSince1970 : nil
    openDueDayMicroseconds = isOpen ? floating ?? task.dueDay.map { DueKey.microseconds(of: $0.dayNumber) } : nil
    classification = task.classification
  }

  /// A completion, of a live or a deleted task.
  init(_ key: CompletionKey, _ record: CompletionRecord) {
    createdAtMicroseconds = record.createdAtMicroseconds
    completedAtMicroseconds = key.completed.microseconds
    cancelledAtMicroseconds = nil
    utcOffsetInMinutes = record.utcOffsetInMinutes
    openDueMicroseconds = nil
    openDueDayMicroseconds = nil
    classification = record.classification
  }

  /// When a cancelled task left the open ones: clocks differ, so that a cancellation may precede the creation.
  static func cancellation(of task: TaskItem) -> Int64? {
    guard task.isCancelled, let instant = task.cancelledAt?.instant else { return nil }
    return max(instant, task.createdAt).microsecondsSince1970
  }
}

extension CountedTask {
  /// Calls a closure with the series and the instant of each event.
  @inline(__always)
  func forEachEvent(_ body: (CounterSeries, Int64) -> Void) {
    body(.created, createdAtMicroseconds)
    if let due = openDueMicroseconds { body(.openDue, due) }
    if let day = openDueDayMicroseconds { body(.openDueDay, day) }
    if let cancelled = cancelledAtMicroseconds { body(.cancelled, cancelled) }
    guard let completed = completedAtMicroseconds else { return }
    body(.completed, completed)
    if completed < createdAtMicroseconds {
      body(.completedBeforeCreation, completed)
      body(.createdAfterCompletion, createdAtMicroseconds)
    }
    body(.completedAsRecorded, completed + Int64(utcOffsetInMinutes) * 60_000_000)
  }

  /// The bucket of the time from creation to completion; `nil` for a task that is not completed.
  var cycleTimeBucket: UInt16? {
    completedAtMicroseconds.map {
      CycleTimeBucket.number(ofSeconds: floorDivide($0 - createdAtMicroseconds, by: 1_000_000))
    }
  }
}
