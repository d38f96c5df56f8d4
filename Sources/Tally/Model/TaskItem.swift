// swift-format-ignore-file: UseShorthandTypeNames

public import Foundation

/// A task: something to do, being done, or done.
///
/// A value: changing one changes nothing in a store. `update` and the other methods of a write transaction store changes,
/// check them and set ``updatedAt``.
public struct TaskItem: Identifiable, Hashable, Sendable {
  // The public initializer is in an extension, so that the compiler also synthesizes one of all properties, which the
  // public one calls: `Optional<Value>`, unlike `Value?`, gives it no default, so forgetting a property does not compile.
  // One that assigns the properties one by one would cost each task a copy (Swift 6.3).

  /// The task's identity, which never changes; any UUID, a ``UUIDv7`` by default.
  public internal(set) var id: UUID
  /// What to do: any text that is not only white space, of any length.
  public var title: String
  /// Anything worth noting beside the title.
  public var notes: Optional<String>
  /// How far the task has come.
  public var state: TaskState
  /// The day for which the task is planned.
  public var scheduledDate: Optional<CalendarDay>
  /// The instant by which the task should be done.
  public var dueDate: Optional<Timestamp>
  /// The instant at which to be reminded.
  public var reminderDate: Optional<Timestamp>
  /// The list that holds the task.
  public var listID: Optional<UUID>
  /// The task's position among the others of its place and state, ascending; within ``sortOrders``.
  public var sortOrder: Int64
  /// When the task was created.
  public var createdAt: Timestamp
  /// When the task was last changed.
  public var updatedAt: Timestamp
  /// When the task was completed, and the offset from UTC in force there; present exactly if ``state`` is `completed`.
  public var completedAt: Optional<OffsetTimestamp>

  /// Whether the state is `completed`.
  public var isCompleted: Bool { state == .completed }

  /// The sort orders that can be stored: the integers that every JSON reader keeps exactly.
  public static let sortOrders: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991
}

extension TaskItem {
  /// Creates a task with the given values; nothing is checked before ``validate()``.
  ///
  /// Without `updatedAt` the task was last changed when it was created.
  public init(
    id: UUID = UUIDv7.next(),
    title: String,
    notes: String? = nil,
    state: TaskState = .notStarted,
    scheduledDate: CalendarDay? = nil,
    dueDate: Timestamp? = nil,
    reminderDate: Timestamp? = nil,
    listID: UUID? = nil,
    sortOrder: Int64 = 0,
    createdAt: Timestamp,
    updatedAt: Timestamp? = nil,
    completedAt: OffsetTimestamp? = nil
  ) {
    self.init(
      id: id, title: title, notes: notes, state: state, scheduledDate: scheduledDate, dueDate: dueDate,
      reminderDate: reminderDate, listID: listID, sortOrder: sortOrder, createdAt: createdAt,
      updatedAt: updatedAt ?? createdAt, completedAt: completedAt)
  }
}
