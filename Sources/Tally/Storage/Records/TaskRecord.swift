import Foundation
import LMDB

/// A task as it is stored: fixed offsets first, then the texts.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  state
///      2    2  presence bits
///      4    4  scheduled day
///      8    8  sort order
///     16    8  created at        instants: microseconds since 1970
///     24    8  updated at
///     32    8  due date
///     40    8  reminder date
///     48    8  completed at
///     56    2  UTC offset of the completion, in minutes
///     58    2  reserved, zero; kept on rewrite
///     60   16  list
///     76    4  bytes of the title
///     80    4  bytes of the notes
///     84       title, notes, then whatever a newer minor version has added
/// ```
///
/// Absent values are zero with their presence bit clear; bits unknown here are kept on rewrite. `Schemas/storage-v1.json`
/// holds the same layout as data.
struct TaskRecord: BinaryCodable {
  static let format: UInt8 = 1
  static let headByteCount = 84
  /// The longest texts of one task together: well under the 2 GiB at which liblmdb 0.9 fails.
  static let maximumTextByteCount = 1 << 30

  var item: TaskItem
  /// Bytes after the notes, written by a newer minor version and kept on rewrite.
  var trailing: [UInt8] = []
  /// Presence bits and reserved bytes of a newer minor version, kept on rewrite.
  var unknownPresence: TaskPresence = []
  var reserved: UInt16 = 0

  var encodedByteCount: Int {
    Self.headByteCount + item.title.utf8.count + (item.notes?.utf8.count ?? 0) + trailing.count
  }
}

/// Which optional fields a task record holds; stored: do not change the numbers.
struct TaskPresence: OptionSet {
  let rawValue: UInt16
  static let notes = TaskPresence(rawValue: 1 << 0)
  static let scheduledDate = TaskPresence(rawValue: 1 << 1)
  static let dueDate = TaskPresence(rawValue: 1 << 2)
  static let reminderDate = TaskPresence(rawValue: 1 << 3)
  static let list = TaskPresence(rawValue: 1 << 4)
  static let completedAt = TaskPresence(rawValue: 1 << 5)
  static let known: TaskPresence = [.notes, .scheduledDate, .dueDate, .reminderDate, .list, .completedAt]

  init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  init(of item: TaskItem) {
    var presence: TaskPresence = []
    if item.notes != nil { presence.insert(.notes) }
    if item.scheduledDate != nil { presence.insert(.scheduledDate) }
    if item.dueDate != nil { presence.insert(.dueDate) }
    if item.reminderDate != nil { presence.insert(.reminderDate) }
    if item.listID != nil { presence.insert(.list) }
    if item.completedAt != nil { presence.insert(.completedAt) }
    self = presence
  }
}

extension TaskRecord {
  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(item.state.rawValue)
    output.append(bigEndian: TaskPresence(of: item).union(unknownPresence).rawValue)
    output.append(ordered: item.scheduledDate?.dayNumber ?? 0)
    output.append(ordered: item.sortOrder)
    output.append(ordered: item.createdAt.microsecondsSince1970)
    output.append(ordered: item.updatedAt.microsecondsSince1970)
    output.append(ordered: item.dueDate?.microsecondsSince1970 ?? 0)
    output.append(ordered: item.reminderDate?.microsecondsSince1970 ?? 0)
    output.append(ordered: item.completedAt?.instant.microsecondsSince1970 ?? 0)
    output.append(bigEndian: UInt16(bitPattern: Int16(item.completedAt?.utcOffsetInMinutes ?? 0)))
    output.append(bigEndian: reserved)
    output.append(item.listID ?? .lowest)
    output.append(bigEndian: UInt32(item.title.utf8.count))
    output.append(bigEndian: UInt32(item.notes?.utf8.count ?? 0))
    item.title.encode(into: &output)
    item.notes?.encode(into: &output)
    trailing.encode(into: &output)
  }

  /// Reads a whole record; the identifier is the key's and must be set by the caller.
  init(decoding bytes: RawSpan) throws(LMDBError) {
    try self.init(id: .lowest, decoding: bytes)
  }

  /// Reads a whole record of a task.
  init(id: UUID, decoding bytes: RawSpan) throws(LMDBError) {
    let fields = try TaskFields(bytes)
    item = try fields.item(id: id)
    trailing = fields.trailing
    unknownPresence = fields.presence.subtracting(.known)
    reserved = fields.reserved
  }
}
