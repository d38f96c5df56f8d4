import LMDB

/// The parts of a task or list that are merged independently; values that must agree are one part.
///
/// The numbers of the bits are stored and sent: do not change them.
package struct SyncFields: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Whether the object exists.
  package static let life = SyncFields(rawValue: 1 << 0)
  /// The position among neighbours, as the user has set it.
  package static let order = SyncFields(rawValue: 1 << 1)
  /// When the task was completed, if it is.
  package static let completion = SyncFields(rawValue: 1 << 2)
  package static let list = SyncFields(rawValue: 1 << 3)
  package static let parent = SyncFields(rawValue: 1 << 4)
  package static let tags = SyncFields(rawValue: 1 << 5)
  /// The title of a task and the name of a list.
  package static let title = SyncFields(rawValue: 1 << 6)
  package static let notes = SyncFields(rawValue: 1 << 7)
  /// Whether an open task is in progress.
  package static let progress = SyncFields(rawValue: 1 << 8)
  package static let scheduledDate = SyncFields(rawValue: 1 << 9)
  /// The instant or day at which the task is due.
  package static let due = SyncFields(rawValue: 1 << 10)
  package static let reminder = SyncFields(rawValue: 1 << 11)
  package static let priority = SyncFields(rawValue: 1 << 12)
  /// The rule of a repeating task, and its position in the series.
  package static let recurrence = SyncFields(rawValue: 1 << 13)
  package static let attributes = SyncFields(rawValue: 1 << 14)
  package static let created = SyncFields(rawValue: 1 << 15)
  package static let color = SyncFields(rawValue: 1 << 16)
  /// The position among neighbours, changed by the program to make room and not by the user.
  package static let renumbering = SyncFields(rawValue: 1 << 17)
  /// The time of change if no other part changes, as when an import is undone; otherwise it follows from the other
  /// parts.
  package static let updated = SyncFields(rawValue: 1 << 18)

  /// When the task was cancelled, if it is.
  package static let cancellation = SyncFields(rawValue: 1 << 19)
  /// The day on which the task starts, or that it starts on no day.
  package static let start = SyncFields(rawValue: 1 << 20)
  /// The tasks on which a task depends.
  package static let dependencies = SyncFields(rawValue: 1 << 21)
  /// The reminders besides that of ``reminder``.
  package static let reminders = SyncFields(rawValue: 1 << 22)
  /// The same as ``recurrence`` for a rule that the first version of the program cannot read.
  package static let rule = SyncFields(rawValue: 1 << 23)

  /// The time zone of a series.
  package static let timeZone = SyncFields(rawValue: 1 << 24)
  /// The days that are left out of a series.
  package static let skippedDays = SyncFields(rawValue: 1 << 25)

  /// The wall-clock times of a task of a series.
  package static let floating = SyncFields(rawValue: 1 << 26)

  /// All parts that a creation writes.
  package static let all = SyncFields(rawValue: 1 << 17 - 1).union([
    .cancellation, .start, .dependencies, .reminders, .rule, .timeZone, .skippedDays,
    .floating,
  ])
}

extension StoredObject {
  /// The parts that a write changes.
  static func changes(from old: Self?, to new: Self?) -> SyncFields {
    guard let new else { return .life }
    guard let old else { return new.filledFields.union(.life) }
    let parts = differences(old, new)
    return parts.isEmpty && old.updatedAt != new.updatedAt ? .updated : parts
  }
}

extension TaskItem {
  /// The parts that the creation of the task writes.
  package var createdParts: SyncFields { Self.changes(from: nil, to: self) }

  /// The parts of a restored task that differ from its kept record only because the task is shown elsewhere.
  ///
  /// This happens if its list or parent does not exist, or if the task is in its parent's list.
  static func places(_ kept: TaskItem, shownAs item: TaskItem) -> SyncFields {
    var places: SyncFields = []
    if kept.parentID != nil, item.parentID == nil { places.insert(.parent) }
    if kept.listID != nil, item.listID == nil || item.parentID != nil { places.insert(.list) }
    return places
  }

  package static func differences(_ old: TaskItem, _ new: TaskItem) -> SyncFields {
    var fields: SyncFields = []
    for (field, part) in parts where !FieldValue.areIdentical(old[field], new[field]) { fields.insert(part) }
    if fields.contains(.recurrence), old.hasNewRule || new.hasNewRule { fields.insert(.rule) }
    // A wall-clock time stands for an instant.
    if old.floating?.recorded != new.floating?.recorded { fields.insert(.floating) }
    // Only a change from or to the active state is a change of progress.
    if old.state != new.state, new.state == .active || old.state == .active { fields.insert(.progress) }
    return fields
  }

  var filledFields: SyncFields {
    var fields: SyncFields = [.title, .order, .created]
    for (field, part) in Self.parts where field.isOptional && self[field] != nil { fields.insert(part) }
    if state == .active { fields.insert(.progress) }
    if hasNewRule { fields.insert(.rule) }
    return fields
  }

  /// Whether the task repeats by a rule that the first version of the program cannot read.
  private var hasNewRule: Bool { extrasBox?.extras.recurrence.map { !$0.isOfFirstVersion } ?? false }

  /// A task's fields and the parts they belong to; identity, state and the time of the last change belong to none.
  private static let parts: [(TaskField, SyncFields)] = TaskField.all.compactMap { field in
    field.part.map { (field, $0) }
  }
}

extension TaskList {
  static func places(_ kept: TaskList, shownAs item: TaskList) -> SyncFields { [] }

  package static func differences(_ old: TaskList, _ new: TaskList) -> SyncFields {
    var fields: SyncFields = []
    if !old.name.utf8.elementsEqual(new.name.utf8) { fields.insert(.title) }
    if old.colorHex != new.colorHex { fields.insert(.color) }
    if old.sortOrder != new.sortOrder { fields.insert(.order) }
    if old.createdAt != new.createdAt { fields.insert(.created) }
    return fields
  }

  // Nobody has chosen the default colour.
  var filledFields: SyncFields {
    colorHex == Self.defaultColorHex ? [.title, .order, .created] : [.title, .color, .order, .created]
  }
}

extension TaskField {
  /// The fields that people and programs see: all but the wall-clock times behind others.
  package static let shown = all.filter { $0.part != .floating }

  /// The part that the field belongs to.
  package var part: SyncFields? {
    switch self {
    case .id, .state, .updatedAt: nil
    case .text: .title
    case .notes: .notes
    case .scheduledDate: .scheduledDate
    case .dueDate, .dueDay: .due
    case .reminderDate: .reminder
    case .listID: .list
    case .sortOrder: .order
    case .createdAt: .created
    case .completedAt: .completion
    case .priority: .priority
    case .tags: .tags
    case .parentID: .parent
    case .recurrence, .series: .recurrence
    case .attributes: .attributes
    case .cancelledAt: .cancellation
    case .startDay, .someday: .start
    case .dependsOn: .dependencies
    case .reminders: .reminders
    case .floatingDue, .floatingReminder, .floatingReminders: .floating
    }
  }
}

extension FieldValue {
  /// Whether two values are equal byte for byte: `==` also accepts texts that Unicode considers equivalent.
  fileprivate static func areIdentical(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
    guard left == right else { return false }
    if case .text(let left) = left, case .text(let right) = right { return left.utf8.elementsEqual(right.utf8) }
    return true
  }
}

extension FieldValue {
  /// The stored form, which replicas also use to send values.
  package var storedBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ofByteCount: storedByteCount) { store(into: &$0) }
    return bytes
  }

  /// Decodes the stored form.
  ///
  /// - Throws: an error of the storage if the bytes are not a value of the kind.
  package init(_ kind: FieldKind, storedBytes: [UInt8]) throws {
    // The array outlives the decoding.
    try unsafe self.init(kind, stored: storedBytes.span.bytes)
  }
}
