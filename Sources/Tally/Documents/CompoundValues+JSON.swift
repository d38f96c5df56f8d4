internal import Foundation

// Values of tasks that take more than one token: tags, a place in a series, attributes.

extension JSONWriter {
  mutating func value(_ tags: TagSet) {
    beginArray()
    for tag in tags { value(tag.utf8.span) }
    endArray()
  }

  mutating func value(_ series: RecurrenceSeries) {
    beginObject()
    entry("id", .id(series.id))
    entry("start", .day(series.start))
    entry("occurrence", .day(series.occurrence))
    entry("index", .integer(Int64(series.index)))
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

  /// Texts, numbers and flags are JSON's own; other values are an object with the name of the kind.
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

  /// Reads a place in a series whose object has just begun.
  mutating func readSeries() throws -> RecurrenceSeries {
    let position = tokenPosition
    var values: [SeriesKey: FieldValue] = [:]
    var entries = DocumentEntries(SeriesKey.self, isLenient: false)
    while let key = try entries.next(from: &self) { values[key] = try read(key.kind, for: key) }
    guard let id = values[.id]?.id, let start = values[.start]?.day, let occurrence = values[.occurrence]?.day,
      let index = values[.index]?.integer.flatMap(UInt32.init(exactly:))
    else { throw fault("A series needs an id, a start, an occurrence and an index from 0 on", at: position) }
    return RecurrenceSeries(id: id, start: start, occurrence: occurrence, index: Int(index))
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

private enum SeriesKey: String, DocumentKey {
  case id, start, occurrence, index

  static let table = DocumentKeyTable<SeriesKey>()

  var kind: FieldKind {
    switch self {
    case .id: .id
    case .start, .occurrence: .day
    case .index: .integer
    }
  }
}

/// The kinds of attributes that JSON has no values for.
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
