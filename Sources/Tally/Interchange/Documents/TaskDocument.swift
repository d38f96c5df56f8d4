internal import Foundation
internal import LMDB

/// A task as an object of a document says it: what is `nil` was not said.
struct TaskDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case id, text, notes, state, scheduledDate, dueDate, reminderDate, listID, sortOrder, createdAt, updatedAt
    case completedAt

    static let table = DocumentKeyTable<Key>()
  }

  var id: UUID?
  var title: String
  // Of what a task may lack, the inner `nil` is a `null` that was said.
  var notes: String??
  var state: TaskState?
  var scheduledDate: CalendarDay??
  var dueDate: Timestamp??
  var reminderDate: Timestamp??
  var listID: UUID??
  var sortOrder: Int64?
  var createdAt: Timestamp?
  var updatedAt: Timestamp?
  var completedAt: OffsetTimestamp??
}

extension TaskDocument {
  /// Writes a whole task from its record, without making a value of it first: the texts alone would be two allocations.
  static func write(_ task: TaskFields, id: UUID, to writer: inout JSONWriter) throws(LMDBError) {
    writer.beginObject()
    writer.key("id")
    writer.value(id)
    writer.key("text")
    task.titleBytes.write(to: &writer)
    writer.key("notes")
    if let notes = task.notesBytes { notes.write(to: &writer) } else { writer.null() }
    writer.key("state")
    writer.value(try task.state.name)
    writer.key("scheduledDate")
    writer.value(try task.scheduledDate)
    writer.key("dueDate")
    writer.value(try task.dueDate)
    writer.key("reminderDate")
    writer.value(try task.reminderDate)
    writer.key("listID")
    writer.value(task.listID)
    writer.key("sortOrder")
    writer.value(task.sortOrder)
    writer.key("createdAt")
    writer.value(try task.createdAt)
    writer.key("updatedAt")
    writer.value(try task.updatedAt)
    writer.key("completedAt")
    writer.value(try task.completedAt)
    writer.endObject()
  }

  /// Reads a task whose object has just begun.
  init(from reader: inout JSONReader, isLenient: Bool) throws {
    let position = reader.tokenPosition
    var title: String?
    self.init(title: "")
    try reader.readEntries(Key.self, isLenient: isLenient) { reader, key in
      switch key {
      case .id: id = try reader.read(.id, for: key)
      case .text: title = try reader.read(.text, for: key)
      case .notes: notes = .some(try reader.readOptional(.text, for: key))
      case .state: state = try reader.read(.state, for: key)
      case .scheduledDate: scheduledDate = .some(try reader.readOptional(.day, for: key))
      case .dueDate: dueDate = .some(try reader.readOptional(.instant, for: key))
      case .reminderDate: reminderDate = .some(try reader.readOptional(.instant, for: key))
      case .listID: listID = .some(try reader.readOptional(.id, for: key))
      case .sortOrder: sortOrder = try reader.read(.integer, for: key)
      case .createdAt: createdAt = try reader.read(.instant, for: key)
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)
      case .completedAt: completedAt = .some(try reader.readOptional(.offsetInstant, for: key))
      }
    }
    guard let title else { throw reader.fault("The task has no text", at: position) }
    self.title = title
  }
}

extension TaskDocument {
  /// The task that this makes of a stored one, or of none.
  ///
  /// What the document does not say stays as it is stored. A new task was made now, or when it was completed if that
  /// is earlier, and last changed at the later of its creation and completion; in a new place it goes last.
  ///
  /// - Throws: as ``TaskItem/validate()``, without a position.
  func task(
    replacing old: TaskItem?,
    id: UUID,
    now: Timestamp,
    sortOrder: (TaskItem) throws -> Int64
  ) throws -> TaskItem {
    let completedAt = completedAt ?? (isOpen ? nil : old?.completedAt)
    let state = state ?? (completedAt != nil ? .completed : old?.openState ?? .notStarted)
    let createdAt = createdAt ?? old?.createdAt ?? min(now, completedAt?.instant ?? now)
    var task = TaskItem(
      id: id,
      title: title,
      notes: notes ?? old?.notes,
      state: state,
      scheduledDate: scheduledDate ?? old?.scheduledDate,
      dueDate: dueDate ?? old?.dueDate,
      reminderDate: reminderDate ?? old?.reminderDate,
      listID: listID ?? old?.listID,
      sortOrder: self.sortOrder ?? old?.sortOrder ?? 0,
      createdAt: createdAt,
      updatedAt: updatedAt ?? old?.updatedAt ?? max(createdAt, completedAt?.instant ?? createdAt),
      completedAt: completedAt
    )
    try task.validate()
    if self.sortOrder == nil, old.map({ Place(of: $0) }) != Place(of: task) { task.sortOrder = try sortOrder(task) }
    // A change that the document does not date is made now.
    if let old, updatedAt == nil, !task.isIdentical(to: old) { task.updatedAt = max(now, old.updatedAt) }
    return task
  }

  /// Whether the document says that the task is not completed.
  private var isOpen: Bool {
    state.map { $0 != .completed } ?? false
  }
}

extension RawSpan {
  /// Writes the bytes of a stored text as a value.
  fileprivate func write(to writer: inout JSONWriter) {
    // No Tally writes a malformed text; it is exported as it is shown.
    guard isWellFormedText else { return writer.value(text) }
    // The buffer does not outlive the closure; bytes may be seen as what they are.
    unsafe withUnsafeBytes { writer.value(unsafe $0.assumingMemoryBound(to: UInt8.self).span) }
  }
}

extension TaskItem {
  /// The state of an open task; a task that was completed and is not any more has not been started.
  fileprivate var openState: TaskState {
    isCompleted ? .notStarted : state
  }
}
