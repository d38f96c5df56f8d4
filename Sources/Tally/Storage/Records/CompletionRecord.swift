import Foundation
import LMDB
import TallyEngine

/// The record of one completion in the ledger; its instant and task are the key.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  whether the task was in a list when it was completed: 0 or 1
///      2    2  UTC offset where it was completed, in minutes
///      4    8  when the task was created, in microseconds since 1970
///     12   16  the list the task was in, or zero
///     28       tagged fields, see `FieldCursor`: 1 priority, 2 tags
/// ```
///
/// The list, tags and priority are those at the time of completion; later changes of the task do not alter them.
struct CompletionRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  static let headByteCount = 28
  // Stored: do not change.
  static let priorityTag: UInt8 = 1
  static let tagsTag: UInt8 = 2

  var utcOffsetInMinutes: Int16
  var createdAtMicroseconds: Int64
  var classification: Classification
  /// The fields that only a newer version knows.
  var unknown = UnknownFields()

  var listID: UUID? { classification.listID }

  var encodedByteCount: Int {
    let tagged = taggedValues.reduce(0) { $0 + TaggedField.byteCount(ofValue: $1.value.storedByteCount) }
    return Self.headByteCount + tagged + unknown.bytes.count
  }

  /// The tagged fields of the record, in the order of their tags.
  private var taggedValues: [(tag: UInt8, value: FieldValue)] {
    var values: [(tag: UInt8, value: FieldValue)] = []
    if classification.priority != .none { values.append((Self.priorityTag, .priority(classification.priority))) }
    if !classification.tags.isEmpty { values.append((Self.tagsTag, .tags(classification.tags))) }
    return values
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(listID == nil ? 0 : 1)
    output.append(bigEndian: UInt16(bitPattern: utcOffsetInMinutes))
    output.append(ordered: createdAtMicroseconds)
    output.append(listID ?? .lowest)
    for (tag, value) in taggedValues {
      TaggedField.appendHead(tag, valueByteCount: value.storedByteCount, to: &output)
      value.store(into: &output)
    }
    unknown.encode(from: 0, into: &output)
  }
}

extension CompletionRecord {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    let fields = try CompletionFields(bytes)
    utcOffsetInMinutes = fields.utcOffsetInMinutes
    createdAtMicroseconds = fields.createdAtMicroseconds
    classification = Classification(listID: fields.hasList ? fields.listBytes.load(idAt: 0) : nil)
    var cursor = fields.cursor
    while try cursor.advance() {
      switch cursor.tag {
      case Self.priorityTag: classification.priority = try cursor.value.storedPriority()
      case Self.tagsTag: classification.tags = try TagSet(stored: cursor.value)
      default: unknown.append(cursor)
      }
    }
  }

  /// The record of a completed task; `nil` for an open one.
  ///
  /// If the completion has a record already, its classification and unknown fields are kept; else the classification is
  /// the task's current one.
  init?(of task: TaskItem, keeping recorded: CompletionRecord? = nil) {
    guard let completedAt = task.completedAt else { return nil }
    self.init(
      utcOffsetInMinutes: Int16(completedAt.utcOffsetInMinutes),
      createdAtMicroseconds: task.createdAt.microsecondsSince1970,
      classification: recorded?.classification ?? task.classification, unknown: recorded?.unknown ?? UnknownFields())
  }
}

/// One entry of the ledger of completions, which outlives its task.
package struct Completion: Hashable, Sendable {
  /// The task that was completed; it may have been deleted since.
  let taskID: UUID
  /// When the task was completed, with the UTC offset in force then.
  let completedAt: OffsetTimestamp
  /// When the task was created.
  let createdAt: Timestamp
  /// The list (which may have been deleted since), the tags and the priority that the task had when it was completed.
  let classification: Classification
  /// Whether the task has been deleted.
  let isTaskDeleted: Bool
}

/// The record of a completion, read in place; it lives no longer than the record.
///
/// `CompletionRecord` describes the layout.
struct CompletionFields: ~Escapable {
  private let bytes: RawSpan

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= CompletionRecord.headByteCount, bytes.load(bigEndianAt: 0) == CompletionRecord.format
    else {
      throw .undecodable("a completion record is too short or of an unknown format")
    }
    self.bytes = bytes
  }

  var utcOffsetInMinutes: Int16 { Int16(bitPattern: bytes.load(bigEndianAt: 2)) }
  var createdAtMicroseconds: Int64 { bytes.load(orderedInt64At: 4) }
  var hasList: Bool { bytes.load(bigEndianAt: 1, as: UInt8.self) != 0 }

  /// The stored id of the list; zero if there is none.
  var listBytes: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(12..<CompletionRecord.headByteCount) }
  }

  /// A cursor before the first tagged field.
  var cursor: FieldCursor {
    @_lifetime(copy self)
    get { FieldCursor(bytes, from: CompletionRecord.headByteCount) }
  }
}
