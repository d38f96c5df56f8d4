internal import Foundation
internal import LMDB

extension TaskField: DocumentKey {
  static let table = DocumentKeyTable<TaskField>()

  var text: String { "\(name)" }
}

/// A task as an object of a document: the fields that are present, with `nil` for a `null`.
struct TaskDocument {
  /// The values of the fields that are present.
  private var values = TaskItem(id: .lowest, title: "", createdAt: .earliest)
  /// A bit for each field that is present.
  private var present: UInt32 = 0

  var id: UUID? { has(.id) ? values.id : nil }

  /// Reads a task whose object has just begun.
  init(from reader: inout JSONReader, isLenient: Bool) throws {
    let position = reader.tokenPosition
    assert(TaskField.all.allSatisfy { $0.rawValue < UInt32.bitWidth }, "a field without a bit")
    var entries = DocumentEntries(TaskField.self, isLenient: isLenient)
    while let field = try entries.next(from: &reader) {
      values[field] = try reader.read(field.kind, for: field, orNull: field.isOptional)
      present |= 1 << UInt32(field.rawValue)
    }
    guard has(.text) else { throw reader.fault("The task has no text", at: position) }
  }

  private func has(_ field: TaskField) -> Bool { present & 1 << UInt32(field.rawValue) != 0 }
}

extension TaskDocument {
  /// The task that this gives, replacing a stored one if there is one.
  ///
  /// Missing fields keep their stored values. A new task was created now, or at its completion if that is earlier, and
  /// last changed at the later of its creation and completion; in a new place it goes last.
  ///
  /// - Throws: as ``TaskItem/validate()``, without a position.
  func task(
    replacing old: TaskItem?, id: UUID, now: Timestamp, sortOrder: (TaskItem) throws -> Int64
  ) throws -> TaskItem {
    var task = old ?? values
    task.id = id
    if old != nil { for field in TaskField.all where has(field) { task[field] = values[field] } }
    if !has(.completedAt), has(.state), !task.isCompleted { task.completedAt = nil }
    if !has(.state) { task.state = task.completedAt != nil ? .completed : task.isCompleted ? .notStarted : task.state }
    let completion = task.completedAt?.instant
    if old == nil, !has(.createdAt) { task.createdAt = min(now, completion ?? now) }
    if old == nil, !has(.updatedAt) { task.updatedAt = max(task.createdAt, completion ?? task.createdAt) }
    try task.validate()
    if !has(.sortOrder), old.map({ Place(of: $0) }) != Place(of: task) { task.sortOrder = try sortOrder(task) }
    // A change that the document does not date happens now.
    if let old, !has(.updatedAt), !task.isIdentical(to: old) { task.updatedAt = max(now, old.updatedAt) }
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
