import Foundation

/// The events of one life of a task in the counters: its creation and, if it was completed, its completion, else the date
/// by which it is due.
///
/// A completed task counts in the list, and under the tags and the priority, of its completion, an open one under those it
/// has now, so that no list ever has more completions than creations. Deleting an open task removes its creation, as if it had never been added; deleting a
/// completed one removes neither.
struct CountedTask: Hashable {
  var createdAtMicroseconds: Int64
  var completedAtMicroseconds: Int64?
  var utcOffsetInMinutes: Int16
  /// `nil` for a completed task, which can no longer be overdue.
  var openDueMicroseconds: Int64?
  /// The first instant in UTC of an open task's due day.
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

  /// A completion, of a live task or of a deleted one.
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
  /// Hands the series and the instant of each event to a closure.
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
