import Foundation
import LMDB

/// A task record read in place: each field is fetched from the memory map when it is asked for.
///
/// Lives no longer than the span it reads; only `item(id:)` copies.
struct TaskFields: ~Escapable {
  private let bytes: RawSpan
  let presence: TaskPresence
  private let titleByteCount: Int
  private let notesByteCount: Int

  /// Checks the record's format and lengths once, so that the fields need no check.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= TaskRecord.headByteCount, bytes.load(bigEndianAt: 0) == TaskRecord.format else {
      throw .undecodable("a task record is too short or of an unknown format")
    }
    self.bytes = bytes
    presence = TaskPresence(rawValue: bytes.load(bigEndianAt: 2))
    titleByteCount = Int(bytes.load(bigEndianAt: 76, as: UInt32.self))
    notesByteCount = Int(bytes.load(bigEndianAt: 80, as: UInt32.self))
    guard TaskRecord.headByteCount + titleByteCount + notesByteCount <= bytes.byteCount else {
      throw .undecodable("a task record ends before its texts do")
    }
  }

  var stateRawValue: UInt8 { bytes.load(bigEndianAt: 1) }

  var isCompleted: Bool { stateRawValue == TaskState.completed.rawValue }

  var state: TaskState {
    get throws(LMDBError) {
      guard let state = TaskState(rawValue: stateRawValue) else {
        throw .undecodable("a task record has the unknown state \(stateRawValue)")
      }
      return state
    }
  }

  /// The bytes of the title.
  var titleBytes: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(TaskRecord.headByteCount..<TaskRecord.headByteCount + titleByteCount) }
  }

  /// The bytes of the notes; `nil` if there are none.
  var notesBytes: RawSpan? {
    @_lifetime(copy self)
    get {
      guard presence.contains(.notes) else { return nil }
      let start = TaskRecord.headByteCount + titleByteCount
      return bytes.extracting(start..<start + notesByteCount)
    }
  }

  var listID: UUID? { presence.contains(.list) ? bytes.load(idAt: 60) : nil }

  var trailing: [UInt8] {
    let start = TaskRecord.headByteCount + titleByteCount + notesByteCount
    return bytes.bytes(from: start)
  }

  var reserved: UInt16 { bytes.load(bigEndianAt: 58) }

  var sortOrder: Int64 { bytes.load(orderedInt64At: 8) }

  var createdAt: Timestamp { get throws(LMDBError) { try bytes.load(timestampAt: 16) } }

  var updatedAt: Timestamp { get throws(LMDBError) { try bytes.load(timestampAt: 24) } }

  var dueDate: Timestamp? { get throws(LMDBError) { try instant(at: 32, if: .dueDate) } }

  var reminderDate: Timestamp? { get throws(LMDBError) { try instant(at: 40, if: .reminderDate) } }

  var completedAt: OffsetTimestamp? {
    get throws(LMDBError) {
      guard let instant = try instant(at: 48, if: .completedAt) else { return nil }
      return try bytes.load(offsetAt: 56, of: instant)
    }
  }

  var scheduledDate: CalendarDay? {
    get throws(LMDBError) {
      guard presence.contains(.scheduledDate) else { return nil }
      let dayNumber = bytes.load(orderedInt32At: 4)
      guard let day = try? CalendarDay(dayNumber: dayNumber) else {
        throw .undecodable("a task record has the impossible day number \(dayNumber)")
      }
      return day
    }
  }

  /// The task as a value.
  func item(id: UUID) throws(LMDBError) -> TaskItem {
    // What may throw comes first: an error in the midst of making the task costs every task a copy.
    let (state, day, due, reminder) = (try state, try scheduledDate, try dueDate, try reminderDate)
    let (created, updated, completed) = (try createdAt, try updatedAt, try completedAt)
    return TaskItem(
      id: id, title: titleBytes.text, notes: notesBytes?.text, state: state, scheduledDate: day, dueDate: due,
      reminderDate: reminder, listID: listID, sortOrder: sortOrder, createdAt: created, updatedAt: updated,
      completedAt: completed)
  }

  private func instant(at offset: Int, if field: TaskPresence) throws(LMDBError) -> Timestamp? {
    presence.contains(field) ? try bytes.load(timestampAt: offset) : nil
  }
}

extension RawSpan {
  /// The instant at an offset.
  func load(timestampAt offset: Int) throws(LMDBError) -> Timestamp {
    let microseconds = load(orderedInt64At: offset)
    guard let timestamp = try? Timestamp(microsecondsSince1970: microseconds) else {
      throw .undecodable("a record has the impossible instant \(microseconds)")
    }
    return timestamp
  }

  /// An instant together with the UTC offset at an offset of the record, in minutes.
  func load(offsetAt offset: Int, of instant: Timestamp) throws(LMDBError) -> OffsetTimestamp {
    let minutes = Int(Int16(bitPattern: load(bigEndianAt: offset)))
    guard let value = try? OffsetTimestamp(instant, utcOffsetInMinutes: minutes) else {
      throw .undecodable("a record has the impossible UTC offset of \(minutes) minutes")
    }
    return value
  }
}
