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

  /// Creates the record of a task, with the instants of the old record whatever the zone in which the task was read.
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

/// Series are values of the library's own: the key is the id, the value is JSON.
extension TaskSeries {
  /// The namespace of the values that hold series.
  static let namespace = ValueKey.reservedPrefix + "series"

  /// The key of a series.
  static func key(of id: UUID) throws(TallyError) -> ValueKey { try ValueKey(IDText(id).text, in: namespace) }

  /// The id of the series that a key belongs to; `nil` for another value.
  static func id(of key: ValueKey) -> UUID? {
    guard key.namespace == namespace, let text = String(validating: key.bytes, as: UTF8.self) else { return nil }
    return try? IDText(text: text).id
  }

  /// Decodes a stored series; `nil` if the bytes are not the series of the key.
  init?(stored bytes: [UInt8], under key: ValueKey) {
    guard let series = try? JSONDecoder().decode(TaskSeries.self, from: Data(bytes)), series.id == Self.id(of: key)
    else { return nil }
    self = series
  }

  /// Whether a row of `values` is a series that cannot be read.
  static func isUnreadable(_ key: RawSpan, _ value: RawSpan) -> Bool {
    guard let key = try? ValueKey(decoding: key), key.namespace == namespace else { return false }
    return TaskSeries(stored: value.bytes(from: 0), under: key) == nil
  }

  /// The stored form: equal series have equal bytes.
  var storedBytes: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try [UInt8](encoder.encode(self))
    }
  }
}

extension TaskSeries {
  /// The parts of a task that a series gives it.
  package static let commonParts = commonFields.reduce(into: SyncFields.rule) { $0.formUnion($1.part ?? []) }

  /// The parts with one value each, which are written even if they are empty when a task describes the series.
  static let describedParts = commonParts.subtracting([.rule, .tags, .reminders])

  /// The parts in which two states of a series differ.
  package static func differences(_ old: TaskSeries, _ new: TaskSeries) -> SyncFields {
    var fields = TaskItem.differences(old.template, new.template).intersection(commonParts)
    if old.timeZoneIdentifier != new.timeZoneIdentifier { fields.insert(.timeZone) }
    if old.skippedDays != new.skippedDays { fields.insert(.skippedDays) }
    return fields
  }

  /// The parts that a write changes.
  static func changes(from old: TaskSeries?, to new: TaskSeries?) -> SyncFields {
    guard let new else { return .life }
    if let old { return differences(old, new) }
    var fields = new.template.filledFields.intersection(commonParts).union([.life, .created])
    if new.timeZoneIdentifier != nil { fields.insert(.timeZone) }
    if !new.skippedDays.isEmpty { fields.insert(.skippedDays) }
    return fields
  }
}
