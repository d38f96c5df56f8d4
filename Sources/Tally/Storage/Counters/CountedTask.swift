import Foundation

/// The events of one life of a task in the counters: its creation and, if it was completed, its completion, else the date
/// by which it is due.
///
/// A completed task counts in the list of its completion, an open one in the list it is in, so that no list ever has
/// more completions than creations. Deleting an open task removes its creation, as if it had never been added; deleting a
/// completed one removes neither.
struct CountedTask: Hashable {
  var createdAtMicroseconds: Int64
  var completedAtMicroseconds: Int64?
  var utcOffsetInMinutes: Int16
  /// `nil` for a completed task, which can no longer be overdue.
  var openDueMicroseconds: Int64?
  var listID: UUID?

  /// An open task.
  init(open task: TaskItem) {
    createdAtMicroseconds = task.createdAt.microsecondsSince1970
    completedAtMicroseconds = nil
    utcOffsetInMinutes = 0
    openDueMicroseconds = task.dueDate?.microsecondsSince1970
    listID = task.listID
  }

  /// A completion, of a live task or of a deleted one.
  init(_ key: CompletionKey, _ record: CompletionRecord) {
    createdAtMicroseconds = record.createdAtMicroseconds
    completedAtMicroseconds = key.completed.microseconds
    utcOffsetInMinutes = record.utcOffsetInMinutes
    openDueMicroseconds = nil
    listID = record.listID
  }
}
