import LMDB

/// One line of JSON as the fields of a record, in the form in which a store has them.
///
/// The names of keys get numbers in a table of its own, which later lines share. `JSONDecoder` is not used because it
/// cannot say where a line is wrong, or which of its keys nobody has read, and takes twice as long.
struct RecordLine {
  /// The fields of the last line.
  private(set) var bytes: [UInt8] = []
  /// The names for the numbers of the fields.
  private(set) var names = FieldTable()
  /// How many times the numbers were assigned again.
  private(set) var generation = 0
  /// The outermost keys of the last line: their numbers, and where each key and its value begin.
  private(set) var fields: [(number: Int, key: TextPosition, value: TextPosition)] = []
  /// Where the last line's value begins.
  private(set) var start = TextPosition(line: 1, column: 1)

  /// The longest line, in bytes.
  static let maximumByteCount = 64 << 20
  /// The most names that are remembered: a type has few, but lines may have any.
  private static var mostNames: Int { 1_024 }

  /// Reads the next line that is not blank; returns false at the end of the file.
  ///
  /// - Throws: `malformedDocument` with its position if the line is not JSON, has a key twice in one object or is too
  ///   long; the errors of the source of bytes.
  mutating func read(from reader: inout JSONReader) throws -> Bool {
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    if names.names.count > Self.mostNames { (names, generation) = (FieldTable(), generation + 1) }
    let token = try reader.next()
    start = reader.tokenPosition
    guard token != .end else { return false }
    let limit = reader.input.consumedByteCount + Int64(Self.maximumByteCount)
    if token == .beginObject {
      try readFields(from: &reader, limit)
    } else {
      try append(token, from: &reader, limit)
    }
    try reader.finishLine()
    return true
  }

  private mutating func readFields(from reader: inout JSONReader, _ limit: Int64) throws {
    bytes.append(ValueTag.keyed)
    while try reader.next() == .key {
      let (number, key) = (number(of: reader.text), reader.tokenPosition)
      guard !fields.contains(where: { $0.number == number }) else { throw reader.repeatedKey() }
      bytes.append(varint: UInt64(number))
      let token = try reader.next()
      fields.append((number, key, reader.tokenPosition))
      try append(token, from: &reader, limit)
    }
  }

  /// The number of a key, which is mostly the one that follows the last.
  private mutating func number(of key: [UInt8]) -> Int {
    let expected = (fields.last?.number ?? -1) + 1
    if expected < names.names.count, names.names[expected].utf8.elementsEqual(key) { return expected }
    return names.number(of: String(decoding: key, as: UTF8.self))
  }

  /// Appends the value that begins with a token.
  private mutating func append(_ token: JSONReader.Token, from reader: inout JSONReader, _ limit: Int64) throws {
    guard reader.input.consumedByteCount <= limit else { throw reader.fault("The line is too long") }
    switch token {
    case .beginObject: try appendContainer(ValueTag.named, from: &reader, limit)
    case .beginArray: try appendContainer(ValueTag.list, from: &reader, limit)
    case .string:
      bytes.append(ValueTag.string)
      bytes.append(varint: UInt64(reader.text.count))
      bytes += reader.text
    case .integer(let number):
      bytes.append(ValueTag.int)
      bytes.append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    case .double(let number):
      if let integer = UInt64(String(decoding: reader.text, as: UTF8.self)) {
        bytes.append(ValueTag.uint)
        bytes.append(varint: integer)
      } else {
        bytes.append(ValueTag.double)
        number.bitPattern.appendKey(to: &bytes)
      }
    case .boolean(let isTrue): bytes.append(isTrue ? ValueTag.yes : ValueTag.no)
    case .null: bytes.append(ValueTag.null)
    // The reader returns these only where the grammar has them.
    case .endObject, .endArray, .key, .end: break
    }
  }

  /// Appends an object or an array inside a line, which has begun.
  private mutating func appendContainer(_ tag: UInt8, from reader: inout JSONReader, _ limit: Int64) throws {
    bytes.append(tag)
    let start = bytes.count
    bytes += [0, 0, 0, 0]
    var keys: Set<[UInt8]> = []
    while true {
      let token = try reader.next()
      if token == .endObject || token == .endArray { break }
      guard token == .key else {
        try append(token, from: &reader, limit)
        continue
      }
      guard keys.insert(reader.text).inserted else { throw reader.repeatedKey() }
      bytes.append(varint: UInt64(reader.text.count))
      bytes += reader.text
      try append(reader.next(), from: &reader, limit)
    }
    let length = UInt32(bytes.count - start - 4).bigEndianBytes
    bytes.replaceSubrange(start..<(start + 4), with: length)
  }
}

extension JSONReader {
  fileprivate func repeatedKey() -> TallyError {
    fault("The key is in its object twice", remedy: "Remove one of the two; nothing was imported")
  }
}
