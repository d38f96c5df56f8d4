internal import Foundation
internal import LMDB

extension TaskField: DocumentKey {
  static let table = DocumentKeyTable<TaskField>()

  var text: String { "\(name)" }
}

/// A task of a document: the fields that are present, with `nil` for those that the document says are absent.
package struct TaskDocument {
  /// The values of the fields that are present.
  private(set) var values = TaskItem(id: .lowest, title: "", createdAt: .earliest)
  /// A bit for each field that is present.
  private var present: UInt32 = 0
  /// How many due dates and due days were read.
  private var dueCount = 0
  /// The name of the task's list, in a format that names lists; the list is added if there is none.
  package var listName: String?
  /// Whether the id follows from the contents, so that a task that exists has nothing to learn from the document,
  /// except that it is completed.
  package var isIdentifiedByContent = false
  /// The attribute that keeps the parent, if neither the document nor the store has it.
  package var keptParent: (name: String, text: String)?
  /// The last instant at which the task may have been completed, in a format that is less exact than an instant.
  package var latestCompletion: Timestamp?

  var id: UUID? { has(.id) ? values.id : nil }
  /// When the document changed the task last, if it says so.
  var updatedAt: Timestamp? { has(.updatedAt) ? values.updatedAt : nil }
  /// When the task was completed at the latest, if it is.
  var completionLimit: Timestamp? { latestCompletion ?? values.completedAt?.instant }

  /// The completion time of a done task without a date: 1 January 1970.
  package static let longAgo = Timestamp(clamping: 0)

  /// A task of which nothing is known.
  package init() {}

  /// A field: `nil` if it is absent from the document or from the task; setting makes it present.
  package subscript(field: TaskField) -> FieldValue? {
    get { has(field) ? values[field] : nil }
    set {
      values[field] = newValue
      present |= 1 << UInt32(field.rawValue)
    }
  }

  /// Reads a task whose object has just begun at a place; `first` is its first token, where that has been read already.
  init(
    from reader: inout JSONReader, at position: TextPosition, after first: JSONReader.Token? = nil, isLenient: Bool
  ) throws {
    try self.init(fieldsFrom: &reader, after: first, isLenient: isLenient)
    guard has(.text) else { throw reader.fault("The task has no text", at: position) }
    if dueCount > 1 { throw reader.fault("The task has a dueDate and a dueDay", at: position) }
  }

  /// Reads any fields of a task whose object has just begun.
  init(fieldsFrom reader: inout JSONReader, after first: JSONReader.Token? = nil, isLenient: Bool) throws {
    assert(TaskField.all.allSatisfy { $0.rawValue < UInt32.bitWidth }, "a field without a bit")
    var entries = DocumentEntries(TaskField.self, after: first, isLenient: isLenient)
    while let field = try entries.next(from: &reader) {
      let value = try reader.read(field.kind, for: field, orNull: field.isOptional)
      guard let value else {
        // Each key comes once, and nothing else has set it.
        present |= 1 << UInt32(field.rawValue)
        continue
      }
      if field == .dueDate || field == .dueDay { dueCount += 1 }
      self[field] = value
    }
  }

  /// Forgets a field, as if the document did not have it.
  mutating func leaveOut(_ field: TaskField) { present &= ~(1 << UInt32(field.rawValue)) }

  package func has(_ field: TaskField) -> Bool { present & 1 << UInt32(field.rawValue) != 0 }
}

extension TaskDocument {
  /// The task that this gives, replacing a stored one if there is one.
  ///
  /// Missing fields keep their stored values. A new task was created now, or at its completion if that is earlier, and
  /// last changed at the later of its creation and completion; in a new place it goes last.
  ///
  /// A change without a date is dated by the document's.
  ///
  /// - Throws: as ``TaskItem/validate()``, without a position.
  func task(
    replacing old: TaskItem?, id: UUID, now: Timestamp, date: Timestamp, in calendar: Calendar,
    sortOrder: (TaskItem) throws -> Int64
  ) throws -> TaskItem {
    var task = old ?? values
    if old != nil { for field in TaskField.all where has(field) { task[field] = values[field] } }
    // A second task with the document's id has another one.
    task.id = id
    if !has(.completedAt), has(.state), !task.isCompleted { task.completedAt = nil }
    if !has(.state) { task.state = task.completedAt != nil ? .completed : task.isCompleted ? .notStarted : task.state }
    // The task is open in the store, so it was completed after the last import: use now instead of 1970.
    if let old, task.completedAt?.instant == Self.longAgo {
      task.completedAt = old.completedAt ?? OffsetTimestamp(now, in: calendar.timeZone)
    }
    let completion = task.completedAt?.instant
    if old == nil, !has(.createdAt) { task.createdAt = min(now, completion ?? now) }
    if old == nil, !has(.updatedAt) { task.updatedAt = max(task.createdAt, completion ?? task.createdAt) }
    if !has(.series) || task.recurrence == nil { task.updateSeries(replacing: old, in: calendar) }
    try task.validate()
    if !has(.sortOrder), old.map({ Place(of: $0) }) != Place(of: task) { task.sortOrder = try sortOrder(task) }
    if let old, !has(.updatedAt), !task.isIdentical(to: old) { task.updatedAt = max(date, old.updatedAt) }
    return task
  }

  /// Writes a whole task from its record, without creating a value first: the texts alone would cost two allocations.
  static func write(_ task: TaskFields, id: UUID, to writer: inout JSONWriter) throws(LMDBError) {
    var cursor = task.cursor
    writer.beginObject()
    for field in TaskField.all {
      writer.key(field.name)
      if field.isOptional {
        let isThere = try cursor.advance(to: field.tag)
        if isThere { try writer.value(field.kind, stored: cursor.value) } else { writer.null() }
      } else {
        try writeHead(field, of: task, id, to: &writer)
      }
    }
    writer.endObject()
  }

  private static func writeHead(
    _ field: TaskField, of task: TaskFields, _ id: UUID, to writer: inout JSONWriter
  ) throws(LMDBError) {
    switch field {
    case .id: writer.value(.id(id))
    case .text: writer.value(storedText: task.titleBytes)
    case .state: writer.value(.state(try task.state))
    case .sortOrder: writer.value(.integer(task.sortOrder))
    case .createdAt: writer.value(.instant(try task.createdAt))
    case .updatedAt: writer.value(.instant(try task.updatedAt))
    default: assertionFailure("\(field.name) has a tag")
    }
  }
}

extension JSONWriter {
  /// Writes a stored value.
  fileprivate mutating func value(_ kind: FieldKind, stored bytes: RawSpan) throws(LMDBError) {
    if kind == .text { return value(storedText: bytes) }
    value(try FieldValue(kind, stored: bytes))
  }

  /// Writes the bytes of a stored text as a value.
  fileprivate mutating func value(storedText bytes: RawSpan) {
    // No Tally writes malformed text; it is exported as it is displayed.
    guard bytes.isWellFormedText else { return value(.text(bytes.text)) }
    // The buffer does not outlive the closure; any bytes may be read as bytes.
    unsafe bytes.withUnsafeBytes { value(unsafe $0.assumingMemoryBound(to: UInt8.self).span) }
  }

  /// Writes a key and its value, or `null`.
  mutating func entry(_ name: StaticString, _ field: FieldValue?) {
    key(name)
    value(field)
  }
}
