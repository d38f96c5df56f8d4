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
  /// The instant by which the task should be done; setting it clears ``dueDay``.
  public var dueDate: Optional<Timestamp> {
    didSet { if dueDate != nil, extrasBox != nil { extras.dueDay = nil } }
  }
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
  /// The fields that few tasks have, see ``extras``.
  var extrasBox: Optional<TaskExtras.Box>

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
    completedAt: OffsetTimestamp? = nil,
    dueDay: CalendarDay? = nil,
    priority: Priority = .none,
    tags: TagSet = [],
    parentID: UUID? = nil,
    recurrence: Recurrence? = nil,
    series: RecurrenceSeries? = nil,
    attributes: [String: AttributeValue] = [:]
  ) {
    let extras = TaskExtras(
      dueDay: dueDay, priority: priority, tags: tags, parentID: parentID, recurrence: recurrence, series: series,
      attributes: attributes)
    self.init(
      id: id, title: title, notes: notes, state: state, scheduledDate: scheduledDate, dueDate: dueDate,
      reminderDate: reminderDate, listID: listID, sortOrder: sortOrder, createdAt: createdAt,
      updatedAt: updatedAt ?? createdAt, completedAt: completedAt, extrasBox: TaskExtras.Box(extras))
  }
}

extension TaskItem {
  /// The calendar day by which the task should be done, wherever its owner is; setting it clears ``dueDate``.
  public var dueDay: CalendarDay? {
    get { extrasBox?.extras.dueDay }
    set {
      if newValue != nil { dueDate = nil }
      extras.dueDay = newValue
    }
  }

  /// How important the task is.
  public var priority: Priority {
    get { extrasBox?.extras.priority ?? .none }
    set { extras.priority = newValue }
  }

  /// The task's tags.
  public var tags: TagSet {
    get { extrasBox?.extras.tags ?? [] }
    set { extras.tags = newValue }
  }

  /// The task of which this one is a part; both are in the same list.
  public var parentID: UUID? {
    get { extrasBox?.extras.parentID }
    set { extras.parentID = newValue }
  }

  /// How the task repeats.
  public var recurrence: Recurrence? {
    get { extrasBox?.extras.recurrence }
    set { extras.recurrence = newValue }
  }

  /// The task's place among those that its ``recurrence`` makes.
  public var series: RecurrenceSeries? {
    get { extrasBox?.extras.series }
    set { extras.series = newValue }
  }

  /// Fields of an application's or a person's own, by name.
  public var attributes: [String: AttributeValue] {
    get { extrasBox?.extras.attributes ?? [:] }
    set { extras.attributes = newValue }
  }
}
