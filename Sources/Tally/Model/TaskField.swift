package import Foundation
package import TallyEngine

/// A field of a task: its name, how it is stored, and the kind of its values.
///
/// This is the only description of a field. Records, documents, history and comparisons follow it;
/// `docs/growing.md` lists the places that a new field touches. The cases are in the order of documents; those from
/// `dueDay` on are rare, and a task has them in one object (`TaskExtras`).
package enum TaskField: UInt8, CaseIterable, Sendable {
  case id, text, notes, state, scheduledDate, dueDate, reminderDate, listID, sortOrder, createdAt, updatedAt
  case completedAt, dueDay, priority, tags, parentID, recurrence, series, attributes
  case cancelledAt, startDay, dependsOn, reminders, someday, floatingDue, floatingReminder, floatingReminders

  /// The name in documents, the tag in records and the kind of value.
  ///
  /// Names and tags are stored: do not change them. Tags ascend in the order of the cases; 0 marks the fields
  /// in a record's header, which every task has.
  @inline(__always)
  private var facts: (name: StaticString, tag: UInt8, kind: FieldKind) {
    switch self {
    case .id: ("id", 0, .id)
    case .text: ("text", 0, .text)
    case .notes: ("notes", 1, .text)
    case .state: ("state", 0, .state)
    case .scheduledDate: ("scheduledDate", 2, .day)
    case .dueDate: ("dueDate", 3, .instant)
    case .reminderDate: ("reminderDate", 4, .instant)
    case .listID: ("listID", 5, .id)
    case .sortOrder: ("sortOrder", 0, .integer)
    case .createdAt: ("createdAt", 0, .instant)
    case .updatedAt: ("updatedAt", 0, .instant)
    case .completedAt: ("completedAt", 6, .offsetInstant)
    case .dueDay: ("dueDay", 7, .day)
    case .priority: ("priority", 8, .priority)
    case .tags: ("tags", 9, .tags)
    case .parentID: ("parentID", 10, .id)
    case .recurrence: ("recurrence", 11, .recurrence)
    case .series: ("series", 12, .series)
    case .attributes: ("attributes", 13, .attributes)
    case .cancelledAt: ("cancelledAt", 14, .offsetInstant)
    case .startDay: ("startDay", 15, .day)
    case .dependsOn: ("dependsOn", 16, .ids)
    case .reminders: ("reminders", 17, .reminders)
    case .someday: ("someday", 18, .flag)
    // Wall-clock times, written as in UTC.
    case .floatingDue: ("floatingDue", 19, .instant)
    case .floatingReminder: ("floatingReminder", 20, .instant)
    case .floatingReminders: ("floatingReminders", 21, .reminders)
    }
  }

  package var name: StaticString { facts.name }
  var tag: UInt8 { facts.tag }
  package var kind: FieldKind { facts.kind }

  /// Whether the field may be absent.
  package var isOptional: Bool { tag > 0 }

  /// Whether documents have the field as `null` if a task lacks it.
  ///
  /// Later fields are left out, because earlier versions refuse keys that they do not know.
  package var isAlwaysWritten: Bool { tag < Self.cancelledAt.tag }

  /// All fields, stored once because `allCases` creates an array each time.
  package static let all = Array(allCases)
  /// The fields with a tag, in ascending order of their tags.
  static let tagged = all.filter(\.isOptional)
  private static let byTag = (UInt8.min...UInt8.max).map { tag in tagged.first { $0.tag == tag } }

  /// Creates the field with a tag in a record; `nil` for a tag of a newer version.
  init?(tag: UInt8) {
    guard let field = Self.byTag[Int(tag)] else { return nil }
    self = field
  }
}

extension TaskItem {
  /// The value of a field; `nil` if the task does not have it.
  ///
  /// Setting `nil` is ignored for a field that every task has.
  package subscript(field: TaskField) -> FieldValue? {
    get {
      switch field {
      case .id: .id(id)
      case .text: .text(title)
      case .notes: notes.map { .text($0) }
      case .state: .state(state)
      case .scheduledDate: scheduledDate.map { .day($0) }
      case .dueDate: dueDate.map { .instant($0) }
      case .reminderDate: reminderDate.map { .instant($0) }
      case .listID: listID.map { .id($0) }
      case .sortOrder: .integer(sortOrder)
      case .createdAt: .instant(createdAt)
      case .updatedAt: .instant(updatedAt)
      case .completedAt: completedAt.map { .offsetInstant($0) }
      case .dueDay, .priority, .tags, .parentID, .recurrence, .series, .attributes, .cancelledAt, .startDay, .dependsOn,
        .reminders, .someday:
        extrasBox?.extras[field]
      case .floatingDue, .floatingReminder, .floatingReminders: floatingValue(of: field)
      }
    }
    set {
      switch field {
      case .id: id = newValue?.id ?? id
      case .text: title = newValue?.text ?? title
      case .notes: notes = newValue?.text
      case .state: state = newValue?.state ?? state
      case .scheduledDate: scheduledDate = newValue?.day
      case .dueDate: dueDate = newValue?.instant
      case .reminderDate: reminderDate = newValue?.instant
      case .listID: listID = newValue?.id
      case .sortOrder: sortOrder = newValue?.integer ?? sortOrder
      case .createdAt: createdAt = newValue?.instant ?? createdAt
      case .updatedAt: updatedAt = newValue?.instant ?? updatedAt
      case .completedAt: completedAt = newValue?.offsetInstant
      case .dueDay, .priority, .tags, .parentID, .recurrence, .series, .attributes, .cancelledAt, .startDay, .dependsOn,
        .reminders, .someday:
        setExtra(field, newValue)
      case .floatingDue, .floatingReminder, .floatingReminders: setFloating(field, newValue)
      }
    }
  }

  private mutating func setExtra(_ field: TaskField, _ value: FieldValue?) {
    // A task is due either at an instant or on a day, never both.
    if field == .dueDay, value != nil { dueDate = nil }
    extras[field] = value
  }

  private func floatingValue(of field: TaskField) -> FieldValue? {
    guard let times = floating else { return nil }
    return switch field {
    case .floatingDue: times.due.map { .instant($0.local) }
    case .floatingReminder: times.reminder.map { .instant($0.local) }
    default: times.reminders.map { .reminders($0.local) }
    }
  }

  private mutating func setFloating(_ field: TaskField, _ value: FieldValue?) {
    // A time that floats already keeps the instant that its record has.
    guard value != floatingValue(of: field) else { return }
    var times = floating ?? FloatingTimes()
    switch field {
    case .floatingDue: times.due = .init(value?.instant, for: dueDate)
    case .floatingReminder: times.reminder = .init(value?.instant, for: reminderDate)
    default: times.reminders = .init(value?.reminders, for: otherReminders)
    }
    floating = times
  }
}

extension TaskItem {
  /// The value of a field in a document, where the reminders include that at ``reminderDate``.
  package func documentValue(of field: TaskField) -> FieldValue? {
    guard field == .reminders, let value = self[field] else { return self[field] }
    return .reminders(value.reminders.map { ReminderSet(Array($0) + reminders) } ?? [])
  }
}

/// The kinds of values of fields.
package enum FieldKind: Sendable {
  case text, state, integer, instant, offsetInstant, day, id, priority, tags, recurrence, series, attributes, ids,
    reminders, flag
}

/// The value of a field of any kind.
package enum FieldValue: Hashable, Sendable {
  case text(String)
  case state(TaskState)
  case integer(Int64)
  case instant(Timestamp)
  case offsetInstant(OffsetTimestamp)
  case day(CalendarDay)
  case id(UUID)
  case priority(Priority)
  case tags(TagSet)
  case recurrence(Recurrence)
  case series(RecurrenceSeries)
  case attributes([String: AttributeValue])
  case ids(TaskIDSet)
  case reminders(ReminderSet)
  case flag(Bool)

  package var text: String? { if case .text(let value) = self { value } else { nil } }
  package var state: TaskState? { if case .state(let value) = self { value } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var instant: Timestamp? { if case .instant(let value) = self { value } else { nil } }
  package var offsetInstant: OffsetTimestamp? { if case .offsetInstant(let value) = self { value } else { nil } }
  package var day: CalendarDay? { if case .day(let value) = self { value } else { nil } }
  package var id: UUID? { if case .id(let value) = self { value } else { nil } }
  package var priority: Priority? { if case .priority(let value) = self { value } else { nil } }
  package var tags: TagSet? { if case .tags(let value) = self { value } else { nil } }
  package var recurrence: Recurrence? { if case .recurrence(let value) = self { value } else { nil } }
  package var series: RecurrenceSeries? { if case .series(let value) = self { value } else { nil } }
  package var attributes: [String: AttributeValue]? { if case .attributes(let value) = self { value } else { nil } }
  package var ids: TaskIDSet? { if case .ids(let value) = self { value } else { nil } }
  package var reminders: ReminderSet? { if case .reminders(let value) = self { value } else { nil } }
  package var flag: Bool? { if case .flag(let value) = self { value } else { nil } }

  /// The size of the stored value in bytes.
  var storedByteCount: Int {
    switch self {
    case .text(let value): value.utf8.count
    case .state: 1
    case .integer, .instant: 8
    case .offsetInstant: 10
    case .day: 4
    case .id: 16
    case .priority: 1
    case .tags(let tags): tags.storedByteCount
    case .recurrence(let recurrence): recurrence.text.utf8.count
    case .series(let series): series.storedByteCount
    case .attributes(let attributes): Self.storedByteCount(of: attributes)
    case .ids(let ids): 16 * ids.count
    case .reminders(let reminders): reminders.storedByteCount
    case .flag: 1
    }
  }

  /// The size of stored attributes in bytes.
  static func storedByteCount(of attributes: [String: AttributeValue]) -> Int {
    attributes.reduce(0) { $0 + 7 + $1.key.utf8.count + $1.value.storedByteCount }
  }
}
