import Foundation
import TallyEngine

/// The events that one life of a task adds to the counters: its creation, and its completion or else its due date.
///
/// A completed task counts under the list, tags and priority of its completion, an open task under its current ones, so
/// no list ever has more completions than creations. Deleting an open task removes its creation, as if the task had
/// never been added; deleting a completed task removes neither event.
struct CountedTask: Hashable {
  var createdAtMicroseconds: Int64
  var completedAtMicroseconds: Int64?
  var utcOffsetInMinutes: Int16
  /// The instant after which an open task is overdue; `nil` for a completed task.
  var openDueMicroseconds: Int64?
  /// The first instant, in UTC, of an open task's due day.
  var openDueDayMicroseconds: Int64?
  var classification: Classification

  /// An open task.
  init(open task: TaskItem) {
    createdAtMicroseconds = task.createdAt.microsecondsSince1970
    completedAtMicroseconds = nil
    utcOffsetInMinutes = 0
    openDueMicroseconds = task.overdueDate?.microsecondsSince1970
    openDueDayMicroseconds = task.dueDay.map { DueKey.microseconds(of: $0.dayNumber) }
    classification = task.classification
  }

  /// A completion, of a live or a deleted task.
  init(_ key: CompletionKey, _ record: CompletionRecord) {
    createdAtMicroseconds = record.createdAtMicroseconds
    completedAtMicroseconds = key.completed.microseconds
    utcOffsetInMinutes = record.utcOffsetInMinutes
    openDueMicroseconds = nil
    openDueDayMicroseconds = nil
    classification = record.classification
  }
}

extension CountedTask {
  /// Calls a closure with the series and the instant of each event.
  @inline(__always)
  func forEachEvent(_ body: (CounterSeries, Int64) -> Void) {
    body(.created, createdAtMicroseconds)
    if let due = openDueMicroseconds { body(.openDue, due) }
    if let day = openDueDayMicroseconds { body(.openDueDay, day) }
    guard let completed = completedAtMicroseconds else { return }
    body(.completed, completed)
    if completed < createdAtMicroseconds {
      body(.completedBeforeCreation, completed)
      body(.createdAfterCompletion, createdAtMicroseconds)
    }
    body(.completedAsRecorded, completed + Int64(utcOffsetInMinutes) * 60_000_000)
  }

  /// The bucket of the time from creation to completion; `nil` for an open task.
  var cycleTimeBucket: UInt16? {
    completedAtMicroseconds.map {
      CycleTimeBucket.number(ofSeconds: floorDivide($0 - createdAtMicroseconds, by: 1_000_000))
    }
  }
}
