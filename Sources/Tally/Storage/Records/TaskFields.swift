import Foundation
import LMDB
import TallyEngine

/// A task record, read in place: each field is fetched from the memory map when it is needed.
///
/// It lives no longer than the span it reads. Only what outlives it, such as the result of `item(id:)`, is copied.
struct TaskFields: ~Escapable {
  private let bytes: RawSpan
  private let titleEnd: Int

  /// Checks the record's format and head; tagged fields are checked while they are read.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= TaskRecord.headByteCount, bytes.load(bigEndianAt: 0) == TaskRecord.format else {
      throw .undecodable("a task record is too short or of an unknown format")
    }
    self.bytes = bytes
    titleEnd = TaskRecord.headByteCount + Int(bytes.load(bigEndianAt: 2, as: UInt32.self))
    guard titleEnd <= bytes.byteCount else { throw .undecodable("a task record ends before its title does") }
  }

  var isCompleted: Bool { bytes.load(bigEndianAt: 1) == TaskState.completed.rawValue }

  var isClosed: Bool { isCompleted || bytes.load(bigEndianAt: 1) == TaskState.cancelled.rawValue }

  var state: TaskState { get throws(LMDBError) { try bytes.load(stateAt: 1) } }

  var sortOrder: Int64 { bytes.load(orderedInt64At: 6) }

  var createdAt: Timestamp { get throws(LMDBError) { try bytes.load(timestampAt: 14) } }

  var updatedAt: Timestamp { get throws(LMDBError) { try bytes.load(timestampAt: 22) } }

  var stamp: ChangeStamp { ChangeStamp(bytes, at: 30) }

  /// The bytes of the title.
  var titleBytes: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(TaskRecord.headByteCount..<titleEnd) }
  }

  /// The bytes of the title and of the notes, copied.
  var texts: (title: [UInt8], notes: [UInt8]) {
    get throws(LMDBError) {
      var cursor = cursor
      let hasNotes = try cursor.advance(to: TaskField.notes.tag)
      return (titleBytes.bytes(from: 0), hasNotes ? cursor.value.bytes(from: 0) : [])
    }
  }

  /// A cursor before the first tagged field.
  var cursor: FieldCursor {
    @_lifetime(copy self)
    get { FieldCursor(bytes, from: titleEnd) }
  }

  /// The list, read without decoding the fields after it.
  var listID: UUID? {
    get throws(LMDBError) {
      var cursor = cursor
      guard try cursor.advance(to: TaskField.listID.tag) else { return nil }
      return try cursor.value.storedID()
    }
  }

  /// The place of the task in a series; `nil` if it does not repeat.
  var series: RecurrenceSeries? {
    get throws(LMDBError) {
      var cursor = cursor
      return try cursor.advance(to: TaskField.series.tag) ? RecurrenceSeries(stored: cursor.value) : nil
    }
  }

  /// Whether the task has a due date or a due day.
  var isDue: Bool {
    get throws(LMDBError) {
      var cursor = cursor
      if try cursor.advance(to: TaskField.dueDate.tag) { return true }
      return try cursor.advance(to: TaskField.dueDay.tag)
    }
  }

  /// Whether the task is planned for a day.
  func isPlanned(for day: CalendarDay) throws(LMDBError) -> Bool {
    var cursor = cursor
    guard try cursor.advance(to: TaskField.scheduledDate.tag) else { return false }
    return try cursor.value.storedDay() == day
  }

  /// The task as a value.
  ///
  /// The fields stay local variables until the end: filling a task after creating it would copy it once more.
  func item(id: UUID) throws(LMDBError) -> TaskItem {
    let (state, created, updated) = (try state, try createdAt, try updatedAt)
    var notes: String?, listID: UUID?
    var scheduledDate: CalendarDay?, dueDate: Timestamp?, reminderDate: Timestamp?, completedAt: OffsetTimestamp?
    var extrasBox: TaskExtras.Box?
    var cursor = cursor
    fields: while try cursor.advance() {
      switch cursor.tag {
      case TaskField.notes.tag: notes = cursor.value.text
      case TaskField.scheduledDate.tag: scheduledDate = try cursor.value.storedDay()
      case TaskField.dueDate.tag: dueDate = try cursor.value.storedInstant()
      case TaskField.reminderDate.tag: reminderDate = try cursor.value.storedInstant()
      case TaskField.listID.tag: listID = try cursor.value.storedID()
      case TaskField.completedAt.tag: completedAt = try cursor.value.storedOffsetInstant()
      default:
        // The rare fields come last.
        var extras = try extras(from: cursor)
        extras.anchorFloating(due: dueDate, reminder: reminderDate)
        extrasBox = TaskExtras.Box(extras)
        break fields
      }
    }
    return TaskItem(
      id: id, title: titleBytes.text, notes: notes, state: state, scheduledDate: scheduledDate, dueDate: dueDate,
      reminderDate: reminderDate, listID: listID, sortOrder: sortOrder, createdAt: created, updatedAt: updated,
      completedAt: completedAt, extrasBox: extrasBox)
  }

  /// Decodes the fields that few tasks have, from the current one on.
  ///
  /// It is a separate function, so that decoding the common fields needs no stack space for these.
  @inline(never)
  private func extras(from cursor: FieldCursor) throws(LMDBError) -> TaskExtras {
    var (extras, cursor) = (TaskExtras(), cursor)
    repeat { try extras.read(cursor) } while try cursor.advance()
    return extras
  }

  /// The fields that this version does not know.
  var unknown: UnknownFields {
    get throws(LMDBError) {
      var unknown = UnknownFields()
      var cursor = cursor
      while try cursor.advance() {
        if TaskField(tag: cursor.tag) == nil { unknown.append(cursor) }
      }
      return unknown
    }
  }

  /// Whether all texts are well-formed UTF-8.
  var hasWellFormedTexts: Bool {
    guard titleBytes.isWellFormedText else { return false }
    var cursor = cursor
    while (try? cursor.advance()) == true {
      switch TaskField(tag: cursor.tag)?.kind {
      case .text: if !cursor.value.isWellFormedText { return false }
      // Reading these values checks their texts.
      case .tags: if (try? TagSet(stored: cursor.value)) == nil { return false }
      case .attributes: if (try? FieldValue.attributes(stored: cursor.value)) == nil { return false }
      default: break
      }
    }
    return true
  }
}

extension TaskExtras {
  /// Reads the field at a cursor; skips a field that this version does not know.
  fileprivate mutating func read(_ cursor: borrowing FieldCursor) throws(LMDBError) {
    switch cursor.tag {
    case TaskField.dueDay.tag: dueDay = try cursor.value.storedDay()
    case TaskField.priority.tag: priority = try cursor.value.storedPriority()
    case TaskField.tags.tag: tags = try TagSet(stored: cursor.value)
    case TaskField.parentID.tag: parentID = try cursor.value.storedID()
    case TaskField.recurrence.tag: recurrence = try cursor.value.storedRecurrence()
    case TaskField.series.tag: series = try RecurrenceSeries(stored: cursor.value)
    case TaskField.attributes.tag: attributes = try FieldValue.attributes(stored: cursor.value)
    case TaskField.cancelledAt.tag: cancelledAt = try cursor.value.storedOffsetInstant()
    case TaskField.startDay.tag: start = .day(try cursor.value.storedDay())
    case TaskField.dependsOn.tag: dependsOn = try TaskIDSet(stored: cursor.value)
    case TaskField.reminders.tag: otherReminders = try ReminderSet(stored: cursor.value)
    case TaskField.someday.tag: if try cursor.value.storedFlag() { start = .someday }
    case TaskField.floatingDue.tag, TaskField.floatingReminder.tag, TaskField.floatingReminders.tag:
      try readFloating(cursor)
    default: break
    }
  }

  private mutating func readFloating(_ cursor: borrowing FieldCursor) throws(LMDBError) {
    var times = floating.value ?? FloatingTimes()
    switch cursor.tag {
    case TaskField.floatingDue.tag: times.due = .init(try cursor.value.storedInstant(), for: .earliest)
    case TaskField.floatingReminder.tag: times.reminder = .init(try cursor.value.storedInstant(), for: .earliest)
    default: times.reminders = .init(try ReminderSet(stored: cursor.value), for: [])
    }
    floating.value = times
  }
}
