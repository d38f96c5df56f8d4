import Foundation
import LMDB
import TallyEngine

/// The stored form of each kind of value.
extension FieldValue {

  /// Appends the stored value.
  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    switch self {
    case .text(let value): value.encode(into: &output)
    case .state(let value): output.append(value.rawValue)
    case .integer(let value): output.append(ordered: value)
    case .instant(let value): output.append(ordered: value.microsecondsSince1970)
    case .offsetInstant(let value):
      output.append(ordered: value.instant.microsecondsSince1970)
      output.append(bigEndian: UInt16(bitPattern: Int16(value.utcOffsetInMinutes)))
    case .day(let value): output.append(ordered: value.dayNumber)
    case .id(let value): output.append(value)
    case .priority(let value): output.append(value.rawValue)
    case .tags(let tags): tags.store(into: &output)
    case .recurrence(let recurrence): recurrence.text.encode(into: &output)
    case .series(let series): series.store(into: &output)
    case .attributes(let attributes): Self.store(attributes, into: &output)
    case .ids(let ids): ids.store(into: &output)
    case .reminders(let reminders): reminders.store(into: &output)
    case .flag(let isTrue): output.append(isTrue ? 1 : 0)
    }
  }

  /// Decodes a stored value.
  init(_ kind: FieldKind, stored bytes: RawSpan) throws(LMDBError) {
    switch kind {
    case .text: self = .text(bytes.text)
    case .state: self = .state(try bytes.checked(1).load(stateAt: 0))
    case .integer: self = .integer(try bytes.storedInteger())
    case .instant: self = .instant(try bytes.storedInstant())
    case .offsetInstant: self = .offsetInstant(try bytes.storedOffsetInstant())
    case .day: self = .day(try bytes.storedDay())
    case .id: self = .id(try bytes.storedID())
    case .priority: self = .priority(try bytes.storedPriority())
    case .tags: self = .tags(try TagSet(stored: bytes))
    case .recurrence: self = .recurrence(try bytes.storedRecurrence())
    case .series: self = .series(try RecurrenceSeries(stored: bytes))
    case .attributes: self = .attributes(try Self.attributes(stored: bytes))
    case .ids: self = .ids(try TaskIDSet(stored: bytes))
    case .reminders: self = .reminders(try ReminderSet(stored: bytes))
    case .flag: self = .flag(try bytes.storedFlag())
    }
  }
}

/// The stored form of a place in a series: 28 bytes, and 4 for the step of a rule for hours.
extension RecurrenceSeries {

  @_lifetime(output: copy output)
  fileprivate func store(into output: inout OutputRawSpan) {
    output.append(id)
    output.append(ordered: start.dayNumber)
    output.append(ordered: occurrence.dayNumber)
    output.append(bigEndian: UInt32(clamping: index))
    if step != 0 { output.append(bigEndian: UInt32(clamping: step)) }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    let hasStep = bytes.byteCount == Self.byteCountWithStep
    let bytes = try bytes.checked(hasStep ? Self.byteCountWithStep : Self.byteCount)
    self.init(
      id: bytes.load(idAt: 0), start: try bytes.load(dayAt: 16), occurrence: try bytes.load(dayAt: 20),
      index: Int(bytes.load(bigEndianAt: 24, as: UInt32.self)),
      step: hasStep ? Int(bytes.load(bigEndianAt: 28, as: UInt32.self)) : 0)
  }
}

/// Decodes the values of single fields.
extension RawSpan {
  func storedInstant() throws(LMDBError) -> Timestamp { try checked(8).load(timestampAt: 0) }

  func storedOffsetInstant() throws(LMDBError) -> OffsetTimestamp {
    let bytes = try checked(10)
    return try bytes.load(offsetAt: 8, of: try bytes.load(timestampAt: 0))
  }

  func storedDay() throws(LMDBError) -> CalendarDay { try checked(4).load(dayAt: 0) }

  func storedInteger() throws(LMDBError) -> Int64 { try checked(8).load(orderedInt64At: 0) }

  func storedPriority() throws(LMDBError) -> Priority {
    let rawValue: UInt8 = try checked(1).load(bigEndianAt: 0)
    guard let priority = Priority(rawValue: rawValue), priority != .none else {
      throw .undecodable("a task record has the unknown priority \(rawValue)")
    }
    return priority
  }

  func storedRecurrence() throws(LMDBError) -> Recurrence {
    guard isWellFormedText, let recurrence = try? Recurrence(text: text) else {
      throw .undecodable("a task record has an impossible recurrence")
    }
    return recurrence
  }

  func storedFlag() throws(LMDBError) -> Bool { try checked(1).load(bigEndianAt: 0, as: UInt8.self) != 0 }

  func storedID() throws(LMDBError) -> UUID { try checked(16).load(idAt: 0) }

  /// The same bytes, if their number is right for the value of a field.
  @_lifetime(copy self)
  @inline(__always)
  fileprivate func checked(_ size: Int) throws(LMDBError) -> RawSpan {
    guard byteCount == size else { throw wrongSize(size) }
    return self
  }

  @inline(never)
  private func wrongSize(_ size: Int) -> LMDBError {
    .undecodable("a field has \(byteCount) bytes instead of \(size)")
  }
}

extension RawSpan {
  /// Reads the instant at an offset.
  @inline(__always)
  func load(timestampAt offset: Int) throws(LMDBError) -> Timestamp {
    let microseconds = load(orderedInt64At: offset)
    let timestamp = Timestamp(clamping: microseconds)
    guard timestamp.microsecondsSince1970 == microseconds else { throw .impossibleInstant(microseconds) }
    return timestamp
  }

  /// Combines an instant with the UTC offset, in minutes, at an offset of the record.
  func load(offsetAt offset: Int, of instant: Timestamp) throws(LMDBError) -> OffsetTimestamp {
    let minutes = Int(Int16(bitPattern: load(bigEndianAt: offset)))
    guard let value = try? OffsetTimestamp(instant, utcOffsetInMinutes: minutes) else {
      throw .undecodable("a record has the impossible UTC offset of \(minutes) minutes")
    }
    return value
  }

  /// Reads the state at an offset.
  @inline(__always)
  func load(stateAt offset: Int) throws(LMDBError) -> TaskState {
    let rawValue: UInt8 = load(bigEndianAt: offset)
    guard let state = TaskState(rawValue: rawValue) else {
      throw .undecodable("a task record has the unknown state \(rawValue)")
    }
    return state
  }

  /// Reads the day at an offset.
  func load(dayAt offset: Int) throws(LMDBError) -> CalendarDay {
    let dayNumber = load(orderedInt32At: offset)
    guard let day = try? CalendarDay(dayNumber: dayNumber) else {
      throw .undecodable("a record has the impossible day number \(dayNumber)")
    }
    return day
  }
}

extension LMDBError {
  @inline(never)
  fileprivate static func impossibleInstant(_ microseconds: Int64) -> LMDBError {
    .undecodable("a record has the impossible instant \(microseconds)")
  }
}

/// The stored form of a set of ids: 16 bytes for each, ascending.
extension TaskIDSet {
  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for id in self { output.append(id) }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount % 16 == 0, bytes.byteCount > 0 else {
      throw .undecodable("the ids of a task record have \(bytes.byteCount) bytes")
    }
    var ids: [UUID] = []
    for offset in stride(from: 0, to: bytes.byteCount, by: 16) { ids.append(bytes.load(idAt: offset)) }
    guard zip(ids, ids.dropFirst()).allSatisfy({ $0.words < $1.words }) else {
      throw .undecodable("the ids of a task record do not ascend")
    }
    self.init(ids)
  }
}

// The stored form of attributes, in the order of the names' bytes:
//
//     2  bytes of the name
//        the name
//     1  kind of the value, see `kindRawValue`
//     4  bytes of the value
//        the value

extension FieldValue {

  @_lifetime(output: copy output)
  static func store(_ attributes: [String: AttributeValue], into output: inout OutputRawSpan) {
    for (name, value) in attributes.inOrder {
      output.append(bigEndian: UInt16(name.utf8.count))
      name.encode(into: &output)
      output.append(value.kindRawValue)
      output.append(bigEndian: UInt32(value.storedByteCount))
      value.store(into: &output)
    }
  }

  static func attributes(stored bytes: RawSpan) throws(LMDBError) -> [String: AttributeValue] {
    var reader = StoredParts(bytes)
    var attributes: [String: AttributeValue] = [:]
    while !reader.isAtEnd {
      let name = try reader.text(byteCount: Int(try reader.number(as: UInt16.self)))
      let kind = try reader.number(as: UInt8.self)
      let size = Int(try reader.number(as: UInt32.self))
      attributes[name] = try AttributeValue(kindRawValue: kind, try reader.part(byteCount: size))
    }
    return attributes
  }
}

extension [String: AttributeValue] {
  /// The attributes in the order of their names' bytes.
  var inOrder: [(key: String, value: AttributeValue)] {
    sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

extension AttributeValue {
  /// Stored: do not change.
  fileprivate var kindRawValue: UInt8 {
    switch self {
    case .text: 1
    case .integer: 2
    case .real: 3
    case .flag: 4
    case .instant: 5
    case .day: 6
    case .bytes: 7
    }
  }

  @_lifetime(output: copy output)
  fileprivate func store(into output: inout OutputRawSpan) {
    switch self {
    case .text(let text): text.encode(into: &output)
    case .integer(let number): output.append(ordered: number)
    case .real(let number): output.append(bigEndian: number.bitPattern)
    case .flag(let isTrue): output.append(isTrue ? 1 : 0)
    case .instant(let instant): output.append(ordered: instant.microsecondsSince1970)
    case .day(let day): output.append(ordered: day.dayNumber)
    case .bytes(let bytes): bytes.encode(into: &output)
    }
  }

  fileprivate init(kindRawValue: UInt8, _ bytes: RawSpan) throws(LMDBError) {
    switch kindRawValue {
    case 1:
      guard bytes.isWellFormedText else { throw .undecodable("a text of a task record is not UTF-8") }
      self = .text(bytes.text)
    case 2: self = .integer(try bytes.storedInteger())
    case 3: self = .real(Double(bitPattern: UInt64(bitPattern: try bytes.storedInteger()) ^ (1 << 63)))
    case 4 where bytes.byteCount == 1: self = .flag(bytes.load(bigEndianAt: 0, as: UInt8.self) != 0)
    case 5: self = .instant(try bytes.storedInstant())
    case 6: self = .day(try bytes.storedDay())
    case 7: self = .bytes(bytes.bytes(from: 0))
    default: throw .undecodable("an attribute of a task record has the unknown kind \(kindRawValue)")
    }
  }
}

extension AttributeValue {
  /// Reads the attribute of a task that has a name; `nil` if there is none.
  init?(named name: String, in stored: RawSpan) throws(LMDBError) {
    var parts = StoredParts(stored)
    while !parts.isAtEnd {
      let nameSize = Int(try parts.number(as: UInt16.self))
      let isWanted = try parts.part(byteCount: nameSize).isEqual(to: name)
      let kind = try parts.number(as: UInt8.self)
      let value = try parts.part(byteCount: Int(try parts.number(as: UInt32.self)))
      guard isWanted else { continue }
      try self.init(kindRawValue: kind, value)
      return
    }
    return nil
  }
}

extension RawSpan {
  /// Whether the bytes are a text that is equal to another text by Unicode's equivalence.
  fileprivate func isEqual(to text: String) -> Bool {
    guard isASCII else { return self.text == text }
    // The buffer is only read within the closure.
    return unsafe withUnsafeBytes { unsafe $0.elementsEqual(text.utf8) }
  }
}

/// The stored form of tags: for each tag its length in two bytes, then its text.
extension TagSet {

  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for tag in self {
      output.append(bigEndian: UInt16(tag.utf8.count))
      tag.encode(into: &output)
    }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    var reader = StoredParts(bytes)
    var tags: [String] = []
    while !reader.isAtEnd { tags.append(try reader.text(byteCount: Int(try reader.number(as: UInt16.self)))) }
    self.init(stored: tags)
  }
}

/// Reads the parts of a value in order; throws if a part extends beyond the end.
struct StoredParts: ~Escapable {
  private let bytes: RawSpan
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.byteCount }

  @_lifetime(self: copy self)
  mutating func number<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    as type: Value.Type
  ) throws(LMDBError) -> Value {
    try part(byteCount: MemoryLayout<Value>.size).load(bigEndianAt: 0)
  }

  @_lifetime(self: copy self)
  mutating func text(byteCount: Int) throws(LMDBError) -> String {
    guard let text = try part(byteCount: byteCount).wellFormedText else {
      throw .undecodable("a text of a task record is not UTF-8")
    }
    return text
  }

  /// Returns the next bytes, in place.
  @_lifetime(self: copy self)
  @_lifetime(copy self)
  mutating func part(byteCount: Int) throws(LMDBError) -> RawSpan {
    guard byteCount <= bytes.byteCount - offset else { throw .undecodable("a value of a task record is cut off") }
    defer { offset += byteCount }
    return bytes.extracting(offset..<(offset + byteCount))
  }
}

/// The stored form of reminders: nine bytes for each, ascending; see ``Reminder/Code``.
extension ReminderSet {
  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for reminder in self {
      output.append(reminder.code.kind)
      output.append(bigEndian: reminder.code.number)
    }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount % Reminder.Code.byteCount == 0, bytes.byteCount > 0 else {
      throw .undecodable("the reminders of a task record have \(bytes.byteCount) bytes")
    }
    var (reminders, last): ([Reminder], Reminder.Code?) = ([], nil)
    for offset in stride(from: 0, to: bytes.byteCount, by: Reminder.Code.byteCount) {
      let code = Reminder.Code(kind: bytes.load(bigEndianAt: offset), number: bytes.load(bigEndianAt: offset + 1))
      guard let reminder = Reminder(code) else { throw .undecodable("a task record has an impossible reminder") }
      guard last.map({ $0 < code }) ?? true else {
        throw .undecodable("the reminders of a task record do not ascend")
      }
      reminders.append(reminder)
      last = code
    }
    self.init(reminders)
  }
}

extension Reminder {
  /// The stored form of one reminder.
  package var storedBytes: [UInt8] { FieldValue.reminders([self]).storedBytes }

  /// Creates a reminder from its stored form; `nil` for other bytes.
  package init?(storedBytes bytes: [UInt8]) {
    guard let reminders = try? FieldValue(.reminders, storedBytes: bytes).reminders, reminders.count == 1 else {
      return nil
    }
    self = reminders[0]
  }
}
