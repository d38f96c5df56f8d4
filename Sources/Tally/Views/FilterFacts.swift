import Foundation
import LMDB

/// What filters and orders look at in a record, found in one pass over its fields and left in place.
///
/// Lives no longer than the record. A field that the task lacks has the value of its type that stands for nothing; `has`
/// says whether it is there.
struct FilterFacts: ~Escapable {
  let id: UUID
  let state: TaskState
  let sortOrder: Int64
  let created: Int64
  let updated: Int64
  let title: RawSpan
  /// A bit for each tag of a field that the record has.
  private var tags: UInt32 = 0
  private(set) var notes: RawSpan
  private(set) var tagTexts: RawSpan
  private(set) var attributes: RawSpan
  private(set) var day: Int32 = 0
  private(set) var due: Int64 = 0
  private(set) var dueDay: Int32 = 0
  private(set) var reminder: Int64 = 0
  private(set) var completed: Int64 = 0
  private(set) var listID = UUID.lowest
  private(set) var parentID = UUID.lowest
  private(set) var priority = Priority.none

  /// Reads the fields with tags up to one; those behind it are not asked for.
  @_lifetime(copy record)
  init(_ id: UUID, _ record: RawSpan, upTo lastTag: UInt8 = .max) throws(LMDBError) {
    let fields = try TaskFields(record)
    self.id = id
    state = try fields.state
    sortOrder = fields.sortOrder
    created = try fields.createdAt.microsecondsSince1970
    updated = try fields.updatedAt.microsecondsSince1970
    title = fields.titleBytes
    notes = record.extracting(first: 0)
    tagTexts = record.extracting(first: 0)
    attributes = record.extracting(first: 0)
    guard lastTag > 0 else { return }
    var cursor = fields.cursor
    while try cursor.advance(), cursor.tag <= lastTag { try read(cursor.tag, cursor.value) }
  }

  @_lifetime(self: copy self, copy value)
  private mutating func read(_ tag: UInt8, _ value: RawSpan) throws(LMDBError) {
    if tag < UInt32.bitWidth { tags |= 1 << tag }
    switch tag {
    case TaskField.notes.tag: notes = value
    case TaskField.scheduledDate.tag: day = try value.storedDay().dayNumber
    case TaskField.dueDate.tag: due = try value.storedInstant().microsecondsSince1970
    case TaskField.reminderDate.tag: reminder = try value.storedInstant().microsecondsSince1970
    case TaskField.listID.tag: listID = try value.storedID()
    case TaskField.completedAt.tag: completed = try value.storedOffsetInstant().instant.microsecondsSince1970
    case TaskField.dueDay.tag: dueDay = try value.storedDay().dayNumber
    case TaskField.priority.tag: priority = try value.storedPriority()
    case TaskField.tags.tag: tagTexts = value
    case TaskField.parentID.tag: parentID = try value.storedID()
    case TaskField.attributes.tag: attributes = value
    default: break
    }
  }

  /// What the ledger keeps of a completion; everything else is absent, as the task may have been deleted.
  @_lifetime(copy entry)
  init(_ completion: InstantKey, ofCompletion entry: RawSpan) throws(LMDBError) {
    let fields = try CompletionFields(entry)
    id = completion.id
    state = .completed
    sortOrder = 0
    created = fields.createdAtMicroseconds
    updated = completion.microseconds
    title = entry.extracting(first: 0)
    notes = title
    tagTexts = title
    attributes = title
    tags = 1 << TaskField.completedAt.tag
    completed = completion.microseconds
    try setClassification(ofCompletion: entry)
  }

  /// Replaces the list, the tags and the priority by those of the moment of completion.
  @_lifetime(self: copy self, copy entry)
  mutating func setClassification(ofCompletion entry: RawSpan) throws(LMDBError) {
    tags &= ~(1 << TaskField.listID.tag | 1 << TaskField.tags.tag | 1 << TaskField.priority.tag)
    priority = .none
    let fields = try CompletionFields(entry)
    if fields.hasList { try read(TaskField.listID.tag, fields.listBytes) }
    var cursor = fields.cursor
    while try cursor.advance() {
      switch cursor.tag {
      case CompletionRecord.priorityTag: try read(TaskField.priority.tag, cursor.value)
      case CompletionRecord.tagsTag: try read(TaskField.tags.tag, cursor.value)
      default: break
      }
    }
  }

  /// Whether the record has a field that a task may lack.
  func has(_ field: TaskField) -> Bool { tags & 1 << field.tag != 0 }

  var isOpen: Bool { state != .completed }

  /// The position inside a place.
  var order: OrderKey { OrderKey(sortOrder: sortOrder, createdAtMicroseconds: created, id: id) }
}
