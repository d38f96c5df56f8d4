import Foundation
import LMDB
import TallyEngine

/// A task as it is stored: a head, the title, then tagged fields.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  state
///      2    4  bytes of the title
///      6    8  sort order
///     14    8  created at        instants: microseconds since 1970
///     22    8  updated at
///     30    8  sequence of the commit that created it
///     38    8  sequence of the commit that last changed it
///     46       title, then the fields that the task has, see `TaskField` and `FieldCursor`
/// ```
///
/// `Schemas/storage-v2.json` holds the same layout as data.
struct TaskRecord: ObjectRecord {
  static let kind = ObjectKind.task
  static let tableName = TableName.tasks
  static let format: UInt8 = 1
  static let headByteCount = 46

  var item: TaskItem
  var stamp: ChangeStamp
  /// The fields that only a newer version knows.
  var unknown: UnknownFields

  /// Creates the record of a task; whoever has read the task, the record has the instants that it had.
  init(item: TaskItem, stamp: ChangeStamp, unknown: UnknownFields = UnknownFields()) {
    (self.item, self.stamp, self.unknown) = (item.stored, stamp, unknown)
  }

  var encodedByteCount: Int {
    var count = Self.headByteCount + item.title.utf8.count + unknown.bytes.count
    for field in TaskField.tagged {
      if let value = item[field] { count += TaggedField.byteCount(ofValue: value.storedByteCount) }
    }
    return count
  }

  var requiredFeatures: StoreFeatures { item.isOfFirstVersion ? [] : .taskLife }
}

extension TaskRecord {
  static func table(in tables: Tables) -> Database<IDKey, TaskRecord> { tables.tasks }
  static func indexes(in tables: Tables) -> [IndexHandle<TaskRecord>] { tables.taskIndexes }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(item.state.rawValue)
    output.append(bigEndian: UInt32(item.title.utf8.count))
    output.append(ordered: item.sortOrder)
    output.append(ordered: item.createdAt.microsecondsSince1970)
    output.append(ordered: item.updatedAt.microsecondsSince1970)
    stamp.encode(into: &output)
    item.title.encode(into: &output)
    var unknownOffset = 0
    for field in TaskField.tagged {
      guard let value = item[field] else { continue }
      unknown.encode(below: field.tag, from: &unknownOffset, into: &output)
      TaggedField.appendHead(field.tag, valueByteCount: value.storedByteCount, to: &output)
      value.store(into: &output)
    }
    unknown.encode(from: unknownOffset, into: &output)
  }

  /// Decodes a whole record of a task.
  init(id: UUID, decoding bytes: RawSpan) throws(LMDBError) {
    let fields = try TaskFields(bytes)
    stamp = fields.stamp
    item = try fields.item(id: id)
    unknown = try fields.unknown
  }
}

extension TaskItem {
  /// Whether every version of the program can store the task; see ``StoreFeatures/taskLife``.
  var isOfFirstVersion: Bool {
    guard let extras = extrasBox?.extras else { return !isCancelled }
    return !isCancelled && extras.start == nil && extras.dependsOn.isEmpty && extras.otherReminders.isEmpty
      && extras.floating.value == nil
      && extras.recurrence?.isOfFirstVersion ?? true && extras.series?.step ?? 0 == 0
  }

  /// Whether two tasks are equal byte for byte.
  ///
  /// `==` also accepts texts that Unicode considers equivalent; a store must preserve the difference.
  func isIdentical(to other: TaskItem) -> Bool {
    // Nearly all tasks that are compared differ, so they are not encoded.
    guard stored == other.stored else { return false }
    let stamp = ChangeStamp(replacing: nil, at: 0)
    return TaskRecord(item: self, stamp: stamp).encodedBytes == TaskRecord(item: other, stamp: stamp).encodedBytes
  }
}
