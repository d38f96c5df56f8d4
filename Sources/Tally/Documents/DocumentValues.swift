import Foundation
import TallyEngine

/// The keys that an object of a document may have.
protocol DocumentKey: CaseIterable, Sendable {
  /// The key as it is written in documents.
  var text: String { get }
  /// The keys with their bytes; stored, because building the table costs more than reading an object.
  static var table: DocumentKeyTable<Self> { get }
}

extension DocumentKey where Self: RawRepresentable<String> {
  var text: String { rawValue }
}

/// Finds keys by their bytes.
struct DocumentKeyTable<Key: DocumentKey>: Sendable {
  private let keys = Array(Key.allCases)
  private let names = Key.allCases.map { Array($0.text.utf8) }
  private let quotedNames = Key.allCases.map { Array("\"\($0.text)\"".utf8) }

  /// The index of the key with these bytes.
  ///
  /// It tries `hint` first, because most objects have their keys in the same order.
  func index(of bytes: [UInt8], hint: Int) -> Int? {
    if hint < names.count, names[hint] == bytes { return hint }
    return names.firstIndex(of: bytes)
  }

  subscript(index: Int) -> Key { keys[index] }

  /// Skips the key at an index if it comes next; returns whether it did.
  func skipKey(at index: Int, in reader: inout JSONReader) throws -> Bool {
    try index < quotedNames.count && reader.skipKey(inQuotes: quotedNames[index])
  }
}

/// Iterates over the keys of one object.
struct DocumentEntries<Key: DocumentKey> {
  let isLenient: Bool
  /// The keys that were read, as a bit for each index.
  private var seen: UInt32 = 0
  private var hint = 0
  /// The first token of the object, if the caller has read it already.
  private var first: JSONReader.Token?

  init(_ keys: Key.Type, after first: JSONReader.Token? = nil, isLenient: Bool) {
    assert(Key.allCases.count <= UInt32.bitWidth, "more keys than bits")
    self.isLenient = isLenient
    self.first = first
  }

  /// Reads the next key, whose value must be read before the next call; returns `nil` at the end of the object.
  ///
  /// - Throws: `malformedDocument` if a known key appears twice; `unknownKey` unless lenient, in which case unknown
  ///   keys are skipped with their values.
  mutating func next(from reader: inout JSONReader) throws -> Key? {
    if first == nil, try Key.table.skipKey(at: hint, in: &reader) { return try accept(hint, reader) }
    while try first.take() ?? reader.next() == .key {
      guard let index = Key.table.index(of: reader.text, hint: hint) else {
        guard isLenient else { throw reader.unknownKey }
        try reader.skipValue(beginningWith: try reader.next())
        continue
      }
      return try accept(index, reader)
    }
    return nil
  }

  private mutating func accept(_ index: Int, _ reader: borrowing JSONReader) throws -> Key {
    let key = Key.table[index]
    guard seen & 1 << UInt32(index) == 0 else {
      throw reader.fault("The key \(key.text) appears twice in its object")
    }
    seen |= 1 << UInt32(index)
    hint = index + 1
    return key
  }
}

extension JSONReader {
  /// The error for the key just read; its message contains the key only if it looks like one.
  fileprivate var unknownKey: TallyError {
    let isNameable =
      text.count <= 32
      && text.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "_-".contains(character))
      }
    let name = isNameable ? "The key \(String(decoding: text, as: UTF8.self))" : "The key"
    return TallyError(
      .unknownKey, "\(name) is not one of the format's",
      remedy: "Remove or rename it, or import leniently to skip unknown keys", at: tokenPosition)
  }
}

// Values of tasks that take more than one token: tags, a position in a series, attributes.

extension JSONWriter {
  mutating func value(_ tags: TagSet) {
    beginArray()
    for tag in tags { value(tag.utf8.span) }
    endArray()
  }

  mutating func value(_ ids: TaskIDSet) {
    beginArray()
    for id in ids { value(FieldValue.id(id)) }
    endArray()
  }

  mutating func value(_ reminders: ReminderSet) {
    beginArray()
    for reminder in reminders {
      beginObject()
      switch reminder {
      case .at(let instant): entry("at", .instant(instant))
      case .before(let relative):
        entry("before", .text(relative.distance))
        entry("of", .text(relative.anchor.rawValue))
        if let minute = relative.minuteOfDay { entry("at", .text(WallTime.clock(ofMinute: minute))) }
      }
      endObject()
    }
    endArray()
  }

  mutating func value(_ series: RecurrenceSeries) {
    beginObject()
    entry("id", .id(series.id))
    entry("start", .day(series.start))
    entry("occurrence", .day(series.occurrence))
    entry("index", .integer(Int64(series.index)))
    if series.step != 0 { entry("step", .integer(Int64(series.step))) }
    endObject()
  }

  mutating func value(_ attributes: [String: AttributeValue]) {
    beginObject()
    for (name, attribute) in attributes.inOrder {
      key(name)
      value(attribute)
    }
    endObject()
  }

  /// Writes an attribute: texts, numbers and flags as JSON's own values, others as an object with the name of the kind.
  private mutating func value(_ attribute: AttributeValue) {
    switch attribute {
    case .text(let text): value(text.utf8.span)
    case .integer(let number): value(FieldValue.integer(number))
    case .real(let number): value(real: number)
    case .flag(let isTrue): value(isTrue)
    case .instant(let instant): object("instant", .instant(instant))
    case .day(let day): object("day", .day(day))
    case .bytes(let bytes): object("bytes", .text(Data(bytes).base64EncodedString()))
    }
  }

  private mutating func object(_ name: StaticString, _ field: FieldValue) {
    beginObject()
    entry(name, field)
    endObject()
  }
}

extension JSONReader {
  /// Reads the tags of an array that has just begun.
  mutating func readTags() throws -> TagSet {
    var tags = TagSet()
    while true {
      switch try next() {
      case .string:
        guard tags.count < TagSet.maximumCount else { throw fault("There are more than \(TagSet.maximumCount) tags") }
        tags.insert(String(decoding: text, as: UTF8.self))
      case .endArray: return tags
      default: throw fault("A tag is not a text")
      }
    }
  }

  /// Reads the ids of an array that has just begun.
  mutating func readIDs() throws -> TaskIDSet {
    var ids = TaskIDSet()
    while true {
      switch try next() {
      case .string:
        guard ids.count < TaskIDSet.maximumCount else {
          throw fault("There are more than \(TaskIDSet.maximumCount) ids")
        }
        guard let id = UUID(text: text) else { throw fault("An id is not a UUID") }
        ids.insert(id)
      case .endArray: return ids
      default: throw fault("An id is not a text")
      }
    }
  }

  /// Reads the reminders of an array that has just begun.
  mutating func readReminders() throws -> ReminderSet {
    var reminders: [Reminder] = []
    while true {
      switch try next() {
      case .beginObject:
        guard reminders.count <= ReminderSet.maximumCount else {
          throw fault("There are more than \(ReminderSet.maximumCount + 1) reminders")
        }
        reminders.append(try readReminder())
      case .endArray: return ReminderSet(reminders)
      default: throw fault("A reminder is not an object")
      }
    }
  }

  private mutating func readReminder() throws -> Reminder {
    let position = tokenPosition
    var values: [ReminderKey: String] = [:]
    var entries = DocumentEntries(ReminderKey.self, isLenient: false)
    while let key = try entries.next(from: &self) { values[key] = try read(.text, for: key)?.text }
    do {
      return try Reminder(at: values[.at], before: values[.before], of: values[.of])
    } catch {
      throw error.at(position, key: "reminders")
    }
  }

  /// Reads a position in a series whose object has just begun.
  mutating func readSeries() throws -> RecurrenceSeries {
    let position = tokenPosition
    var values: [SeriesKey: FieldValue] = [:]
    var entries = DocumentEntries(SeriesKey.self, isLenient: false)
    while let key = try entries.next(from: &self) { values[key] = try read(key.kind, for: key) }
    guard let id = values[.id]?.id, let start = values[.start]?.day, let occurrence = values[.occurrence]?.day,
      let index = values[.index]?.integer.flatMap(UInt32.init(exactly:))
    else { throw fault("A series needs an id, a start, an occurrence and an index from 0 on", at: position) }
    let step = values[.step]?.integer ?? 0
    guard let step = UInt32(exactly: step) else {
      throw fault("The step of a series is not between 0 and 4294967295", at: position)
    }
    return RecurrenceSeries(id: id, start: start, occurrence: occurrence, index: Int(index), step: Int(step))
  }

  /// Reads attributes whose object has just begun.
  mutating func readAttributes() throws -> [String: AttributeValue] {
    var attributes: [String: AttributeValue] = [:]
    while try next() == .key {
      let name = String(decoding: text, as: UTF8.self)
      guard attributes[name] == nil else { throw fault("An attribute appears twice in its object") }
      attributes[name] = try readAttribute()
    }
    return attributes
  }

  private mutating func readAttribute() throws -> AttributeValue {
    switch try next() {
    case .string: return .text(String(decoding: text, as: UTF8.self))
    case .integer(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .boolean(let isTrue): return .flag(isTrue)
    case .beginObject: return try readTypedAttribute()
    default: throw fault("An attribute is not a text, a number, true, false or an object with one kind of value")
    }
  }

  private mutating func readTypedAttribute() throws -> AttributeValue {
    let position = tokenPosition
    var value: AttributeValue?
    var entries = DocumentEntries(AttributeKind.self, isLenient: false)
    while let kind = try entries.next(from: &self) {
      guard value == nil else { throw fault("An attribute has more than one of instant, day and bytes") }
      let field = try read(kind.kind, for: kind)
      value =
        switch kind {
        case .instant: field?.instant.map { .instant($0) }
        case .day: field?.day.map { .day($0) }
        case .bytes: field?.text.flatMap { Data(base64Encoded: $0) }.map { .bytes([UInt8]($0)) }
        }
      guard value != nil else { throw fault("The bytes of an attribute are not base64") }
    }
    guard let value else { throw fault("An attribute has none of instant, day and bytes", at: position) }
    return value
  }
}

private enum ReminderKey: String, DocumentKey {
  case at, before, of

  static let table = DocumentKeyTable<ReminderKey>()
}

private enum SeriesKey: String, DocumentKey {
  case id, start, occurrence, index, step

  static let table = DocumentKeyTable<SeriesKey>()

  var kind: FieldKind {
    switch self {
    case .id: .id
    case .start, .occurrence: .day
    case .index, .step: .integer
    }
  }
}

/// The kinds of attributes for which JSON has no type.
private enum AttributeKind: String, DocumentKey {
  case instant, day, bytes

  static let table = DocumentKeyTable<AttributeKind>()

  var kind: FieldKind {
    switch self {
    case .instant: .instant
    case .day: .day
    case .bytes: .text
    }
  }
}

extension JSONReader {
  /// Reads a value; returns `nil` for `null`, if that is allowed.
  ///
  /// - Throws: an error that names the key and contains the value's position.
  mutating func read(_ kind: FieldKind, for key: some DocumentKey, orNull: Bool = false) throws -> FieldValue? {
    if orNull, try skipNull() { return nil }
    let token = try next()
    // This handles a `null` that is split between two pieces of the input.
    if orNull, token == .null { return nil }
    do {
      switch kind {
      case .tags: if token == .beginArray { return .tags(try readTags()) }
      case .series: if token == .beginObject { return .series(try readSeries()) }
      case .attributes: if token == .beginObject { return .attributes(try readAttributes()) }
      case .ids: if token == .beginArray { return .ids(try readIDs()) }
      case .reminders: if token == .beginArray { return .reminders(try readReminders()) }
      default: if let value = try FieldValue(kind, token, text) { return value }
      }
    } catch let error as TallyError where error.position != nil {
      throw error
    } catch let error as TallyError {
      throw error.at(tokenPosition, key: key.text)
    }
    throw fault("The value of \(key.text) is not \(kind.expectation)")
  }

  /// Reads `true` or `false`.
  mutating func readFlag(for key: some DocumentKey) throws -> Bool {
    guard case .boolean(let isTrue) = try next() else { throw fault("The value of \(key.text) is not true or false") }
    return isTrue
  }
}

extension TallyError {
  /// The same error, with a position in a document.
  func at(_ position: TextPosition, key: String? = nil) -> TallyError {
    let subject = key.map { "The value of \($0) is refused: " } ?? ""
    return TallyError(code, subject + message, remedy: remedy, at: position, cause: cause)
  }
}

extension FieldValue {
  /// Converts a token and its text into a value; `nil` if the token is of the wrong kind.
  ///
  /// - Throws: an error without a position if the text is not valid.
  fileprivate init?(_ kind: FieldKind, _ token: JSONReader.Token, _ text: [UInt8]) throws {
    guard token == .string || kind == .integer || kind == .flag else { return nil }
    switch kind {
    case .text: self = .text(String(decoding: text, as: UTF8.self))
    case .state: self = .state(try TaskState(name: String(decoding: text, as: UTF8.self)))
    case .integer:
      guard let number = token.integer else { return nil }
      self = .integer(number)
    case .instant: self = .instant(try Timestamp(iso8601: text.span))
    case .offsetInstant: self = .offsetInstant(try OffsetTimestamp(iso8601: text.span))
    case .day: self = .day(try CalendarDay(iso8601: text.span))
    case .id:
      guard let id = UUID(text: text) else { return nil }
      self = .id(id)
    case .priority: self = .priority(try Priority(name: String(decoding: text, as: UTF8.self)))
    case .recurrence: self = .recurrence(try Recurrence(text: String(decoding: text, as: UTF8.self)))
    case .flag:
      guard case .boolean(let isTrue) = token else { return nil }
      self = .flag(isTrue)
    case .tags, .series, .attributes, .ids, .reminders: return nil
    }
  }
}

extension JSONReader.Token {
  fileprivate var integer: Int64? {
    switch self {
    case .integer(let value): value
    // JSON does not distinguish 1 from 1.0.
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }
}

extension FieldKind {
  /// A description of the expected value, worded to follow "is not".
  fileprivate var expectation: String {
    switch self {
    case .text: "a text"
    case .state: "a task state"
    case .integer: "an integer"
    case .instant, .offsetInstant: "an instant"
    case .day: "a day"
    case .id: "a UUID"
    case .priority: "a priority"
    case .tags: "an array of tags"
    case .recurrence: "a recurrence"
    case .series: "an object with id, start, occurrence and index"
    case .attributes: "an object of attributes"
    case .ids: "an array of ids of tasks"
    case .reminders: "an array of reminders"
    case .flag: "true or false"
    }
  }
}
