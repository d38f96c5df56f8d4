import Foundation
import Tally

/// A task or a list, as a set of fields.
protocol SyncedItem {
  var id: UUID { get }
  var updatedAt: Timestamp { get }
  static var isList: Bool { get }
  /// The fields with registers that objects of this kind have.
  static var fields: [ObjectState.Field] { get }

  /// The parts in which two states of an object differ.
  static func differences(_ old: Self, _ new: Self) -> SyncFields

  /// The bytes of a field; empty for none.
  func value(of field: ObjectState.Field) -> [UInt8]

  /// Sets a field to a value that ``value(of:)`` returned.
  ///
  /// - Throws: an error of the storage for bytes that are not a value of the field.
  mutating func set(_ field: ObjectState.Field, to value: [UInt8]) throws
}

extension TaskList: SyncedItem {
  static let isList = true
  static let fields: [ObjectState.Field] = [.order, .title, .created, .color]

  func value(of field: ObjectState.Field) -> [UInt8] {
    switch field {
    case .order: FieldValue.integer(sortOrder).storedBytes
    case .title: Array(name.utf8)
    case .created: FieldValue.instant(createdAt).storedBytes
    case .color: Array(colorHex.utf8)
    default: []
    }
  }

  mutating func set(_ field: ObjectState.Field, to value: [UInt8]) throws {
    switch field {
    case .order: sortOrder = try FieldValue(.integer, storedBytes: value).integer ?? sortOrder
    case .title: name = try CodingFault.text(value)
    case .created: createdAt = try FieldValue(.instant, storedBytes: value).instant ?? createdAt
    case .color: colorHex = try CodingFault.text(value)
    default: break
    }
  }
}

extension TaskItem: SyncedItem {
  static let isList = false
  /// The fields with a register, without attributes; tags and completions are sets.
  static let fields: [ObjectState.Field] = [
    .order, .list, .parent, .title, .notes, .progress, .scheduledDate, .due, .reminder, .priority, .recurrence,
    .created, .cancellation, .rule, .start, .floating,
  ]

  func value(of field: ObjectState.Field) -> [UInt8] {
    switch field {
    case .due: dueValue
    case .recurrence: recurrence?.isOfFirstVersion ?? false ? recurrenceValue : []
    case .rule: recurrence?.isOfFirstVersion ?? true ? [] : recurrenceValue
    case .start: startValue
    case .floating: floatingValue
    case .progress: state == .active ? [1] : []
    case .title: Array(title.utf8)
    default:
      if field.isAttribute { attributeValue(field.name) } else { field.plain.flatMap { self[$0]?.storedBytes } ?? [] }
    }
  }

  mutating func set(_ field: ObjectState.Field, to value: [UInt8]) throws {
    switch field {
    case .due: try setDue(value)
    case .recurrence, .rule: try setRecurrence(value)
    case .start: try setStart(value)
    case .floating: try setFloating(value)
    case .progress: break
    case .title: title = try CodingFault.text(value)
    case .notes: notes = value.isEmpty ? nil : try CodingFault.text(value)
    default:
      if field.isAttribute {
        try setAttribute(field.name, value)
      } else if let plain = field.plain {
        self[plain] = value.isEmpty ? nil : try FieldValue(plain.kind, storedBytes: value)
      }
    }
  }
}

extension TaskSeries: SyncedItem {
  static let isList = false
  /// The fields with a register, without attributes; tags and the days that are left out are sets.
  static let fields: [ObjectState.Field] = [
    .list, .title, .notes, .scheduledDate, .due, .reminder, .priority, .recurrence, .created, .start, .rule, .timeZone,
  ]

  func value(of field: ObjectState.Field) -> [UInt8] {
    field == .timeZone ? Array((timeZoneIdentifier ?? "").utf8) : template.value(of: field)
  }

  mutating func set(_ field: ObjectState.Field, to value: [UInt8]) throws {
    if field == .timeZone { return timeZoneIdentifier = value.isEmpty ? nil : try CodingFault.text(value) }
    var task = template
    try task.set(field, to: value)
    guard let changed = TaskSeries(template: task, replacing: self) else { throw CodingFault.impossibleValue }
    self = changed
  }
}

extension ObjectState.Field {
  /// The field of a task whose stored bytes are the value of the register.
  fileprivate var plain: TaskField? {
    switch self {
    case .order: .sortOrder
    case .list: .listID
    case .parent: .parentID
    case .notes: .notes
    case .scheduledDate: .scheduledDate
    case .reminder: .reminderDate
    case .priority: .priority
    case .created: .createdAt
    case .cancellation: .cancelledAt
    default: nil
    }
  }
}

// Values that must agree are one register: their kind, then the bytes of each.

extension TaskItem {
  private static let (instantMark, dayMark, somedayMark) = (UInt8(1), UInt8(2), UInt8(3))

  private var dueValue: [UInt8] {
    if let dueDate { return [Self.instantMark] + FieldValue.instant(dueDate).storedBytes }
    return dueDay.map { [Self.dayMark] + FieldValue.day($0).storedBytes } ?? []
  }

  private mutating func setDue(_ value: [UInt8]) throws {
    dueDate = nil
    if dueDay != nil { dueDay = nil }
    guard let mark = value.first else { return }
    let bytes = Array(value.dropFirst())
    switch mark {
    case Self.instantMark: dueDate = try FieldValue(.instant, storedBytes: bytes).instant
    case Self.dayMark: dueDay = try FieldValue(.day, storedBytes: bytes).day
    default: throw CodingFault.impossibleValue
    }
  }

  private var recurrenceValue: [UInt8] {
    guard let recurrence, let series else { return [] }
    var writer = ByteWriter()
    writer.append(counted: FieldValue.series(series).storedBytes)
    writer.append(raw: FieldValue.recurrence(recurrence).storedBytes)
    return writer.bytes
  }

  private mutating func setRecurrence(_ value: [UInt8]) throws {
    guard !value.isEmpty else {
      if recurrence != nil || series != nil { (recurrence, series) = (nil, nil) }
      return
    }
    var reader = ByteReader(value)
    series = try FieldValue(.series, storedBytes: reader.countedBytes()).series
    recurrence = try FieldValue(.recurrence, storedBytes: reader.rest()).recurrence
  }

  private var startValue: [UInt8] {
    switch start {
    case .day(let day): [Self.dayMark] + FieldValue.day(day).storedBytes
    case .someday: [Self.somedayMark]
    case nil: []
    }
  }

  private mutating func setStart(_ value: [UInt8]) throws {
    switch value.first {
    case nil: if start != nil { start = nil }
    case Self.dayMark: start = try FieldValue(.day, storedBytes: Array(value.dropFirst())).day.map { .day($0) }
    case Self.somedayMark where value.count == 1: start = .someday
    default: throw CodingFault.impossibleValue
    }
  }

  /// Each wall-clock time with what it stands for: it counts only as long as the task has that.
  private var floatingValue: [UInt8] {
    var writer = ByteWriter()
    for (number, pair) in Self.floatingFields.enumerated() {
      guard let local = self[pair.local], let stored = self[pair.stored] else { continue }
      writer.append(UInt64(number))
      writer.append(counted: stored.storedBytes)
      writer.append(counted: local.storedBytes)
    }
    return writer.bytes
  }

  private mutating func setFloating(_ value: [UInt8]) throws {
    var reader = ByteReader(value)
    while !reader.isAtEnd {
      let number = try reader.number()
      guard number < UInt64(Self.floatingFields.count) else { throw CodingFault.impossibleValue }
      let pair = Self.floatingFields[Int(number)]
      let stored = try FieldValue(pair.stored.kind, storedBytes: reader.countedBytes())
      let local = try FieldValue(pair.local.kind, storedBytes: reader.countedBytes())
      if self[pair.stored] == stored { self[pair.local] = local }
    }
  }

  private static let floatingFields: [(stored: TaskField, local: TaskField)] = [
    (.dueDate, .floatingDue), (.reminderDate, .floatingReminder), (.reminders, .floatingReminders),
  ]

  private func attributeValue(_ name: String) -> [UInt8] {
    attributes[name].map { FieldValue.attributes([name: $0]).storedBytes } ?? []
  }

  private mutating func setAttribute(_ name: String, _ value: [UInt8]) throws {
    guard !value.isEmpty else { return attributes[name] = nil }
    attributes[name] = try FieldValue(.attributes, storedBytes: value).attributes?[name]
  }
}

extension CodingFault {
  /// The text of bytes that must be UTF-8.
  fileprivate static func text(_ bytes: [UInt8]) throws(CodingFault) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .impossibleValue }
    return text
  }
}

extension ObjectState.Field {
  /// The name of the field in an export.
  func exportName(in object: ObjectKey) -> String {
    switch self {
    case .title: object.isList ? "name" : "title"
    case .progress: "state"
    case .due: "due"
    case .recurrence, .rule: "recurrence"
    case .color: "colorHex"
    case .filter: object.isFilter ? "savedFilter" : "start"
    case .timeZone: "timeZone"
    case .floating: "floating"
    case .order, .created: "field\(number)"
    default: isAttribute ? "attributes.\(name)" : plain.map { "\($0.name)" } ?? "field\(number)"
    }
  }
}
